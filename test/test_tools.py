"""The tools that run and convert notebooks without a browser: nbclient,
nbconvert, papermill, jupytext, jupyter console, and branchbook run."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

import jupyter_client.kernelspec
import jupytext
import nbclient
import nbformat
import papermill
import pexpect
import pytest

from conftest import new_notebook

BIN = pathlib.Path(sys.executable).parent


def execute(sources, **options):
    """The notebook of these cells, run by nbclient."""
    notebook = new_notebook(sources)
    nbclient.NotebookClient(notebook, kernel_name="branchbook", timeout=120, **options).execute()
    return notebook


def jupyter(*args, **options):
    return subprocess.run(
        [BIN / "jupyter", *map(str, args)], check=True, capture_output=True, text=True, **options
    )  # fmt: skip


def text(cell):
    """All that a cell shows, as text."""
    return "".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)


# ---- the kernelspec


def test_kernel_is_found_though_the_home_is_hidden(kernel, tmp_path):
    """Servers mount another disk over HOME: the environment's kernels stay."""
    environment = dict(os.environ, HOME=str(tmp_path), JUPYTER_DATA_DIR="", XDG_DATA_HOME="")
    found = json.loads(jupyter("kernelspec", "list", "--json", env=environment).stdout)["kernelspecs"][kernel]
    assert found["resource_dir"].startswith(sys.prefix)
    assert os.path.isabs(found["spec"]["argv"][0])
    assert found["spec"]["interrupt_mode"] == "message"
    assert found["spec"]["metadata"]["debugger"] is False
    files = {p.name for p in pathlib.Path(found["resource_dir"]).iterdir()}
    assert files == {"kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}


# ---- nbclient


def test_nbclient_gets_all_output_before_the_cell_ends(kernel):
    notebook = execute(['for i := range 100_000 {\n\tfmt.Println("line", i)\n}', "1 + 1"])
    want = "".join(f"line {i}\n" for i in range(100_000))
    got = "".join(o.text for o in notebook.cells[0].outputs)
    assert hashlib.sha256(got.encode()).digest() == hashlib.sha256(want.encode()).digest()
    assert text(notebook.cells[1]) == "2"


@pytest.mark.parametrize(
    "source, name, says",
    [
        ("x :=", "CompileError", "Cell In[1], line 1"),
        ("var s string = 1", "CompileError", "Cell In[1], line 1"),
        ('panic("boom")', "Panic", "Cell In[1], line 1"),
        ("var p *int\n*p", "Panic", "Cell In[1], line 2"),
        ("os.Exit(3)", "Exit", "exit status 3"),
    ],
    ids=["syntax", "type", "panic", "nil", "exit"],
)
def test_nbclient_stops_at_an_error(kernel, source, name, says):
    notebook = new_notebook([source, "1"])
    with pytest.raises(nbclient.exceptions.CellExecutionError) as failure:
        nbclient.NotebookClient(notebook, kernel_name=kernel, timeout=120).execute()
    assert failure.value.ename and failure.value.evalue
    (error,) = [o for o in notebook.cells[0].outputs if o.output_type == "error"]
    assert error.ename == name and says in "\n".join(error.traceback)
    assert all(isinstance(line, str) and line for line in error.traceback)
    assert notebook.cells[1].execution_count is None
    nbformat.validate(notebook)


def test_nbclient_interrupts_what_takes_too_long(kernel):
    notebook = new_notebook(["x := 7", "for {\n}", "x"])
    client = nbclient.NotebookClient(
        notebook, kernel_name=kernel, timeout=3, interrupt_on_timeout=True, allow_errors=True
    )  # fmt: skip
    client.execute()
    assert [o.output_type for o in notebook.cells[1].outputs] == ["error"]
    assert text(notebook.cells[2]) == "7"


# ---- branchbook run

RUN = [
    'fmt.Println("out")\nfmt.Fprintln(os.Stderr, "err")\nx := 20\nx',
    "nb.Display(x)\nimg := image.NewGray(image.Rect(0, 0, 3, 2))\nimg",
    "func pair() (int, string) { return 1, `b` }\npair()",
]


def test_branchbook_run_writes_what_nbclient_does(kernel, tmp_path):
    by_client = execute(RUN)
    nbformat.write(new_notebook(RUN), tmp_path / "run.ipynb")
    program = jupyter_client.kernelspec.get_kernel_spec(kernel).argv[0]
    subprocess.run([program, "run", "run.ipynb"], cwd=tmp_path, check=True, capture_output=True)
    by_us = nbformat.read(tmp_path / "run.ipynb", as_version=4)
    nbformat.validate(by_us)
    assert by_us.metadata.language_info == by_client.metadata.language_info
    assert by_us.metadata.kernelspec == by_client.metadata.kernelspec
    for mine, theirs in zip(by_us.cells, by_client.cells, strict=True):
        assert mine.execution_count == theirs.execution_count
        assert mine.outputs == theirs.outputs


# ---- nbconvert

CONVERT = [
    '// twice doubles.\nfunc twice(n int) int {\n\treturn 2 * n // "quoted"\n}',
    'fmt.Println("hello", twice(21))',
    "img := image.NewGray(image.Rect(0, 0, 3, 2))\nimg",
    'nb.Display(display.HTML("<b>bold</b>"))',
    "[]float64{1, 2.5}",
    'panic("a_b^c")',
]


@pytest.fixture(scope="module")
def converted(kernel, tmp_path_factory):
    """A notebook that nbconvert executed, with an error."""
    path = tmp_path_factory.mktemp("nbconvert") / "convert.ipynb"
    nbformat.write(new_notebook(CONVERT), path)
    jupyter("nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--inplace", path)
    return path


def test_nbconvert_executes(converted):
    notebook = nbformat.read(converted, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.language_info.name == "go"
    assert text(notebook.cells[1]) == "hello 42\n"
    assert notebook.cells[-1].outputs[0].output_type == "error"


@pytest.mark.parametrize(
    "to, suffix, holds",
    [
        ("html", ".html", ["hl-go", '<span class="kd">func</span>', "<b>bold</b>", "data:image/png;base64,", "ansi-"]),
        ("markdown", ".md", ["```go\n// twice doubles.", "hello 42", "<b>bold</b>", "png"]),
        ("script", ".go", ["func twice(n int) int {\n\treturn 2 * n", "hello"]),
        # Needs neither pandoc nor inkscape: no output is SVG beside a PNG.
        ("latex", ".tex", ["hello 42", r"\includegraphics", "Panic"]),
    ],
)
def test_nbconvert_to(converted, to, suffix, holds):
    jupyter("nbconvert", "--to", to, "--output", f"to-{to}", converted)
    made = converted.with_name(f"to-{to}{suffix}").read_text()
    for part in holds:
        assert part in made, f"no {part!r} in\n{made[-3000:]}"


# ---- papermill

# Each a parameter, and what fmt's %T and %#v say of the variable.
PARAMETERS = {
    "whole": (5, "int 5"),
    "negative": (-5, "int -5"),
    "large": (2**63, "uint64 0x8000000000000000"),
    "fraction": (0.5, "float64 0.5"),
    "three": (3.0, "float64 3"),
    "tiny": (1e-300, "float64 1e-300"),
    "endless": (float("inf"), "float64 +Inf"),
    "quoted": ('a "b" \\ `c`', 'string "a \\"b\\" \\\\ `c`"'),
    "lines": ("one\n\ttwo\n", 'string "one\\n\\ttwo\\n"'),
    "wide": ("é 😀 \ufeff", 'string "é 😀 \\ufeff"'),
    "yes": (True, "bool true"),
    "nothing": (None, "<nil> <nil>"),
    "ints": ([1, 2], "[]int []int{1, 2}"),
    "numbers": ([1, 2.5], "[]float64 []float64{1, 2.5}"),
    "words": (["a", "b"], '[]string []string{"a", "b"}'),
    "mixed": ([1, "a", None], '[]interface {} []interface {}{1, "a", interface {}(nil)}'),
    "empty": ([], "[]interface {} []interface {}{}"),
    "matrix": ([[1, 2], [3]], "[][]int [][]int{[]int{1, 2}, []int{3}}"),
    "nested": (
        {"rate": 0.1, "layers": [1, 2], "more": {"k": None}},
        'map[string]interface {} map[string]interface {}{"layers":[]int{1, 2}, '
        '"more":map[string]interface {}{"k":interface {}(nil)}, "rate":0.1}',
    ),
}


def parameterized(tmp_path, sources, parameters, **options):
    notebook = new_notebook(sources)
    notebook.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(notebook, tmp_path / "in.ipynb")
    papermill.execute_notebook(
        str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), parameters=parameters, progress_bar=False, **options
    )
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    nbformat.validate(out)
    return out


def test_papermill_parameters_are_go(kernel, tmp_path):
    lines = [f'fmt.Printf("%T %#v\\n", {name}, {name})' for name in PARAMETERS]
    out = parameterized(
        tmp_path,
        ["whole := 1 // is replaced\nlines := 0", "\n".join(lines), 'var whole = "once more"\nwhole'],
        {name: value for name, (value, _) in PARAMETERS.items()},
    )
    assert text(out.cells[2]).splitlines() == [want for _, want in PARAMETERS.values()]
    assert text(out.cells[3]) == "once more", "a name is declared a third time, with another type"
    assert out.metadata.papermill.exception is None
    assert out.metadata.language_info.name == "go"


def test_papermill_lists_the_parameters_of_a_notebook(kernel, tmp_path):
    source = 'n := 1 // how many\nvar s string = "x // y"\nconst k = 3.5\nvar (\n\tyes = true\n)\nvar zero int\nfmt.Println(n)'
    notebook = new_notebook([source])
    notebook.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(notebook, tmp_path / "in.ipynb")
    found = papermill.inspect_notebook(str(tmp_path / "in.ipynb"))
    assert {name: (p["inferred_type_name"], p["default"], p["help"]) for name, p in found.items()} == {
        "n": ("None", "1", "how many"),
        "s": ("string", '"x // y"', ""),
        "k": ("None", "3.5", ""),
        "yes": ("None", "true", ""),
    }


@pytest.mark.parametrize(
    "parameters, says",
    [({"func": 1}, "expected name"), ({"too-long": 1}, "unexpected -"), ({"n": 2**64}, "overflows")],
    ids=["a keyword", "no name", "no int"],
)
def test_papermill_bad_parameters_are_an_error_of_their_cell(kernel, tmp_path, parameters, says):
    with pytest.raises(papermill.PapermillExecutionError) as failure:
        parameterized(tmp_path, ["n := 1", "n"], parameters)
    assert says in str(failure.value) and "Cell In[2], line 2" in str(failure.value)


def test_papermill_needs_the_notebook_only(kernel, tmp_path):
    """By the command, with values from the command line."""
    nbformat.write(new_notebook(["n := 1", "n * 2"]), tmp_path / "in.ipynb")
    subprocess.run(
        [BIN / "papermill", "in.ipynb", "out.ipynb", "-p", "n", "21", "--no-progress-bar"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    # Without a cell tagged parameters, papermill writes them on top, and the
    # notebook's own declaration comes after.
    assert text(out.cells[2]) == "2"


# ---- jupytext

PAIRED = [
    "x := 1 // one\n\n// two\nx",
    'import "fmt"\n\nfunc f() {\n\tfmt.Println("%%")\n}',
    "// a comment only",
    "%%sh\necho hi\n\nls | head",
    '%%bash\necho "$HOME"',
    "%%writefile poem.txt\nroses\n\n  are red",
    "%%\nfmt.Println(1)",
    "%time f()",
    "!ls -l",
    "%get github.com/samber/lo",
    "fmt.Println?",
    "s := `raw\n%%sh\nend`",
    "y := 10 %3\ny",
]


@pytest.mark.parametrize("format", ["go:percent", "go:light", "md"])
def test_jupytext_round_trip(format):
    notebook = new_notebook(PAIRED)
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("# Title\n\nText *with* `code`\n\n// slashes"))
    notebook.cells[3].metadata["tags"] = ["parameters"]
    again = jupytext.reads(jupytext.writes(notebook, format), format)
    assert [(c.cell_type, c.source) for c in again.cells] == [(c.cell_type, c.source) for c in notebook.cells]
    assert again.cells[3].metadata == {"tags": ["parameters"]}
    assert again.metadata.kernelspec == notebook.metadata.kernelspec


def test_jupytext_pairing_keeps_outputs(kernel, tmp_path):
    nbformat.write(execute(["x := 40", "x + 2"]), tmp_path / "paired.ipynb")

    def run(*args):
        subprocess.run([BIN / "jupytext", *args], cwd=tmp_path, check=True, capture_output=True)

    run("--set-formats", "ipynb,go:percent", "paired.ipynb")
    script = tmp_path / "paired.go"
    assert "// %%\nx + 2\n" in script.read_text()
    script.write_text(script.read_text().replace("x := 40", "x := 50"))
    later = (tmp_path / "paired.ipynb").stat().st_mtime + 2
    os.utime(script, (later, later))
    run("--sync", "paired.ipynb")
    notebook = nbformat.read(tmp_path / "paired.ipynb", as_version=4)
    assert notebook.cells[0].source == "x := 50"
    assert text(notebook.cells[1]) == "42", "an output was lost"


# ---- jupyter console


class Console:
    """jupyter console in a terminal of its own."""

    def __init__(self, tmp_path):
        environment = dict(
            os.environ, TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1", IPYTHONDIR=str(tmp_path / "ipython"),
            JUPYTER_CONFIG_DIR=str(tmp_path / "config"), JUPYTER_RUNTIME_DIR=str(tmp_path / "runtime"),
        )  # fmt: skip
        self.terminal = pexpect.spawn(
            str(BIN / "jupyter"), ["console", "--kernel", "branchbook"],
            env=environment, encoding="utf-8", timeout=60, dimensions=(50, 120),
        )  # fmt: skip
        self.count = 0
        self.prompt()

    def expect(self, *texts):
        for text in texts:
            self.terminal.expect_exact(text)

    def prompt(self):
        """Waits for the next prompt. The one of a cell is drawn again with
        each key, so that its number is all that tells a new one."""
        self.count += 1
        colours = r"(?:\x1b\[[\d;]*m)*"
        self.terminal.expect(rf"In \[{colours}{self.count}{colours}\]: ")
        self.expect("\x1b[?25h")  # the cursor is shown: keys are read

    def run(self, line, *shows):
        """Types a cell, and waits for what it shows and the next prompt."""
        self.terminal.send(line + "\r")
        self.expect(*shows)
        self.prompt()


@pytest.fixture
def console(kernel, tmp_path):
    console = Console(tmp_path)
    yield console
    console.terminal.close(force=True)


@pytest.mark.timeout(300)
def test_console(console):
    console.run("x := 40")
    console.run("x + 2", "Out[", "42")
    # A line that is not whole goes on; an empty one ends it.
    for line in ["func twice(n int) int {", "return 2 * n", "}"]:
        console.terminal.send(line + "\r")
        console.expect("...: ")
    console.run("")
    console.run("twice(42)", "Out[", "84")
    console.run('panic("boom")', "Panic", "boom", "line 1")
    # The terminal's Ctrl-C is an interrupt_request.
    console.terminal.send("fmt.Println(1000 * x); for {}\r")
    console.expect("40000")  # it runs
    console.terminal.sendintr()
    console.expect("Interrupted", "variables are kept")
    console.prompt()
    console.run("2 * x", "Out[", "80")
    console.terminal.send("strings.Repl\t")
    console.expect("Replacer")
    console.terminal.send("\x15")  # Ctrl-U empties the line
    # What a cell asks for is typed below it.
    console.terminal.send('name := must(nb.Input("Who? "))\r')
    console.expect("Who? ")
    console.terminal.send("Gopher\r")
    console.prompt()
    console.run("len(name)", "Out[", "6")
    console.terminal.send("\x04")  # Ctrl-D
    console.expect("exit")
    console.terminal.send("y\r")
    console.terminal.expect(pexpect.EOF)
    console.terminal.close()
    assert console.terminal.exitstatus == 0
