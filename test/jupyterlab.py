"""A JupyterLab or Notebook of the test's own, and a page in headless Chromium to
look at it.

Configuration, trust database, browser profile and notebooks live in one
directory that the test gives: nothing of the user's is read or written.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import playwright.sync_api

BROWSER_ARGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What the front end's own code throws, whatever the kernel.
OWN_ERRORS = {"lab": [], "notebook": ["Cannot read properties of undefined (reading 'schema')"]}
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden) "

# What stands in each code cell: its prompt, and of each output its MIME type,
# its text, and whether a picture or coloured tokens can be seen in it. A
# picture counts when it is laid out and has more than 8 colours.
LOOK = """() => [...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell')].map(cell => ({
  prompt: cell.querySelector('.jp-InputArea-prompt').textContent.trim(),
  outputs: [...cell.querySelectorAll('.jp-OutputArea-output')].map(output => {
    const seen = e => { const r = e.getBoundingClientRect(); return e.checkVisibility() && r.width > 20 && r.height > 10 };
    const colours = e => {
      const c = document.createElement('canvas'); c.width = 300; c.height = 150;
      const d = c.getContext('2d'); d.drawImage(e, 0, 0, 300, 150);
      return new Set(new Uint32Array(d.getImageData(0, 0, 300, 150).data.buffer)).size };
    const pictures = kind => [...output.querySelectorAll(kind)].filter(e => seen(e) && colours(e) > 8).length;
    const shades = new Set([...output.querySelectorAll('span[title]')].filter(e => e.checkVisibility())
      .map(e => getComputedStyle(e).backgroundColor));
    return { mime: output.getAttribute('data-mime-type'), text: output.textContent.trim(),
             images: pictures('img'), canvases: pictures('canvas'), shades: shades.size } }) }))"""


class Lab:
    """A running JupyterLab, or Notebook, whose root directory is `root`."""

    def __init__(self, home: pathlib.Path, app: str = "lab"):
        self.app = app
        self.root = home / "root"
        self.home = home
        self.root.mkdir(parents=True)
        settings = home / "config/lab/user-settings/@jupyterlab/apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
        self.environment = dict(
            os.environ,
            JUPYTER_CONFIG_DIR=str(home / "config"),
            JUPYTER_DATA_DIR=str(home / "data"),
            JUPYTER_RUNTIME_DIR=str(home / "runtime"),
            JUPYTERLAB_SETTINGS_DIR=str(home / "config/lab/user-settings"),
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = home / "server.log"
        self.process = subprocess.Popen(
            [
                jupyter(), app, "--no-browser", "--allow-root", "--ip=127.0.0.1",
                f"--port={self.port}", "--ServerApp.port_retries=0",
                "--IdentityProvider.token=test", f"--ServerApp.root_dir={self.root}",
                "--LabApp.extension_manager=readonly",
                f"--{'LabApp' if app == 'lab' else 'JupyterNotebookApp'}.expose_app_in_browser=True",
            ],
            env=self.environment,
            stdout=self.log.open("w"),
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._await_start()

    def _await_start(self):
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/status?token=test", timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()}") from None
                time.sleep(0.2)

    def trust(self, name: str):
        subprocess.run([jupyter(), "trust", str(self.root / name)], env=self.environment, check=True)

    def url(self, name: str) -> str:
        place = f"lab/tree/{name}?reset&" if self.app == "lab" else f"notebooks/{name}?"
        return f"http://127.0.0.1:{self.port}/{place}token=test"

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def jupyter() -> str:
    return str(pathlib.Path(sys.executable).parent / "jupyter")


@contextlib.contextmanager
def browser(home: pathlib.Path):
    """A Chromium with a profile in `home`."""
    with playwright.sync_api.sync_playwright() as pw:
        context = pw.chromium.launch_persistent_context(
            str(home / "profile"),
            executable_path=shutil.which("chromium"),
            headless=True,
            args=BROWSER_ARGS,
            viewport={"width": 1100, "height": 1600},
        )
        yield context
        context.close()


class Notebook:
    """A notebook open in JupyterLab."""

    def __init__(self, context, lab: Lab, name: str):
        self.errors = []
        self.page = context.new_page()
        self.page.on("pageerror", lambda e: str(e) in OWN_ERRORS[lab.app] or self.errors.append(str(e)))
        self.page.goto(lab.url(name))
        self.await_kernel()

    def await_kernel(self, states=("idle",)):
        """Waits until the page has its notebook and its kernel."""
        self.page.wait_for_selector(PANEL + ".jp-Cell", timeout=90_000)
        # A command that is sent before the kernel is connected is lost without
        # a word.
        self.page.wait_for_function(
            """states => { const k = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
                           return k && k.connectionStatus === 'connected' && states.includes(k.status) }""",
            arg=states,
            timeout=90_000,
        )

    def command(self, name: str, **arguments):
        """Starts a command, and does not wait for its end: that of running
        cells comes when they have run."""
        self.page.evaluate(
            "([name, args]) => { window.jupyterapp.commands.execute(name, args) }", [name, arguments]
        )  # fmt: skip

    def cell(self, number: int):
        """The code cell of this number, from 0."""
        return self.page.locator(PANEL + ".jp-CodeCell").nth(number)

    def run(self, number: int, seconds: float = 60):
        """Runs one cell, and returns what it shows."""
        self.start(number)
        self.await_idle(seconds)
        return self.look()[number]["outputs"]

    def start(self, number: int):
        self.cell(number).locator(".jp-InputPrompt").click()
        self.command("notebook:run-cell")

    def accept(self):
        """Says yes to the dialog that is open, or opens."""
        self.page.click(".jp-Dialog .jp-mod-accept")

    def run_all(self, seconds: float):
        self.command("runmenu:run-all")
        self.await_idle(seconds)

    def await_idle(self, seconds: float):
        """Waits until the kernel is idle and no cell waits, for a second on
        end: after an error, cells that follow never get a number."""
        deadline, idle_since = time.monotonic() + seconds, None
        while True:
            busy = self.page.evaluate(
                """() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status !== 'idle' ||
                   [...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-InputArea-prompt')]
                     .some(e => e.textContent.includes('*'))"""
            )
            now = time.monotonic()
            idle_since = None if busy else idle_since or now
            if idle_since and now - idle_since > 1:
                return
            assert now < deadline, f"not idle after {seconds} s"
            time.sleep(0.1)

    def look(self):
        return self.page.evaluate(LOOK)

    def await_look(self, good, seconds: float = 30):
        """Returns what the cells show as soon as it is `good`, or what they
        show in the end."""
        deadline = time.monotonic() + seconds
        while True:
            cells = self.look()
            if good(cells) or time.monotonic() > deadline:
                return cells
            time.sleep(0.2)

    def save(self):
        self.command("docmanager:save")
        self.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty", timeout=30_000)

    def picture(self, path: pathlib.Path):
        """Takes a picture of the window, with the last figure in it."""
        figures = self.page.locator(PANEL + ".jp-OutputArea-output :is(img, canvas):visible")
        if figures.count():
            figures.last.scroll_into_view_if_needed()
        self.page.screenshot(path=str(path))

    def close(self):
        self.page.close()
