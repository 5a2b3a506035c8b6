package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
)

// bars returns the values of the bars of a live chart, by series.
func bars(t *testing.T, f Figure) map[string][]any {
	t.Helper()
	found := map[string][]any{}
	for _, s := range f.option["series"].([]any) {
		s := s.(map[string]any)
		if s["type"] != "bar" {
			continue
		}
		var values []any
		for _, d := range s["data"].([]any) {
			values = append(values, d.(map[string]any)["value"])
		}
		found[s["name"].(string)] = values
	}
	return found
}

func TestLiveBarsAreTheRecordsProbabilities(t *testing.T) {
	rec := answer()
	f, err := Candidates(rec, 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live := bars(t, f)
	for i, c := range rec.Steps[1].Candidates {
		for name, want := range map[string]float64{"p": c.Base, "p^α": c.Power, "p^α·ζ ± standard error": c.Prob} {
			if got := live[name][i]; got != want {
				t.Errorf("%s of %q is %v, want %v", name, c.Piece, got, want)
			}
		}
	}
}

// In the picture a bar ends where its probability lies on the axis, to the
// width of a pixel.
func TestDrawnBarsAreTheRecordsProbabilities(t *testing.T) {
	rec := answer()
	f, err := Candidates(rec, 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	im, err := png.Decode(bytes.NewReader(f.png))
	if err != nil {
		t.Fatal(err)
	}
	const axisEnd = 1.0 // the longest bar with its whisker is 0.86
	for i, c := range rec.Steps[1].Candidates[:3] {
		for j, p := range []float64{c.Base, c.Power, c.Prob} {
			y := int(2*(barsTop+barCentre(i, j)*rowHeight)) + 7 // below the whisker
			x := 2*barsLeft + 3                                 // beside the axis
			for color.NRGBAModel.Convert(im.At(x, y)) == barColours[j] {
				x++
			}
			want := 2 * (barsLeft + p/axisEnd*float64(f.width-barsLeft-barsRight))
			if math.Abs(float64(x)-want) > 2 {
				t.Errorf("bar %d of %q ends at pixel %d, want %.1f", j, c.Piece, x, want)
			}
		}
	}
}

func TestWhiskersReachOneStandardError(t *testing.T) {
	rec := answer()
	v := newCandidateView(rec, 1, CandidatesOptions{})
	c := rec.Steps[1].Candidates[1]
	lo, hi, ok := v.whisker(v.rows[1])
	if !ok || lo != c.Prob-c.ProbSE || hi != c.Prob+c.ProbSE {
		t.Errorf("whisker from %v to %v (%v), want %v ± %v", lo, hi, ok, c.Prob, c.ProbSE)
	}
}

func TestAxisHoldsTheLongestBar(t *testing.T) {
	for name, c := range map[string]struct{ p, se, end float64 }{
		"one":                        {1, 0, 1},
		"a whisker beyond one":       {.9, .2, 1.2},
		"a half":                     {.5, 0, .5},
		"a tenth":                    {.1, 0, .1},
		"little":                     {.0031, 0, .004},
		"nothing":                    {0, 0, 1},
		"less than can be divided":   {1e-320, 0, 1},
		"no number":                  {math.NaN(), math.NaN(), 1},
		"no probability, and finite": {1e308, 1e308, 1},
	} {
		v := candidateView{rows: []candidateRow{{Candidate: llm.Candidate{Prob: c.p, ProbSE: c.se}}}}
		end, tick := v.axis()
		if math.Abs(end-c.end) > 1e-9*c.end {
			t.Errorf("%s: axis ends at %v, want %v", name, end, c.end)
		}
		if n := end / tick; n < 1.9 || n > 6.1 {
			t.Errorf("%s: %v ticks", name, n)
		}
	}
}

func TestChosenCandidateIsAlwaysShown(t *testing.T) {
	rec := answer()
	f, err := Candidates(rec, 9, CandidatesOptions{Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := f.String()
	for _, want := range []string{`> " on"`, `  " of"`, "(1 further candidate is not shown)"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q:\n%s", want, text)
		}
	}
	labels := fmt.Sprint(f.option["yAxis"].([]any)[0].(map[string]any)["data"])
	if labels != `[" of" ▸ " on"]` {
		t.Errorf("labels are %s", labels)
	}
}

func TestTokenThatWasNoCandidateIsSaid(t *testing.T) {
	rec := answer()
	rec.Steps[1].Token, rec.Steps[1].Piece = 9, []byte(" odd")
	f, err := Candidates(rec, 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `(the chosen token " odd" is not among the candidates)`; !strings.Contains(f.String(), want) {
		t.Errorf("text lacks %q:\n%s", want, f)
	}
}

func TestSamplerWithoutLookAheadHasNoZeta(t *testing.T) {
	rec := answer()
	for i := range rec.Steps[1].Candidates {
		c := &rec.Steps[1].Candidates[i]
		c.ProbSE, c.LogZeta, c.ESS, c.Prob = 0, 0, 0, c.Power
	}
	f, err := Candidates(rec, 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := bars(t, f); got["drawn from"] == nil || len(got) != 3 {
		t.Errorf("series are %v", got)
	}
}
