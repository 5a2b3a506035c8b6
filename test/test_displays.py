"""Pictures, charts and other values that show themselves, in JupyterLab."""

import contextlib
import gzip
import http.server
import threading

import nbformat
import pytest

from conftest import PICTURES, ROOT, new_notebook
from jupyterlab import Notebook

CELLS = [
    # a picture
    """img := image.NewRGBA(image.Rect(0, 0, 200, 100))
for x := range 200 {
	for y := range 100 {
		img.Set(x, y, color.RGBA{uint8(x), uint8(2 * y), 128, 255})
	}
}
img""",
    # a plot of gonum's
    """import "gonum.org/v1/plot"
p := plot.New()
p.Title.Text = "A parabola and a line"
err := plotutil.AddLinePoints(p, "line", plotter.XYs{{0, 0}, {1, 1}, {2, 2}}, "parabola", plotter.XYs{{0, 0}, {1, 1}, {2, 4}})
p""",
    # a chart of go-echarts, with its script from the test
    """bar := charts.NewBar()
bar.SetGlobalOptions(charts.WithInitializationOpts(opts.Initialization{AssetsHost: "%s", Width: "600px", Height: "300px"}))
bar.SetXAxis([]string{"a", "b", "c"}).AddSeries("series", []opts.BarData{{Value: 1}, {Value: 3}, {Value: 2}})
bar""",
    # gophernotes' display, and a type with methods
    """type greeting struct{ name string }
func (g greeting) HTML() string { return "<b class='greeting'>Hello, " + g.name + "</b>" }
Display(display.Markdown("**Markdown** and $e^{i\\\\pi}+1=0$"))
Display(display.SVG(`<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><circle cx="20" cy="20" r="15" fill="teal"/></svg>`))
Display(display.Image(img))
greeting{"reader"}""",
    # GoNB's gonbui
    """import "github.com/janpfeifer/gonb/gonbui"
%%
gonbui.DisplayHTML("<i class='gonbui'>from GoNB</i>")
for i := range 3 {
	gonbui.UpdateHTML("count", fmt.Sprintf("<span class='count'>%d</span>", i))
}""",
    "mat.NewDense(2, 2, []float64{1, 2, 3, 40})",
]


class Assets(http.server.BaseHTTPRequestHandler):
    """Serves ECharts, as go-echarts' host does."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.end_headers()
        self.wfile.write(gzip.decompress((ROOT / "lib/plot/echarts/echarts.common.min.js.gz").read_bytes()))

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def assets():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Assets)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.mark.timeout(300)
def test_values_show_themselves(lab, chromium):
    with assets() as host:
        notebook = new_notebook([c.replace("%s", host) for c in CELLS])
        nbformat.write(notebook, lab.root / "displays.ipynb")
        page = Notebook(chromium, lab, "displays.ipynb")
        page.page.set_viewport_size({"width": 1100, "height": 2200})
        page.run_all(60)
        look = page.await_look(lambda look: sum(o["images"] for c in look for o in c["outputs"]) == 4)
        chart = page.page.frame_locator("iframe[srcdoc]").locator("canvas")
        chart.wait_for(timeout=30_000)
        page.picture(PICTURES / "displays.png")
    images = [[o["images"] for o in c["outputs"]] for c in look]
    assert images[0] == [1] and images[1] == [1], look
    assert chart.bounding_box()["width"] > 500
    markdown, svg, picture, hello = look[3]["outputs"]
    assert markdown["mime"] == "text/markdown" and "Markdown" in markdown["text"], markdown
    assert svg["mime"] == "image/svg+xml" and picture["images"] == 1, look[3]
    assert hello["mime"] == "text/html" and hello["text"] == "Hello, reader", hello
    assert [o["text"] for o in look[4]["outputs"]] == ["from GoNB", "2"]
    assert look[5]["outputs"][0]["text"] == "⎡1   2⎤\n⎣3  40⎦"
    assert not page.errors
