package samplers

import (
	"errors"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"pgregory.net/rapid"
)

func tokensWith(probs ...float64) []llm.TokenLogProb {
	var ts []llm.TokenLogProb
	for i, p := range probs {
		ts = append(ts, llm.TokenLogProb{Token: llm.Token(i), LogProb: math.Log(p)})
	}
	return ts
}

func TestChoose(t *testing.T) {
	four := tokensWith(.5, .25, .125, .125)
	for _, c := range []struct {
		name string
		c    Candidates
		top  []llm.TokenLogProb
		want int
	}{
		{"the zero value keeps all", Candidates{}, four, 4},
		{"top-k", Candidates{TopK: 2}, four, 2},
		{"top-k past the vocabulary keeps all", Candidates{TopK: 9}, four, 4},
		{"top-p keeps the set that exceeds it", Candidates{TopP: .6}, four, 2},
		{"a mass equal to top-p does not exceed it", Candidates{TopP: .5}, four, 2},
		{"top-p under the first token keeps it", Candidates{TopP: .01}, four, 1},
		{"top-p of 1 keeps all", Candidates{TopP: 1}, four, 4},
		{"top-p is a share of what top-k kept", Candidates{TopK: 2, TopP: .66}, four, 1},
		{"a low temperature makes top-p keep fewer", Candidates{Temperature: .25, TopP: .9}, four, 1},
		{"a high temperature makes top-p keep more", Candidates{Temperature: 4, TopP: .6}, four, 3},
		{"min-p keeps what has a share of the first", Candidates{MinP: .5}, four, 2},
		{"min-p of more than the second's share keeps the first", Candidates{MinP: .51}, four, 1},
		{"min-p is after the temperature", Candidates{MinP: .5, Temperature: 4}, four, 4},
		{"min-p of what top-p kept", Candidates{MinP: .25, TopP: .6}, four, 2},
		{"a temperature near 0 keeps those as probable as the first", Candidates{Temperature: 1e-30, TopP: .99}, four, 1},
		{"tokens of probability 0 are none", Candidates{}, tokensWith(.5, .5, 0, 0), 2},
	} {
		got, err := c.c.Choose(c.top)
		if err != nil || len(got) != c.want {
			t.Errorf("%s: kept %d, error %v; want %d", c.name, len(got), err, c.want)
		}
	}
}

func TestChooseFindsNoToken(t *testing.T) {
	for name, top := range map[string][]llm.TokenLogProb{
		"no tokens":              nil,
		"all of probability 0":   tokensWith(0, 0, 0),
		"a log-probability NaN":  {{Token: 0, LogProb: math.NaN()}},
		"a log-probability +Inf": {{Token: 0, LogProb: math.Inf(1)}},
	} {
		if _, err := (Candidates{}).Choose(top); !errors.Is(err, ErrNoToken) {
			t.Errorf("%s: error %v, want ErrNoToken", name, err)
		}
	}
}

// plainCandidates follows the definition word by word, in plain
// probabilities: temper, keep the k most probable, then the fewest of them
// whose share of their mass exceeds p, then those with min of the first's
// probability.
func plainCandidates(logProbs []float64, temperature float64, k int, p, min float64) []int {
	ids := make([]int, len(logProbs))
	for i := range ids {
		ids[i] = i
	}
	sort.SliceStable(ids, func(a, b int) bool { return logProbs[ids[a]] > logProbs[ids[b]] })
	if k > 0 && k < len(ids) {
		ids = ids[:k]
	}
	weight := func(i int) float64 { return math.Pow(math.Exp(logProbs[i]), 1/temperature) }
	var all float64
	for _, i := range ids {
		all += weight(i)
	}
	var mass float64
	for n, i := range ids {
		if mass += weight(i); mass/all > p {
			ids = ids[:n+1]
			break
		}
	}
	for n, i := range ids {
		if weight(i) < min*weight(ids[0]) {
			return ids[:n]
		}
	}
	return ids
}

func TestChooseIsThePlainDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float64Range(-6, 6), 1, 40).Draw(t, "logits")
		c := Candidates{
			Temperature: rapid.Float64Range(.1, 5).Draw(t, "temperature"),
			TopK:        rapid.IntRange(0, 45).Draw(t, "top_k"),
			TopP:        rapid.Float64Range(.01, 1).Draw(t, "top_p"),
			MinP:        rapid.Float64Range(0, 1).Draw(t, "min_p"),
		}
		z := LogSumExp(logits)
		var top []llm.TokenLogProb
		for i := range logits {
			logits[i] -= z
			top = append(top, llm.TokenLogProb{Token: llm.Token(i), LogProb: logits[i]})
		}
		sort.SliceStable(top, func(a, b int) bool { return top[a].LogProb > top[b].LogProb })
		kept, err := c.Choose(top[:c.top(len(top))])
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, k := range kept {
			got = append(got, int(k.Token))
		}
		if want := plainCandidates(logits, c.Temperature, c.TopK, c.TopP, c.MinP); !slices.Equal(got, want) {
			t.Fatalf("%+v of %v keeps %v, want %v", c, logits, got, want)
		}
	})
}

// The factory takes every number at its word, where the struct's zeros are
// defaults.
func TestNewCandidates(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		topK        int
		topP, alpha float64
		want        string // the parameter that is refused; "" for none
	}{
		{1, 1, 1, ""}, {40, .95, 4, ""}, {1 << 40, 1e-300, 1e-30, ""},
		{0, 1, 1, "top_k"}, {-3, 1, 1, "top_k"},
		{1, 0, 1, "top_p"}, {1, -.5, 1, "top_p"}, {1, 1.01, 1, "top_p"}, {1, nan, 1, "top_p"},
		{1, 1, 0, "alpha"}, {1, 1, -1, "alpha"}, {1, 1, nan, "alpha"}, {1, 1, inf, "alpha"},
	} {
		got, err := NewCandidates(c.topK, c.topP, c.alpha)
		var param *ParamError
		switch {
		case c.want == "" && (err != nil || got != Candidates{Temperature: 1 / c.alpha, TopK: c.topK, TopP: c.topP}):
			t.Errorf("%+v: %+v, error %v", c, got, err)
		case c.want != "" && (!errors.As(err, &param) || param.Name != c.want):
			t.Errorf("%+v: error %v, want one about %s", c, err, c.want)
		}
	}
}
