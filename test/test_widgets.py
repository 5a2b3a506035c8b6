"""Input, progress and widgets, as a reader of a notebook meets them in JupyterLab."""

import nbformat
import pytest

from conftest import PICTURES, new_notebook
from jupyterlab import Notebook


@pytest.mark.timeout(180)
def test_a_cell_asks_its_reader(lab, chromium):
    nbformat.write(
        new_notebook(
            ['fmt.Print("age? ")\nvar age int\nfmt.Scanln(&age)\nname := must(nb.Input("Your name: "))\nkey := must(nb.Password("Key: "))\nfmt.Println(name, age+1, len(key))']
        ),
        lab.root / "ask.ipynb",
    )
    page = Notebook(chromium, lab, "ask.ipynb")
    page.command("runmenu:run-all")
    box = page.page.locator(".jp-Stdin-input")
    for prompt, kind, text in [("", "text", "41"), ("Your name: ", "text", "Ada"), ("Key: ", "password", "secret")]:
        page.page.wait_for_function(
            "prompt => { const e = document.querySelectorAll('.jp-Stdin-prompt'); return e.length && [...e].pop().textContent.trim() === prompt.trim() && document.querySelectorAll('.jp-Stdin-input').length === 1 }",
            arg=prompt,
            timeout=30_000,
        )
        assert box.evaluate("e => e.type") == kind
        box.fill(text)
        page.picture(PICTURES / f"input-{kind}.png")
        box.press("Enter")
    page.await_idle(30)
    shown = "\n".join(o["text"] for o in page.look()[0]["outputs"])
    assert shown.startswith("age?") and "Ada 42 6" in shown and "secret" not in shown, shown
    page.save()
    assert "secret" not in (lab.root / "ask.ipynb").read_text()
    assert not page.errors
    page.close()


WIDGETS = [
    's := nb.NewSlider("alpha", 1, 8, 4)\ns.OnChange(func(v float64) { fmt.Println("moved to", v) })\ns',
    'b := nb.NewButton("press", func() { fmt.Println("pressed") })\nb',
    'g := nb.NewGauge("done", 10)\ng.Set(7)\ng',
    'bar := nb.Progress("sampling")\nfor i := range 20 {\n\ttime.Sleep(50 * time.Millisecond)\n\tbar.Step(i+1, 20)\n}',
]


@pytest.mark.timeout(180)
def test_widgets(lab, chromium):
    """They need the extension jupyterlab-widgets, which is no part of the kernel."""
    nbformat.write(new_notebook(WIDGETS), lab.root / "widgets.ipynb")
    page = Notebook(chromium, lab, "widgets.ipynb")
    page.run_all(60)
    handle = page.page.locator(".noUi-handle")
    handle.wait_for(timeout=30_000)
    handle.press("ArrowRight")
    page.page.locator("button.widget-button").click()
    assert page.page.locator(".progress-bar").evaluate("e => e.style.width") == "70%"
    look = page.await_look(lambda cells: any("pressed" in o["text"] for o in cells[3]["outputs"]))
    page.picture(PICTURES / "widgets.png")
    outputs = [o["text"] for o in look[3]["outputs"]]  # of the cell that ran last
    assert outputs[0].startswith("sampling 20 of 20 in ") and "░" not in outputs[0], outputs
    assert outputs[1] == "moved to 4.1\npressed", outputs
    page.save()
    page.close()
    # Who opens the notebook anew finds the slider where it is.
    page = Notebook(chromium, lab, "widgets.ipynb")
    readout = page.page.locator(".widget-readout")
    readout.wait_for(timeout=30_000)
    assert readout.text_content() == "4.10"
    assert not page.errors
    page.close()
