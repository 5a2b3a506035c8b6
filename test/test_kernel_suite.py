"""jupyter_kernel_test, Jupyter's own suite for kernels, with every attribute
that a kernel can be given: nothing of it is skipped.
"""

import jupyter_kernel_test as suite
import pytest


@pytest.mark.usefixtures("kernel")
class TestKernel(suite.KernelTests):
    kernel_name = "branchbook"
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'import "fmt"\nfmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "test")'
    completion_samples = [
        {"text": "fmt.Printl", "matches": {"Println"}},
        {"text": 'import "encoding/js', "matches": {"encoding/json"}},
    ]
    complete_code_samples = ["x := 1", "func f(x int) int {\n\treturn x * 2\n}"]
    incomplete_code_samples = ["func f(x int) int {", "fmt.Println(", "`raw"]
    invalid_code_samples = ["func func", "x := )"]
    code_page_something = "fmt.Println?"
    code_generate_error = 'panic("boom")'
    code_execute_result = [
        {"code": "1 + 2 + 3", "result": "6"},
        {"code": "1 + 2 + 4", "result": "7"},
        {"code": "1 + 2 + 5", "result": "8"},
    ]
    code_display_data = [
        {"code": 'nb.HTML("<b>t</b>")', "mime": "text/html"},
        {"code": 'nb.Markdown("# t")', "mime": "text/markdown"},
        {"code": 'nb.SVG(`<svg xmlns="http://www.w3.org/2000/svg"/>`)', "mime": "image/svg+xml"},
        {"code": "nb.Display(image.NewGray(image.Rect(0, 0, 2, 2)))", "mime": "image/png"},
        {"code": "nb.JSON(map[string]int{\"a\": 1})", "mime": "application/json"},
    ]
    code_history_pattern = "1 ? 2 ? 3"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "fmt.Println"
    code_clear_output = "nb.Clear(false)"


@pytest.mark.usefixtures("kernel")
class TestWelcome(suite.IopubWelcomeTests):
    kernel_name = "branchbook"
    support_iopub_welcome = True


@pytest.mark.parametrize("ours, base", [(TestKernel, suite.KernelTests), (TestWelcome, suite.IopubWelcomeTests)])
def test_every_attribute_is_given(ours, base):
    """What the suite has no attribute for, it skips."""
    for name, default in vars(base).items():
        if not name.startswith("_") and not callable(default) and not isinstance(default, classmethod):
            assert getattr(ours, name) != default, name
