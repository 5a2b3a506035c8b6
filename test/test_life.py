"""A kernel's life in JupyterLab: Run All, Restart and Run All, restarts, the
stop button, two notebooks at once, a page that is loaded again while a cell
runs, and long output."""

import nbformat
import pytest

import jupyterlab
from conftest import PICTURES, new_notebook
from jupyterlab import Notebook


@pytest.fixture(scope="module")
def desk(kernel, require_chromium, tmp_path_factory):
    server = jupyterlab.Lab(tmp_path_factory.mktemp("life") / "home")
    with jupyterlab.browser(server.home) as context:
        yield server, context
    server.close()


def opened(desk, name, sources):
    server, context = desk
    nbformat.write(new_notebook(sources), server.root / name)
    return Notebook(context, server, name)


def shown(page):
    return [[o["text"] for o in c["outputs"]] for c in page.look()]


def prompts(page):
    return [c["prompt"] for c in page.look()]


def await_busy(page):
    page.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"
    )  # fmt: skip


def kernel_id(page):
    return page.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id")


@pytest.mark.timeout(200)
def test_restart_and_run_all(desk):
    page = opened(desk, "restart.ipynb", ["x := 1", "x++\nx", 'fmt.Println("end", x)'])
    for command in "runmenu:run-all", "runmenu:run-all", "runmenu:restart-and-run-all":
        page.command(command)
        if "restart" in command:
            page.accept()
            page.page.wait_for_timeout(1000)
        page.await_idle(60)
        assert shown(page) == [[], ["2"], ["end 2"]]
    assert prompts(page) == ["[1]:", "[2]:", "[3]:"], "a restarted kernel counts from 1"
    page.command("kernelmenu:restart")
    page.accept()
    page.await_kernel()
    (lost,) = page.run(1)
    assert "undefined: x" in lost["text"]
    assert not page.errors
    page.close()


@pytest.mark.timeout(200)
def test_restart_while_a_cell_runs(desk):
    page = opened(desk, "busy.ipynb", ["for {\n}", '"alive"'])
    page.start(0)
    await_busy(page)
    page.command("kernelmenu:restart")
    page.accept()
    page.page.wait_for_timeout(1000)
    page.await_kernel()
    assert [o["text"] for o in page.run(1)] == ["alive"]
    page.close()


@pytest.mark.timeout(200)
def test_stop_ends_what_is_queued_too(desk):
    page = opened(desk, "stop.ipynb", ["x := 7", "time.Sleep(time.Hour)", 'fmt.Println("never")', "x"])
    page.command("runmenu:run-all")
    page.cell(0).locator(".jp-InputPrompt", has_text="1").wait_for(timeout=30_000)
    await_busy(page)
    page.page.click('[data-jp-item-name="interrupt"] jp-button')
    page.await_idle(30)
    out = shown(page)
    assert "Interrupted" in out[1][0] and out[2] == [] and out[3] == []
    assert [o["text"] for o in page.run(3)] == ["7"]
    page.close()


@pytest.mark.timeout(200)
def test_two_notebooks_at_once(desk):
    source = ['name := "%s"', 'for i := range 20 {\n\ttime.Sleep(50 * time.Millisecond)\n\tfmt.Println(name, i)\n}']
    pages = [opened(desk, f"{n}.ipynb", [s.replace("%s", n) for s in source]) for n in ("one", "two")]
    for page in pages:
        page.command("runmenu:run-all")
    for page, name in zip(pages, ("one", "two"), strict=True):
        page.await_idle(60)
        assert shown(page)[1] == ["\n".join(f"{name} {i}" for i in range(20))]
    assert kernel_id(pages[0]) != kernel_id(pages[1])
    for page in pages:
        page.close()


@pytest.mark.timeout(200)
def test_a_page_is_loaded_again_while_a_cell_runs(desk):
    """The kernel goes on; what it shows until then is shown to nobody, and the
    next cell finds what the cell left."""
    page = opened(desk, "reload.ipynb", ["n := 0", "for range 50 {\n\ttime.Sleep(100 * time.Millisecond)\n\tn++\n}", "n"])
    page.run(0)
    page.save()
    kernel = kernel_id(page)
    page.start(1)
    await_busy(page)
    page.page.on("dialog", lambda d: d.accept())  # of what is not saved
    page.page.reload()
    page.await_kernel(("idle", "busy"))
    assert kernel_id(page) == kernel
    page.start(2)  # waits for the one that runs
    page.await_idle(60)
    assert [o["text"] for o in page.look()[2]["outputs"]] == ["50"]
    page.close()


@pytest.mark.timeout(400)
def test_long_output_is_cut_with_a_note(desk):
    page = opened(desk, "flood.ipynb", ['for i := range 300_000 {\n\tfmt.Println("line", i)\n}', '"alive"'])
    page.page.set_viewport_size({"width": 1000, "height": 700})
    page.run(0, 300)
    *_, last = page.look()[0]["outputs"]
    assert "[output cut: the notebook shows " in last["text"][-1000:] and "what follows is in /" in last["text"][-1000:]
    assert [o["text"] for o in page.run(1)] == ["alive"]
    page.page.screenshot(path=PICTURES / "lab-flood.png")
    assert not page.errors
    page.close()


@pytest.mark.timeout(400)
def test_an_endless_flood_is_stopped(desk):
    """Ten seconds of it, then the stop button: the page goes on (B13)."""
    page = opened(desk, "endless.ipynb", ['x := 7', 'for {\n\tfmt.Println("x")\n}', "x"])
    page.run(0)
    page.start(1)
    await_busy(page)
    page.page.wait_for_timeout(10_000)
    page.page.click('[data-jp-item-name="interrupt"] jp-button', timeout=60_000)
    page.await_idle(120)
    texts = [o["text"] for o in page.look()[1]["outputs"]]
    assert any("[output cut: the notebook shows " in text[-1000:] for text in texts), [text[-300:] for text in texts]
    assert "Interrupted" in texts[-1]
    assert [o["text"] for o in page.run(2)] == ["7"]
    assert not page.errors
    page.close()
