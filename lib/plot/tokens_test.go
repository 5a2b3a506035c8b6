package plot

import (
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/branchbook/branchbook/lib/llm"
)

func TestPictureCountsTheTokensItHasNoRoomFor(t *testing.T) {
	word := func(n int, piece string) llm.Record {
		var rec llm.Record
		for range n {
			rec.Steps = append(rec.Steps, llm.StepRecord{Piece: []byte(piece)})
		}
		return rec
	}
	for name, c := range map[string]struct {
		rec         llm.Record
		lines, more int
	}{
		"a line each":               {word(tokensLines, "a\n"), tokensLines, 0},
		"one too many":              {word(tokensLines+1, "a\n"), tokensLines, 1},
		"a token of too many lines": {word(1, strings.Repeat("a\n", tokensLines+5)), tokensLines, 1},
		"nothing":                   {word(0, ""), 1, 0},
	} {
		v, err := newTokenView(c.rec, TokensOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lines, more := v.wrap()
		if len(lines) != c.lines || more != c.more {
			t.Errorf("%s: %d lines and %d more, want %d and %d", name, len(lines), more, c.lines, c.more)
		}
	}
}

func TestNoLineOfThePictureCrossesItsMargin(t *testing.T) {
	for name, rec := range map[string]llm.Record{"words": long(500), "awkward": awkwardRecord()} {
		for _, width := range []int{320, 660, 2000} {
			v, err := newTokenView(rec, TokensOptions{Width: width})
			if err != nil {
				t.Fatal(err)
			}
			lines, _ := v.wrap()
			for i, line := range lines {
				for _, b := range line {
					if b.x1 > px(width-2*tokensMargin)+1e-6 {
						t.Errorf("%s, %d wide: %q on line %d ends at %v", name, width, b.text, i, b.x1)
					}
				}
			}
		}
	}
}

func TestScalesOfTokenColours(t *testing.T) {
	s := llm.StepRecord{
		Token: 1, LogProb: math.Log(.25), Entropy: 1.5,
		Candidates: []llm.Candidate{{Token: 0, Base: .5, Prob: .2}, {Token: 1, Base: .5, Prob: .8}},
	}
	for name, c := range map[string]struct {
		opt             TokensOptions
		value, strength float64
	}{
		"surprisal":            {TokensOptions{}, math.Log(4), math.Log(4) / 5},
		"surprisal, own scale": {TokensOptions{Full: 1}, math.Log(4), 1},
		"probability":          {TokensOptions{Color: ByProbability}, .25, .75},
		"entropy":              {TokensOptions{Color: ByEntropy}, 1.5, 1.5 / 4},
		"ratio":                {TokensOptions{Color: ByRatio}, math.Log(1.6), math.Log(1.6) / 2},
	} {
		sc, err := newScale(c.opt)
		if err != nil {
			t.Fatal(err)
		}
		x := sc.quantity(s)
		if math.Abs(x-c.value) > 1e-12 || math.Abs(sc.strength(x)-c.strength) > 1e-12 {
			t.Errorf("%s is %v with strength %v, want %v and %v", name, x, sc.strength(x), c.value, c.strength)
		}
	}
}

func TestRatioOfATokenThatWasNoCandidate(t *testing.T) {
	s := llm.StepRecord{Token: 5, LogProb: math.Log(.1), Prob: .2}
	if got := logRatio(s); math.Abs(got-math.Log(2)) > 1e-12 {
		t.Errorf("log q/p is %v, want log 2", got)
	}
	if rank(s) != 0 {
		t.Errorf("rank is %d, want 0", rank(s))
	}
}

func TestTablesTellWhatTheTooltipTells(t *testing.T) {
	f, err := Tokens(answer(), TokensOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	walk(fragment(t, f.html()), func(n *html.Node) {
		if n.Data != "tr" {
			return
		}
		var cells []string
		walk([]*html.Node{n}, func(n *html.Node) {
			if n.Type == html.TextNode {
				cells = append(cells, n.Data)
			}
		})
		rows[strings.Join(cells, "|")] = true
	})
	if !rows[`1|" capital"|101|−1.24|0.290|0.818|2|1.38|8.00`] {
		t.Errorf("no row for step 1 in %v", rows)
	}
	if !rows[`▸ " capital"|101|−1.24|0.341|0.428|0.818|0.0446|1.22|7.50`] {
		t.Errorf("no row for the chosen candidate of step 1 in %v", rows)
	}
}
