package plot

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
)

// A weighed is a candidate given by what it is made of: the model's
// probability and the look-ahead estimate.
type weighed struct {
	piece string
	p     float64 // of the model, over its whole vocabulary
	zeta  float64
	se    float64 // relative standard error of ζ
	end   bool
}

// step computes a record's step from its parts, as the definition says: base
// ∝ p, power ∝ p^α and prob ∝ p^α·ζ, each over the candidates.
func step(alpha float64, chosen int, cs ...weighed) llm.StepRecord {
	var base, power, prob float64
	for _, c := range cs {
		base += c.p
		power += math.Pow(c.p, alpha)
		prob += math.Pow(c.p, alpha) * c.zeta
	}
	s := llm.StepRecord{Truncated: 1 - base, ESS: 8}
	for i, c := range cs {
		q := math.Pow(c.p, alpha) * c.zeta / prob
		s.Entropy -= c.p * math.Log(c.p)
		s.Candidates = append(s.Candidates, llm.Candidate{
			Token: llm.Token(100 + i), Piece: []byte(c.piece), LogProb: math.Log(c.p), End: c.end,
			Base: c.p / base, Power: math.Pow(c.p, alpha) / power, Prob: q, ProbSE: q * (1 - q) * c.se,
			LogZeta: math.Log(c.zeta), ESS: 8 - float64(i)/2,
		})
	}
	c := s.Candidates[chosen]
	s.Token, s.Piece, s.LogProb, s.Prob = c.Token, c.Piece, c.LogProb, c.Prob
	return s
}

// answer is a generation of a few words, with look-ahead that changes its mind
// at one step.
func answer() llm.Record {
	const alpha = 4
	sure := func(piece string, p float64) llm.StepRecord {
		return step(alpha, 0, weighed{piece, p, 1, .1, false}, weighed{" the", (1 - p) * .6, .8, .2, false}, weighed{" a", (1 - p) * .3, 1.1, .2, false})
	}
	rec := llm.Record{
		Model:   llm.ModelInfo{Name: "SmolLM2-135M-Instruct", Quantisation: "Q8_0"},
		Engine:  llm.EngineInfo{Name: "llama.cpp"},
		Sampler: "importance",
		Params:  map[string]float64{"alpha": alpha, "rollouts": 8, "horizon": 16},
		Seed:    1,
		Prompt:  "What is the capital of France?",
		End:     llm.EndToken,
		Cost:    llm.Cost{Prompt: 9, Decoded: 1320, Emitted: 14, DecodeSeconds: 6.1, TotalSeconds: 6.4},
	}
	rec.Steps = []llm.StepRecord{
		sure("The", .62),
		step(alpha, 1, weighed{" city", .31, .55, .25, false}, weighed{" capital", .29, 3.4, .3, false}, weighed{" answer", .12, 1.2, .4, false},
			weighed{" largest", .06, .9, .3, false}, weighed{" French", .04, 1.1, .5, false}, weighed{" name", .03, 1, .4, false}),
		sure(" of", .97), sure(" France", .93), sure(" is", .88),
		step(alpha, 0, weighed{" Paris", .81, 1.3, .1, false}, weighed{" located", .05, .4, .4, false}, weighed{" the", .04, .7, .3, false}, weighed{" **", .02, 1.9, .5, false}),
		step(alpha, 1, weighed{".", .45, .9, .2, false}, weighed{",", .42, 1.2, .2, false}, weighed{" (", .02, .8, .4, false}),
		step(alpha, 0, weighed{" a", .2, 1, .3, false}, weighed{" which", .19, .9, .3, false}, weighed{" and", .13, 1.1, .3, false}, weighed{" the", .1, 1.4, .3, false}),
		step(alpha, 0, weighed{" city", .5, 1, .2, false}, weighed{" place", .1, .6, .3, false}),
		step(alpha, 2, weighed{" of", .3, .8, .3, false}, weighed{" with", .2, 1, .3, false}, weighed{" on", .05, 900, .5, false}),
		sure(" the", .9),
		sure(" Seine", .77),
		sure(".", .95),
		step(alpha, 0, weighed{"<|im_end|>", .83, 1, 0, true}, weighed{"\n", .1, 1, 0, false}),
	}
	return rec
}

// awkward holds every token that a viewer might lose, run or mangle.
var awkward = []string{
	"</script>", "<script>alert(1)</script>", "<b>", "<!--", "-->", "]]>", `"`, "'", "a`b", "&lt;", "\\", "{b}", "{a|x}", "|", "javascript:",
	"\n", "\n\n", "\t", "\r", "\x00", "\x1b[31m", "\u2028", " ", "    ", " the", "\u00a0", "\u200b", "\u202e", "\ufeff",
	"שלום", "مرحبا", "你好", "é", "e\u0301", "👩\u200d💻", "\xf0\x9f", "\x98\x80", "\xed\xa0\xbd", "\xff", "",
	strings.Repeat("long", 50),
}

// awkwardRecord chooses each awkward token once, with all of them as
// candidates, and numbers of every kind. Its first token has id 0.
func awkwardRecord() llm.Record {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e-320, 1e308, .5}
	rec := llm.Record{Sampler: "</title><script>x", Prompt: "<img src=x onerror=alert(1)>\x00", Params: map[string]float64{"alpha": math.NaN()}}
	rec.Model.Name = "<i>\n\u202e"
	for i, piece := range awkward {
		s := llm.StepRecord{
			Token: llm.Token(i), Piece: []byte(piece), LogProb: odd[i%8], Prob: odd[(i+1)%8], Entropy: odd[(i+2)%8],
			ESS: odd[(i+3)%8], Clamped: odd[(i+4)%8], Truncated: odd[(i+5)%8],
		}
		for j, other := range awkward {
			s.Candidates = append(s.Candidates, llm.Candidate{
				Token: llm.Token(j), Piece: []byte(other), LogProb: odd[(i+j)%8], Base: odd[(i+j+1)%8], Power: odd[(i+j+2)%8],
				Prob: odd[(i+j+3)%8], ProbSE: odd[(i+j+4)%8], LogZeta: odd[(i+j+5)%8], ESS: odd[(i+j+6)%8], End: j%7 == 0,
			})
		}
		rec.Steps = append(rec.Steps, s)
	}
	return rec
}

// long repeats the answer up to n tokens.
func long(n int) llm.Record {
	rec := answer()
	words := rec.Steps[:len(rec.Steps)-1]
	rec.Steps = nil
	for i := range n {
		rec.Steps = append(rec.Steps, words[i%len(words)])
	}
	rec.End = llm.EndLimit
	return rec
}

// figures are what every rule about figures is tested on.
func figures(t *testing.T) map[string]Figure {
	t.Helper()
	made, err := allFigures()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var allFigures = sync.OnceValues(func() (map[string]Figure, error) {
	made := map[string]Figure{}
	var failed error
	add := func(name string, f Figure, err error) {
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
		made[name] = f
	}
	tokens := func(name string, rec llm.Record, opt TokensOptions) {
		f, err := Tokens(rec, opt)
		add(name, f, err)
	}
	candidates := func(name string, rec llm.Record, step int, opt CandidatesOptions) {
		f, err := Candidates(rec, step, opt)
		add(name, f, err)
	}
	tokens("tokens of an answer", answer(), TokensOptions{})
	for _, c := range []TokenColor{BySurprisal, ByProbability, ByEntropy, ByRatio} {
		tokens("awkward tokens by "+string(c), awkwardRecord(), TokensOptions{Color: c})
	}
	tokens("no tokens", llm.Record{}, TokensOptions{})
	tokens("10,000 tokens", long(10_000), TokensOptions{})
	tokens("more tokens than asked for", answer(), TokensOptions{Max: 3})
	tokens("an awkward title", answer(), TokensOptions{Title: "</title>\n<script>\x00"})

	candidates("candidates of an answer", answer(), 1, CandidatesOptions{})
	for i := range 8 { // numbers of every kind have come round by then
		candidates(fmt.Sprintf("awkward candidates %d", i), awkwardRecord(), i, CandidatesOptions{Max: 60})
	}
	candidates("a few awkward candidates", awkwardRecord(), 7, CandidatesOptions{Max: 6})
	one := answer()
	one.Steps[0].Candidates = one.Steps[0].Candidates[:1]
	candidates("one candidate", one, 0, CandidatesOptions{})
	none := answer()
	none.Steps[0].Candidates = nil
	candidates("no candidates", none, 0, CandidatesOptions{})
	many := answer()
	for i := range 10_000 {
		many.Steps[2].Candidates = append(many.Steps[2].Candidates, llm.Candidate{Token: llm.Token(1000 + i), Piece: []byte("x"), Base: 1e-9})
	}
	candidates("10,000 candidates", many, 2, CandidatesOptions{Max: 10_000})
	candidates("step 9,999", long(10_000), 9_999, CandidatesOptions{})
	candidates("an awkward candidates title", answer(), 1, CandidatesOptions{Title: "</script><script>currentColor"})
	return made, failed
})
