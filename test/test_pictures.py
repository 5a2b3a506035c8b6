"""What a reader sees in JupyterLab and in Notebook 7: errors, progress,
completion, tooltips, questions and rich output, in light and in dark, while
cells run and in a notebook that is opened again. Pictures of all of it are in
test/pictures."""

import nbformat
import pytest

import jupyterlab
from conftest import PICTURES, new_notebook
from jupyterlab import PANEL, Notebook

# Names of cells, in the order in which they run, and their sources.
CELLS = {
    "declares": """// Point is a place.
type Point struct{ X, Y int }

func explode(n int) int {
	if n == 0 {
		panic("boom")
	}
	return explode(n-1) + 1
}""",
    "a traceback": "explode(2)",
    "a compile error": "var s string = explde(1)",
    "a nil dereference": "var p *Point\np.X",
    "an error": 'must(os.Open("/nowhere"))',
    "a magic's error": "%nosuchmagic",
    "an interrupt": "for {\n}",
    "a dead worker": "syscall.Kill(syscall.Getpid(), syscall.SIGKILL)\nselect {}",
    "progress": """bar := nb.Progress("sampling")
for i := range 40 {
	time.Sleep(100 * time.Millisecond)
	bar.Step(i+1, 40)
}""",
    "HTML": """nb.Display(display.HTML(`<table><tr><th>token</th><th>p</th></tr>
<tr><td>sky</td><td>0.5</td></tr></table>`))
Point{1, 2}""",
    "a picture": """img := image.NewRGBA(image.Rect(0, 0, 200, 60))
for x := range 200 {
	for y := range 60 {
		img.Set(x, y, color.RGBA{uint8(x), uint8(4 * y), 128, 255})
	}
}
img""",
    "streams": 'fmt.Println("to stdout")\nfmt.Fprintln(os.Stderr, "to stderr")\nfmt.Println("\\x1b[1mbold\\x1b[0m, \\x1b[32mgreen\\x1b[0m")',
}
NAMES = list(CELLS)

# What the outputs of a cell must say, in this order.
SAYS = {
    "a traceback": ["Panic: boom", 'panic("boom")', "^", "in explode", "explode(2)", "^"],
    "a compile error": ["var s string = explde(1)", "^", "undefined: explde", "did you mean explode?"],
    "a nil dereference": ["Panic: ", "nil pointer dereference", "p.X", "^"],
    "an error": ["Error: open /nowhere: no such file or directory", "^"],
    "a magic's error": ["unknown magic %nosuchmagic", "%help"],
    "an interrupt": ["Interrupted: the cell was interrupted; variables are kept"],
    "a dead worker": ["WorkerDied: ", "declared again"],
    "progress": ["sampling 40 of 40 in "],
    "HTML": ["token", "sky", "Point{X: 1, Y: 2}"],
    "a picture": [],
}

# The least contrast (WCAG 2.2, "Contrast ratio") of the text of outputs, by
# what it is, with a sample of it.
CONTRAST = """() => {
  const rgba = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
  const over = (a, b) => a.slice(0, 3).map((v, i) => v * a[3] + b[i] * (1 - a[3]));
  const ground = e => {
    const layers = [];
    for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]) };
  const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const luminance = c => .2126 * linear(c[0]) + .7152 * linear(c[1]) + .0722 * linear(c[2]);
  const found = {};
  for (const output of document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output')) {
    const texts = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
    for (let text; text = texts.nextNode();) {
      if (!text.data.trim()) continue;
      const e = text.parentElement, below = ground(e), c = over(rgba(getComputedStyle(e).color), below);
      const [high, low] = [luminance(c), luminance(below)].sort((x, y) => y - x);
      const ratio = (high + .05) / (low + .05), kind = text.data.trim() === '^' ? '^' : output.getAttribute('data-mime-type');
      if (!(kind in found) || ratio < found[kind][0]) found[kind] = [ratio, text.data.slice(0, 60)];
    } }
  return found }"""


def texts(outputs):
    return "\n".join(o["text"] for o in outputs)


def check(cells):
    """Every cell shows what it must."""
    for name, wanted in SAYS.items():
        shown, at = texts(cells[NAMES.index(name)]["outputs"]), 0
        for part in wanted:
            at = shown.find(part, at)
            assert at >= 0, f"{name}: no {part!r} there in\n{shown}"
            at += len(part)
    streams = [o["text"] for o in cells[NAMES.index("streams")]["outputs"]]
    assert streams == ["to stdout", "to stderr", "bold, green"]
    (picture,) = cells[NAMES.index("a picture")]["outputs"]
    assert picture["images"] == 1


def opened(desk, name, height):
    """A notebook in a window of this height: cells that would be outside may
    be left out."""
    server, context = desk
    page = Notebook(context, server, name)
    page.page.set_viewport_size({"width": 1000, "height": height})
    return page


def complete(cells):
    return len(cells) == len(CELLS) and any(o["images"] for o in cells[NAMES.index("a picture")]["outputs"])


def photograph(page, what):
    page.page.locator(PANEL + ".jp-Cell").first.scroll_into_view_if_needed()
    page.page.wait_for_timeout(500)  # until what is scrolled to is drawn
    page.page.screenshot(path=PICTURES / f"{what}.png")


@pytest.fixture(scope="module", params=["lab", "notebook"])
def desk(request, kernel, require_chromium, tmp_path_factory):
    """A server of the front end, and a browser."""
    server = jupyterlab.Lab(tmp_path_factory.mktemp(request.param) / "home", request.param)
    with jupyterlab.browser(server.home) as context:
        yield server, context
    server.close()


@pytest.mark.timeout(400)
def test_outputs_live_and_reopened(desk):
    server, _ = desk
    nbformat.write(new_notebook(CELLS.values()), server.root / "outputs.ipynb")
    page = opened(desk, "outputs.ipynb", 2300)
    for number, name in enumerate(NAMES):
        page.start(number)
        if name == "an interrupt":
            page.page.wait_for_function("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'")
            page.page.click('[data-jp-item-name="interrupt"] jp-button')
        if name == "progress":
            bar = page.cell(number).locator(".jp-OutputArea-output", has_text="left")
            bar.wait_for(timeout=30_000)
            assert "█" in bar.inner_text() and "░" in bar.inner_text()
            bar.scroll_into_view_if_needed()
            page.page.screenshot(path=PICTURES / f"{server.app}-progress.png")
        page.await_idle(60)
    live = page.await_look(complete)
    check(live)
    assert [c["prompt"] for c in live] == [f"[{n + 1}]:" for n in range(len(CELLS))]
    photograph(page, f"{server.app}-outputs-light")
    page.save()
    assert not page.errors
    page.close()

    nbformat.validate(nbformat.read(server.root / "outputs.ipynb", as_version=4))
    page = opened(desk, "outputs.ipynb", 2300)
    again = page.await_look(complete)
    check(again)
    assert [[o["text"] for o in c["outputs"]] for c in again] == [[o["text"] for o in c["outputs"]] for c in live]
    for theme in "Light", "Dark":
        page.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        page.page.wait_for_selector(f"body[data-jp-theme-name='JupyterLab {theme}']", state="attached")
        page.page.wait_for_timeout(1000)  # the theme's style sheet loads
        for kind, (ratio, sample) in page.page.evaluate(CONTRAST).items():
            # The caret is a sign; colours that a cell itself prints are its own.
            least = 2.5 if kind == "^" else 1 if "green" in sample else 4.5
            assert ratio >= least, f"{theme}: {kind} has a contrast of {ratio:.1f}: {sample!r}"
    photograph(page, f"{server.app}-outputs-dark")
    page.command("apputils:change-theme", theme="JupyterLab Light")
    page.page.wait_for_selector("body[data-jp-theme-name='JupyterLab Light']", state="attached")
    page.close()


@pytest.mark.timeout(200)
def test_the_editor_asks_the_kernel(desk):
    """Completion with types by Tab, the tooltip by Shift-Tab."""
    server, _ = desk
    nbformat.write(new_notebook(["answer := 42", "", ""]), server.root / "editor.ipynb")
    page = opened(desk, "editor.ipynb", 700)
    page.run(0)

    def write(number, text):
        page.cell(number).locator(".cm-content").click()
        page.page.keyboard.type(text)

    write(1, "strings.Sp")
    page.page.keyboard.press("Tab")
    page.page.wait_for_selector(".jp-Completer-item", timeout=30_000)
    page.page.wait_for_timeout(500)
    page.page.screenshot(path=PICTURES / f"{server.app}-completion.png")
    items = page.page.locator(".jp-Completer-item").all_inner_texts()
    assert any("Split" in i and "function" in i for i in items), items
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Control+A")
    page.page.keyboard.type("answ")
    page.page.keyboard.press("Tab")
    page.page.wait_for_selector(".jp-Completer-item:has-text('answer')", timeout=30_000)
    page.page.keyboard.press("Enter")
    page.page.wait_for_function(
        "() => document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .cm-content')[1].innerText === 'answer'",
        timeout=30_000,
    )

    write(2, "strings.Repeat(")
    page.page.keyboard.press("Shift+Tab")
    page.page.wait_for_selector(".jp-Tooltip", timeout=30_000)
    page.page.wait_for_timeout(500)
    page.page.screenshot(path=PICTURES / f"{server.app}-tooltip.png")
    tooltip = page.page.locator(".jp-Tooltip").inner_text()
    assert "func Repeat(s string, count int) string" in tooltip
    assert "Repeat returns a new string consisting of count copies" in tooltip
    assert not page.errors
    page.close()


@pytest.mark.timeout(200)
def test_cells_ask_the_reader(desk):
    server, context = desk
    sources = [
        'name := must(nb.Input("Your name: "))',
        'key := must(nb.Password("API key: "))',
        "fmt.Println(name, len(key))",
    ]
    nbformat.write(new_notebook(sources), server.root / "input.ipynb")
    page = opened(desk, "input.ipynb", 500)
    for number, (typed, kind) in enumerate([("Gopher", "text"), ("secret", "password")]):
        page.start(number)
        box = page.cell(number).locator(".jp-Stdin-input")
        box.wait_for(timeout=30_000)
        assert (box.get_attribute("type") or "text") == kind
        box.fill(typed)
        page.page.screenshot(path=PICTURES / f"{server.app}-{'input' if kind == 'text' else 'password'}.png")
        box.press("Enter")
        page.await_idle(30)
    assert texts(page.run(2)) == "Gopher 6"
    page.save()
    assert "secret" not in (server.root / "input.ipynb").read_text()
    assert not page.errors
    page.close()


# A generation of six tokens between two, and the figures of it.
FIGURES = [
    """step := func(piece string, p, q float64) llm.StepRecord {
	return llm.StepRecord{
		Piece: []byte(piece), LogProb: math.Log(p), Prob: q, Entropy: .673, ESS: 6,
		Candidates: []llm.Candidate{
			{Token: 0, Piece: []byte(piece), LogProb: math.Log(p), Base: p, Power: p * p / (p*p + (1-p)*(1-p)), Prob: q, ProbSE: .05, ESS: 7},
			{Token: 1, Piece: []byte(" other"), LogProb: math.Log(1 - p), Base: 1 - p, Power: (1 - p) * (1 - p) / (p*p + (1-p)*(1-p)), Prob: 1 - q, ProbSE: .05, ESS: 6},
		},
	}
}
record := llm.Record{Sampler: "importance", Params: map[string]float64{"alpha": 2}, Prompt: "The sky", End: llm.EndLimit}
for i, piece := range []string{" is", " blue", ",", " as", " ever", "."} {
	record.Steps = append(record.Steps, step(piece, []float64{.95, .7, .5, .3, .1, .01}[i], []float64{.97, .8, .5, .2, .3, .05}[i]))
}""",
    "must(plot.Tokens(record, plot.TokensOptions{}))",
    "must(plot.Candidates(record, 3, plot.CandidatesOptions{}))",
]


@pytest.mark.timeout(300)
def test_figures_in_light_and_dark(desk):
    server, _ = desk
    nbformat.write(new_notebook(FIGURES), server.root / "figures.ipynb")
    page = opened(desk, "figures.ipynb", 1400)
    page.run_all(60)
    cells = page.await_look(lambda cells: cells[2]["outputs"] and cells[2]["outputs"][0]["canvases"])
    assert cells[1]["outputs"][0]["shades"] >= 3, "the tokens are not coloured"
    assert cells[2]["outputs"][0]["canvases"] >= 1, "the chart is not live"
    for theme in "Dark", "Light":
        page.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        page.page.wait_for_selector(f"body[data-jp-theme-name='JupyterLab {theme}']", state="attached")
        page.page.wait_for_timeout(1000)  # the theme's style sheet loads
        page.page.screenshot(path=PICTURES / f"{server.app}-figures-{theme.lower()}.png")
        for kind, (ratio, sample) in page.page.evaluate(CONTRAST).items():
            assert ratio >= 4.5, f"{theme}: {kind} has a contrast of {ratio:.1f}: {sample!r}"
    assert not page.errors
    page.close()
