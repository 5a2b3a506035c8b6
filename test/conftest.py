"""Tests of Branchbook in the front ends that people use.

They need the kernel installed in the environment that runs them, the default
model, and Chromium: make test-frontends brings all three. Pictures of what the
browser showed stay in test/pictures.
"""

import copy
import os
import pathlib
import shutil
import time

import jupyter_client.kernelspec
import nbclient
import nbformat
import pytest

import jupyterlab

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = pathlib.Path(__file__).resolve().parent / "pictures"


def new_notebook(sources):
    """A notebook of code cells for the kernel."""
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources],
        metadata={"kernelspec": {"name": "branchbook", "display_name": "Go (Branchbook)", "language": "go"}},
    )


def missing(reason: str):
    """Skips, or fails where BRANCHBOOK_REQUIRE=1 asks for every test."""
    if os.environ.get("BRANCHBOOK_REQUIRE") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory):
    """What the tests run is no part of their user's history."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def kernel():
    try:
        jupyter_client.kernelspec.get_kernel_spec("branchbook")
    except jupyter_client.kernelspec.NoSuchKernel:
        missing("no kernel called branchbook: make kernel")
    return "branchbook"


@pytest.fixture(scope="session")
def first_light(kernel, tmp_path_factory):
    """notebooks/first-light.ipynb, executed by nbclient: (notebook, seconds)."""
    notebook = nbformat.read(ROOT / "notebooks/first-light.ipynb", as_version=4)
    start = time.monotonic()
    nbclient.NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=600,
        resources={"metadata": {"path": str(tmp_path_factory.mktemp("first-light"))}},
    ).execute()
    return copy.deepcopy(notebook), time.monotonic() - start


@pytest.fixture(scope="session")
def require_chromium():
    if not shutil.which("chromium"):
        missing("no chromium: make browser")
    PICTURES.mkdir(exist_ok=True)


@pytest.fixture
def lab(kernel, require_chromium, tmp_path):
    server = jupyterlab.Lab(tmp_path / "lab")
    yield server
    server.close()


@pytest.fixture
def chromium(lab):
    with jupyterlab.browser(lab.home) as context:
        yield context
