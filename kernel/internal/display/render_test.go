package display

import (
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestMatricesAreShownAsGonumFormatsThem(t *testing.T) {
	wide := mat.NewDense(2, 30, nil)
	for _, m := range []mat.Matrix{
		mat.NewDense(2, 2, []float64{1, 2, 3, 4}), mat.NewDense(3, 2, []float64{1, 2.5, 0, -4, 1e9, 6}), mat.NewDense(1, 3, []float64{1, 2, 3}),
		mat.NewVecDense(3, []float64{1, 20, 300}), mat.NewSymDense(2, []float64{1, 2, 2, 1}), mat.NewDiagDense(2, []float64{1, 2}),
	} {
		// gonum makes all columns as wide as the widest where it is not told to squeeze them.
		if got, want := Of(m)["text/plain"], fmt.Sprintf("%.6g", mat.Formatted(m, mat.Squeeze())); got != want {
			t.Errorf("%T: got\n%s\nwant\n%s", m, got, want)
		}
	}
	if got := Of(mat.Formatted(mat.NewDense(1, 2, []float64{1, 2})))["text/plain"]; got != "[1  2]" {
		t.Errorf("what formats itself: %q", got)
	}
	if got := Of(wide)["text/plain"].(string); !strings.HasSuffix(got, "⎦\n(2 of 2 rows, 20 of 30 columns)") {
		t.Errorf("a wide matrix: %s", got)
	}
	if got := Of((*mat.Dense)(nil))["text/plain"]; got != "nil" {
		t.Errorf("a nil matrix: %q", got)
	}
}

// charts writes a page as go-echarts does.
type charts []string

func (c charts) Render(w io.Writer) error {
	if len(c) == 0 {
		return errors.New("no charts")
	}
	for _, text := range c {
		fmt.Fprintf(w, `<!DOCTYPE html><html><body><div class="item" id="a" style="width:900px;height:500px;"></div><script>%s</script>`, text)
	}
	_, err := io.WriteString(w, "</body></html>")
	return err
}

func (charts) JSON() map[string]any { return map[string]any{"a": 1} } // not for readers

func TestChartsAreFramed(t *testing.T) {
	b := Of(charts{`echarts.init("a<b")`})
	frame, _ := b["text/html"].(string)
	_, quoted, _ := strings.Cut(frame, `srcdoc="`)
	quoted, end, _ := strings.Cut(quoted, `"`)
	page := html.UnescapeString(quoted)
	for _, want := range []string{"<html>", `echarts.init("a<b")`, "could not be loaded"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if !strings.Contains(frame, "height:550px") || end != "></iframe>" {
		t.Errorf("%s", frame)
	}
	if len(b) != 2 || b["text/plain"] != "display.charts (a page that loads ECharts from the web)" {
		t.Errorf("%v", b)
	}
	if frame := fmt.Sprint(Of(charts{"", ""})["text/html"]); !strings.Contains(frame, "height:1100px") {
		t.Errorf("a page of two: %s", frame)
	}
	for name, v := range map[string]any{"one that fails": charts{}, "nil": (*charts)(nil)} {
		if b := Of(v); b["text/html"] != nil || b["text/plain"] == "" {
			t.Errorf("%s: %v", name, b)
		}
	}
}
