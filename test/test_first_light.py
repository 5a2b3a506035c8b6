"""The tour, executed on the real model and shown to a reader."""

import re

import nbformat
import pytest

from conftest import PICTURES
from jupyterlab import Notebook


def outputs(notebook, kind=None):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if kind is None or output.output_type == kind:
                yield output


def bundles(notebook):
    for output in outputs(notebook):
        if "image/png" in output.get("data", {}):
            yield output.data


def text_of(notebook):
    parts = []
    for output in outputs(notebook):
        parts.append(output.get("text", ""))
        parts.append(output.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)


def test_every_cell_succeeds(first_light):
    notebook, seconds = first_light
    print(f"\nfirst-light.ipynb took {seconds:.0f} s")
    assert not list(outputs(notebook, "error"))
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert [c.execution_count for c in code] == list(range(1, len(code) + 1))


def test_notebook_is_valid(first_light):
    nbformat.validate(first_light[0])


def test_both_figures_have_every_form(first_light):
    found = list(bundles(first_light[0]))
    assert len(found) >= 2
    for data in found:
        assert set(data) >= {"text/html", "image/png", "text/plain"}
        assert "image/svg+xml" not in data, "breaks nbconvert --to latex"


def test_cost_is_shown(first_light):
    assert re.search(r"\d tokens, [\d,]+ decoded", text_of(first_light[0]))


def shown(cells):
    """What a reader can see: (coloured token views, still pictures, live charts)."""
    every = [o for c in cells for o in c["outputs"]]
    return (
        sum(o["shades"] >= 3 for o in every),
        sum(o["images"] for o in every),
        sum(o["canvases"] for o in every),
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_both_pictures_are_seen_in_jupyterlab(first_light, lab, chromium, trusted):
    nbformat.write(first_light[0], lab.root / "first-light.ipynb")
    if trusted:
        lab.trust("first-light.ipynb")
    how = "trusted" if trusted else "untrusted"

    def complete(cells):
        tokens, stills, charts = shown(cells)
        return tokens >= 1 and (charts if trusted else stills) >= 1

    for visit in ("opened", "reloaded"):
        page = Notebook(chromium, lab, "first-light.ipynb")
        cells = page.await_look(complete)
        page.picture(PICTURES / f"first-light-{how}-{visit}.png")
        assert complete(cells), f"{visit}: token views, still pictures, live charts: {shown(cells)}"
        assert not page.errors
        page.save()
        page.close()
