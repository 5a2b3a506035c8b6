"""Cells run by a person in JupyterLab."""

import nbformat
import pytest

from conftest import PICTURES, new_notebook
from jupyterlab import Notebook

CELLS = [
    "x := 20\nfunc double(n int) int { return 2 * n }",
    'import "fmt"\nfor i := range 3 {\n\tfmt.Println("line", i)\n}\ndouble(x) + 2',
    'panic("boom")',
    "x",
]


@pytest.mark.timeout(300)
def test_run_all_stops_at_the_error_and_the_kernel_lives(lab, chromium):
    nbformat.write(new_notebook(CELLS), lab.root / "cells.ipynb")
    page = Notebook(chromium, lab, "cells.ipynb")
    page.run_all(60)
    cells = page.look()
    page.picture(PICTURES / "cells.png")
    texts = [[o["text"] for o in c["outputs"]] for c in cells]
    assert texts[0] == []
    assert texts[1] == ["line 0\nline 1\nline 2", "42"]
    assert len(texts[2]) == 1 and "boom" in texts[2][0] and "line 1" in texts[2][0]
    assert texts[3] == [], "a cell behind an error ran"

    # The selection stands behind the last cell that ran: run it by itself.
    page.page.click(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell >> nth=3")
    page.command("notebook:run-cell")
    page.await_idle(30)
    assert [o["text"] for o in page.look()[3]["outputs"]] == ["20"]
    assert not page.errors


@pytest.mark.timeout(300)
def test_interrupt_ends_an_endless_loop_and_keeps_variables(lab, chromium):
    nbformat.write(new_notebook(["x := 7", "for {\n}", "x"]), lab.root / "loop.ipynb")
    page = Notebook(chromium, lab, "loop.ipynb")
    page.command("runmenu:run-all")
    page.page.wait_for_function(
        """() => document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-InputArea-prompt')[0]
                  .textContent.includes('1')""",
        timeout=30_000,
    )
    page.page.click('[data-jp-item-name="interrupt"] jp-button')
    page.await_idle(15)
    page.page.click(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell >> nth=2")
    page.command("notebook:run-cell")
    page.await_idle(30)
    cells = page.look()
    assert len(cells[1]["outputs"]) == 1, cells[1]
    assert [o["text"] for o in cells[2]["outputs"]] == ["7"]
