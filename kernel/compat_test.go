package kernel_test

import (
	"bytes"
	"encoding/base64"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// shows expects a cell that shows these forms: of each, its MIME type and how
// it begins.
func shows(t *testing.T, k *kerneltest.Kernel, count int, code string, want ...string) {
	t.Helper()
	r := k.Execute(code)
	r.Busy()
	r.Input(count)
	for _, w := range want {
		mime, text, _ := strings.Cut(w, " ")
		b := r.Display()
		got, _ := b.Data[mime].(string)
		if raw, err := base64.StdEncoding.DecodeString(got); err == nil && strings.HasPrefix(mime, "image/") {
			got = string(raw)
		}
		if !strings.HasPrefix(got, text) || got == "" || b.Text() == "" {
			t.Errorf("%s shows %v, want %s", code, b.Data, w)
		}
	}
	r.ReplyOK(count)
	r.Idle()
}

// TestDisplayOfGophernotes runs what notebooks of gophernotes' do with its
// package display.
func TestDisplayOfGophernotes(t *testing.T) {
	k := start(t)
	r := k.Execute("display.HTML(\"<b>x</b>\")")
	r.Busy()
	r.Input(1)
	if b := r.Result("<b>x</b>"); b.Data["text/html"] != "<b>x</b>" {
		t.Errorf("%+v", b)
	}
	r.ReplyOK(1)
	r.Idle()
	shows(t, k, 2, "Display(display.Markdown(\"# x\"))\nDisplay(display.Math(`e`))", "text/markdown # x", "text/latex $$e$$")
	shows(t, k, 3, `Display(display.PNG([]byte("png")))
Display(display.JPEG([]byte("jpeg")))
Display(display.SVG("<svg/>"))
Display(display.Any("", []byte("%PDF-1.4")))
Display(12)
err := Display("x")`, "image/png png", "image/jpeg jpeg", "image/svg+xml <svg/>", "application/pdf ", "text/plain 12", "text/plain x")
	r = k.Execute("import \"image\"\ndisplay.Image(image.NewGray(image.Rect(0, 0, 3, 2)))")
	r.Busy()
	r.Input(4)
	b := r.Result("image/png, 75 bytes")
	if size, _ := b.Metadata["image/png"].(map[string]any); size["width"] != 3.0 || size["height"] != 2.0 {
		t.Errorf("%+v", b.Metadata)
	}
	r.ReplyOK(4)
	r.Idle()
	shows(t, k, 5, `type page struct{ text string }
func (p page) HTML() string { return "<p>" + p.text }
func (p *page) Latex() string { return "$" + p.text + "$" }
type size int
func (n size) Markdown() string { return "**" + fmt.Sprint(int(n)) + "**" }
Display(page{"a"})
Display(&page{"b"})
nb.Display(size(3))
var v any = size(4)
Display(v)
Display(display.Auto(size(5)))`, "text/html <p>a", "text/latex $b$", "text/markdown **3**", "text/markdown **4**", "text/markdown **5**")
	for i, test := range []struct{ code, text, mime, want string }{
		{"page{\"c\"}", "page{text: c}", "text/html", "<p>c"},
		{"v", "4", "text/markdown", "**4**"},
		{"type r struct{}\nfunc (r) Render() display.Data { return display.Data{Data: display.MIMEMap{display.MIMETypeLatex: `$g$`}} }\nr{}", "r{}", "text/latex", "$g$"},
		{"type s struct{}\nfunc (s) SimpleRender() display.MIMEMap { return display.MIMEMap{display.MIMETypeLatex: `$h$`} }\ns{}", "s{}", "text/latex", "$h$"},
		{"var h display.HTMLer = page{\"d\"}\nh.HTML()", "<p>d", "text/plain", "<p>d"},
		{"import \"github.com/gopherdata/gophernotes\"\ndisplay.HTML(\"e\")", "e", "text/html", "e"},
	} {
		r := k.Execute(test.code)
		r.Busy()
		r.Input(6 + i)
		if b := r.Result(strings.ReplaceAll(test.text, "c}", `"c"}`)); b.Data[test.mime] != test.want {
			t.Errorf("%s: %+v", test.code, b.Data)
		}
		r.ReplyOK(6 + i)
		r.Idle()
	}
}

func TestAPictureOfACellsOwnType(t *testing.T) {
	k := start(t)
	r := k.Execute(`type grid struct{ n int }
func (g grid) ColorModel() color.Model { return color.RGBAModel }
func (g grid) Bounds() image.Rectangle { return image.Rect(0, 0, g.n, g.n) }
func (g *grid) At(x, y int) color.Color { return color.RGBA{uint8(x), uint8(y), 7, 255} }
&grid{16}`)
	r.Busy()
	r.Input(1)
	b := r.Result(map[string]string{"yaegi": "&grid{n: 16}", "vm": "*main.grid (0,0)-(16,16)"}[engineName()])
	data, err := base64.StdEncoding.DecodeString(b.Data["image/png"].(string))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Dx() != 16 || img.At(3, 5) != (color.RGBA{3, 5, 7, 255}) {
		t.Errorf("%v, %v", img, err)
	}
	r.ReplyOK(1)
	r.Idle()
	shows(t, k, 2, "nb.Display(&grid{2})\nvar v any = &grid{3}\nDisplay(v)\nnb.Display(grid{4})", "image/png \x89PNG", "image/png \x89PNG", "text/plain grid{n: 4}")
}

// TestGonbui runs what notebooks of GoNB's do with its package gonbui.
func TestGonbui(t *testing.T) {
	k := start(t)
	shows(t, k, 1, `import "github.com/janpfeifer/gonb/gonbui"

%%
gonbui.DisplayHtml("<b>x</b>")
gonbui.DisplayMarkdown("# y")
if err := gonbui.DisplayImage(image.NewGray(image.Rect(0, 0, 2, 2))); err != nil || !gonbui.IsNotebook {
	panic("no notebook")
}`, "text/html <b>x</b>", "text/markdown # y", "image/png \x89PNG")
	r := k.Execute("id := gonbui.UniqueId()\ngonbui.UpdateHTML(id, \"1\")\ngonbui.UpdateHTML(id, \"2\")")
	r.Busy()
	r.Input(2)
	first := r.Display()
	second := r.Update()
	if first.Transient.DisplayID == "" || first.Transient.DisplayID != second.Transient.DisplayID || second.Data["text/html"] != "2" {
		t.Errorf("%+v, %+v", first, second)
	}
	r.ReplyOK(2)
	r.Idle()
	fails(t, k, 3, "gonbui.RequestInput(\"name\", false)", "Panic", "allow_stdin is false")
	fails(t, k, 4, "import \"github.com/janpfeifer/gonb/gonbui/widgets\"", "CompileError", "GoNB's widgets", "nb.Progress")
	fails(t, k, 5, "import \"github.com/janpfeifer/gonb/gonbui/dom\"", "CompileError", "nb.Update")
}

// TestContextOfLgo runs what notebooks of lgo's do with _ctx.
func TestContextOfLgo(t *testing.T) {
	k := start(t)
	shows(t, k, 1, "_ctx.Display.HTML(\"<b>x</b>\", nil)", "text/html <b>x</b>")
	r := k.Execute("var id string\n_ctx.Display.Text(\"1\", &id)\n_ctx.Display.Text(\"2\", &id)\nreq := must(http.NewRequest(\"GET\", \"http://localhost:1\", nil))\nreq.WithContext(_ctx).Context().Err()")
	r.Busy()
	r.Input(2)
	first, second := r.Display(), r.Update()
	if first.Text() != "1" || second.Text() != "2" || first.Transient.DisplayID != second.Transient.DisplayID {
		t.Errorf("%+v, %+v", first, second)
	}
	r.ReplyOK(2)
	r.Idle()
	r = begin(k, 3, "<-_ctx.Done()")
	k.Interrupt()
	r.Error()
	r.ReplyError(3)
	r.Idle()
}

func TestLibrariesOfNotebooks(t *testing.T) {
	k := start(t)
	for i, test := range []struct{ name, code, want string }{
		{"integrate", "import \"gonum.org/v1/gonum/integrate\"\nintegrate.Trapezoidal([]float64{0, 1, 2}, []float64{0, 1, 2})", "2"},
		{"quad", "import \"gonum.org/v1/gonum/integrate/quad\"\nfmt.Sprintf(\"%.6f\", quad.Fixed(func(x float64) float64 { return x * x }, 0, 3, 10, nil, 0))", "9.000000"},
		{"optimize", "import \"gonum.org/v1/gonum/optimize\"\np := optimize.Problem{Func: func(x []float64) float64 { return (x[0] - 3) * (x[0] - 3) }}\nres, err := optimize.Minimize(p, []float64{0}, nil, &optimize.NelderMead{})\nfmt.Sprintf(\"%.3f\", res.X[0])", "3.000"},
		{"a path in a graph", "import (\n\"gonum.org/v1/gonum/graph/simple\"\n\"gonum.org/v1/gonum/graph/path\"\n)\ng := simple.NewWeightedDirectedGraph(0, math.Inf(1))\ng.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(1), T: simple.Node(2), W: 2})\ng.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(2), T: simple.Node(3), W: 2.5})\npath.DijkstraFrom(simple.Node(1), g).WeightTo(3)", "4.5"},
		{"gonum's former paths", "import \"github.com/gonum/stat\"\nstat.Mean([]float64{1, 2}, nil)", "1.5"},
		{"constraints", "func next[T constraints.Integer](x T) T { return x + 1 }\nnext(2)", "3"},
		{"a transform", "import \"gonum.org/v1/gonum/dsp/fourier\"\nfourier.NewFFT(2).Coefficients(nil, []float64{1, 3})", "[]complex128{(4+0i), (-2+0i)}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := k.Execute(test.code)
			r.Busy()
			r.Input(i + 1)
			r.Result(test.want)
			r.ReplyOK(i + 1)
			r.Idle()
		})
	}
	r := k.Execute(`import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotutil"
)
p := plot.New()
err = plotutil.AddLinePoints(p, "line", plotter.XYs{{0, 0}, {1, 2}})
p`)
	r.Busy()
	r.Input(8)
	b := r.Result("*plot.Plot")
	if data, err := base64.StdEncoding.DecodeString(b.Data["image/png"].(string)); err != nil || !strings.HasPrefix(string(data), "\x89PNG") {
		t.Errorf("%v", err)
	}
	r.ReplyOK(8)
	r.Idle()
	shows(t, k, 9, `import "gonum.org/v1/plot/vg/vgsvg"
import "gonum.org/v1/plot/vg/draw"
c := vgsvg.New(4*vg.Inch, 3*vg.Inch)
p.Draw(draw.New(c))
Display(display.Any(display.MIMETypeSVG, c))`, "image/svg+xml <?xml")
	shows(t, k, 10, `bar := charts.NewBar()
bar.SetXAxis([]string{"a"}).AddSeries("s", []opts.BarData{{Value: 1}})
nb.Display(bar)`, "text/html <iframe style=\"width:100%;height:550px")
	r = k.Execute("mat.NewDense(2, 2, []float64{1, 2, 3, 40})")
	r.Busy()
	r.Input(11)
	r.Result("⎡1   2⎤\n⎣3  40⎦")
	r.ReplyOK(11)
	r.Idle()
}
