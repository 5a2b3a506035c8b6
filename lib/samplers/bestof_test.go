package samplers

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// Of a completion of two tokens and one of ten, the sum prefers the short one,
// the mean and the score per byte the one whose tokens are more certain.
func TestScoresOfAShortAndALongCompletion(t *testing.T) {
	short := Future{LogProbs: []float64{-.7, -.7}} // -1.4
	long := Future{LogProbs: make([]float64, 10)}  // -3
	short.Tokens, long.Tokens = make([]llm.Token, 2), make([]llm.Token, 10)
	for i := range long.LogProbs {
		long.LogProbs[i] = -.3
	}
	for _, c := range []struct {
		by                    string
		shortBytes, longBytes int
		short, long           float64
	}{
		{"", 4, 40, -1.4, -3},
		{ScoreSum, 4, 40, -1.4, -3},
		{ScoreMean, 4, 40, -.7, -.3},
		{ScorePerByte, 4, 40, -.35, -.075},
		{ScorePerByte, 40, 5, -.035, -.6}, // the same tokens spelt otherwise
		{ScorePerByte, 0, 40, -1.4, -.075},
	} {
		if s, l := Score(c.by, short, c.shortBytes), Score(c.by, long, c.longBytes); !near(s, c.short, 1e-12) || !near(l, c.long, 1e-12) {
			t.Errorf("%q, %d and %d bytes: %v and %v, want %v and %v", c.by, c.shortBytes, c.longBytes, s, l, c.short, c.long)
		}
	}
	for by, want := range map[string]string{"": "best of n by sum", ScoreSum: "best of n by sum", ScoreMean: "best of n by mean", ScorePerByte: "best of n by per byte"} {
		if got := (BestOf{Score: by}).Name(); got != want {
			t.Errorf("score %q: name %q, want %q", by, got, want)
		}
	}
	m := newToy(t, toy.Options{})
	if _, err := Generate(context.Background(), m, m.Prompt(), BestOf{Score: "median"}, Options{}); err == nil || !strings.Contains(err.Error(), `score is "median", want "sum", "mean" or "per byte"`) {
		t.Errorf("an unknown score: error %v", err)
	}
}

// twoWays says "ab." with 0.3·1·1 or "cccccccc." with 0.7·0.85⁷·0.15...: the
// sum prefers the first, the mean the second.
func TestBestOfChoosesByItsScore(t *testing.T) {
	//                       a  b   c   .
	m, err := toy.FromTable([][]float64{
		{0, 1, 0, 0}, {0, 0, 0, 1}, {0, 0, .85, .15}, {1, 1, 1, 1}, {.3, 0, .7, 0},
	}, []llm.Token{3}, toy.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]string{ScoreSum: "ab", ScoreMean: "cccccccccccccccccccc", ScorePerByte: "cccccccccccccccccccc"} {
		rec := generateOn(t, m, m.Prompt(), BestOf{N: 400, Score: by}, Options{MaxTokens: 20, Seed: 1})
		if rec.Text != want {
			t.Errorf("%s: %q, want %q", by, rec.Text, want)
		}
		best := math.Inf(-1)
		for _, s := range rec.Diagnostics.Scores {
			best = max(best, s)
		}
		var sum float64
		for _, s := range rec.Steps {
			sum += s.LogProb
		}
		if got := Score(by, Future{Tokens: tokensOf(rec), LogProbs: []float64{sum}}, len(rec.Text)); len(rec.Diagnostics.Scores) != 400 || !near(got, best, 1e-9) {
			t.Errorf("%s: the completion's score is %v, the best of %d is %v", by, got, len(rec.Diagnostics.Scores), best)
		}
	}
}

func TestMajorityAsksForTheAnswer(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 6})
	first := func(text string) string { return text[:min(1, len(text))] }
	for seed := range uint64(20) {
		rec := generateOn(t, m, m.Prompt(), Majority{N: 25, Answer: first}, Options{MaxTokens: 6, Seed: seed + 1})
		most := 0.0
		for _, share := range rec.Diagnostics.Scores {
			most = max(most, share)
		}
		draws := generateOn(t, m, m.Prompt(), BestOf{N: 25}, Options{MaxTokens: 6, Seed: seed + 1}) // the same draws
		if len(draws.Diagnostics.Scores) != 25 || most < 1./25 || most > 1 {
			t.Fatalf("shares %v", rec.Diagnostics.Scores)
		}
		for _, share := range rec.Diagnostics.Scores { // whole votes of 25
			if !near(share*25, math.Round(share*25), 1e-9) {
				t.Errorf("share %v of 25", share)
			}
		}
	}
}
