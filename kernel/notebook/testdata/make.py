"""Writes all.ipynb and old.ipynb with Jupyter's own nbformat (5.11), which is
what Encode is held to. Run it here, in an environment that has nbformat."""

import nbformat
from nbformat import v4

png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def cells():
    code = v4.new_code_cell(
        "x := 1\nfmt.Println(x)\n\"<&> é 日本 \\t\"",
        execution_count=3,
        outputs=[
            v4.new_output("stream", name="stdout", text="one\ntwo\nno newline"),
            v4.new_output("stream", name="stderr", text="\r10 %\r\x1b[31mred\x1b[0m\b\f\x01\r\n\n"),
            v4.new_output("display_data", {
                "text/plain": "a\nb\n", "text/html": "<b>a</b>\n<i>b</i>", "image/png": png,
                "image/svg+xml": "<svg>\n</svg>", "application/javascript": "a()\nb()",
                "application/json": {"a": [1, 1.5, 1e-7, None, True], "b": "x\ny"},
                "application/vnd.own.v1+json": ["x\n", "y"],
                "application/pdf": "JVBERi0\nxLjQK",
            }, metadata={"image/png": {"width": 1, "height": 2.5}}),
            v4.new_output("execute_result", {"text/plain": "1"}, execution_count=3),
            v4.new_output("error", ename="panic", evalue="boom", traceback=["line 1", "line 2\nline 3"]),
        ],
        metadata={"tags": ["raises-exception"], "collapsed": False},
    )
    markdown = v4.new_markdown_cell("# Title\n\n![p](attachment:p.png)")
    markdown["attachments"] = {"p.png": {"image/png": png}}
    return [markdown, code, v4.new_raw_cell("raw\n"), v4.new_code_cell(""), v4.new_code_cell("\n\n")]


meta = {
    "kernelspec": {"name": "branchbook", "display_name": "Go (Branchbook)", "language": "go"},
    "language_info": {"name": "go", "version": "go1.26"},
}
nb = v4.new_notebook(cells=cells(), metadata=meta)
for i, cell in enumerate(nb.cells):
    cell["id"] = f"cell-{i}"
nbformat.write(nb, "all.ipynb")

old = v4.new_notebook(cells=cells(), metadata={})
old.nbformat_minor = 4
for cell in old.cells:
    del cell["id"]
nbformat.write(old, "old.ipynb")
