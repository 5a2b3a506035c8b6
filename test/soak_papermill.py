"""Runs one notebook with papermill many times, and counts and hashes its outputs.

    python test/soak_papermill.py [RUNS]

The notebook has 300 outputs: streams, displays, updates of one, values and a
stderr line between. nbclient keeps what comes before idle, so an output that is
late is an output that is lost.
"""

import hashlib
import pathlib
import sys
import tempfile
import time

import nbformat.v4
import papermill

CELLS = 30
# Each cell has ten outputs.
SOURCE = """
for i := range 4 {
	fmt.Println("cell", %d, "line", i)
	nb.Display(fmt.Sprint("cell ", %d, " display ", i))
}
fmt.Fprintln(os.Stderr, "cell", %d, "err")
run + %d
"""


def notebook() -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell("run := 0", metadata={"tags": ["parameters"]})]
    cells += [nbformat.v4.new_code_cell(SOURCE % (n, n, n, n)) for n in range(CELLS)]
    return nbformat.v4.new_notebook(
        cells=cells,
        metadata={"kernelspec": {"name": "branchbook", "display_name": "Go (Branchbook)", "language": "go"}},
    )


def text(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        return f"{output.name}: {output.text}"
    return f"{output.output_type}: {output.data['text/plain']}"


def expected(run: int) -> list[str]:
    want = []
    for n in range(CELLS):
        for i in range(4):
            want.append(f"stdout: cell {n} line {i}\n")
            want.append(f"display_data: cell {n} display {i}")
        want.append(f"stderr: cell {n} err\n")
        want.append(f"execute_result: {run + n}")
    return want


def digest(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    bad, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "in.ipynb"
        nbformat.write(notebook(), source)
        for run in range(runs):
            done = papermill.execute_notebook(
                str(source), str(source.with_name("out.ipynb")), parameters={"run": run}, progress_bar=False, log_output=False
            )
            got = [text(o) for cell in done.cells if cell.cell_type == "code" for o in cell.outputs]
            want = expected(run)
            if len(got) != len(want) or digest(got) != digest(want):
                bad += 1
                first = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), min(len(got), len(want)))
                print(f"run {run}: {len(got)} outputs of {len(want)}; the first that differs is {first}: {got[first:first + 1]}, want {want[first:first + 1]}")
    print(f"{runs} runs of {len(expected(0))} outputs, {bad} bad, {time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
