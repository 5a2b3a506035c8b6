//go:build cgo

package samplers

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

func tinySession(tb testing.TB, tiny llmtest.Tiny, opt llm.SessionOptions) *llm.Session {
	tb.Helper()
	m, err := llm.Open(context.Background(), llmtest.Write(tb, tiny), llm.Options{Threads: 1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { m.Close() })
	s, err := m.NewSession(opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// enumerate reads every completion's log-probability off the session's rows,
// one prefix at a time.
func enumerate(t *testing.T, s *llm.Session, prompt []llm.Token, length int) *toy.Law {
	t.Helper()
	v := vocabulary(s)
	law, err := toy.Enumerate(length, func(prefix []llm.Token) ([]float64, error) {
		st, err := Begin(context.Background(), s, append(slices.Clip(prompt), prefix...), Options{}, llm.Step{Top: v})
		if err != nil {
			return nil, err
		}
		lps := make([]float64, v)
		for _, t := range st.Row.Top {
			lps[t.Token] = t.LogProb
		}
		return lps, s.Drop(st.Branch)
	}, s.IsEnd)
	if err != nil {
		t.Fatal(err)
	}
	return law
}

// Through llama.cpp the samplers have the laws that the model's own
// enumeration gives, and wrong ones have not. The bounds are twice what was
// measured for the right ones, and half of it for the wrong.
func TestSamplersHaveTheirLawsOnTheEngine(t *testing.T) {
	const length = 4
	prompt := []llm.Token{0, 2}
	s := tinySession(t, llmtest.Tiny{Seed: 1}, llm.SessionOptions{})
	law := enumerate(t, s, prompt, length)
	full := Candidates{TopK: vocabulary(s)}
	for _, c := range []struct {
		name   string
		s      func(alpha float64) Sampler
		model  Model
		target func(law *toy.Law, alpha float64) []float64
		seeds  int
		low    [2]float64 // at α = 2 and 4
		high   [2]float64
	}{
		{"low temperature", func(a float64) Sampler { return LowTemperature{Alpha: a} }, s, lowTemperature, 1, [2]float64{}, [2]float64{1e-5, 1e-5}},
		{"importance", func(a float64) Sampler { return Importance{Alpha: a, Candidates: full, Proposal: 1} }, s, power, 60, [2]float64{}, [2]float64{.01, .004}},
		{"importance from p^((1+α)/2)", func(a float64) Sampler { return Importance{Alpha: a, Candidates: full} }, s, power, 60, [2]float64{}, [2]float64{.01, .004}},
		{"wrong: low temperature is not the power distribution", func(a float64) Sampler { return LowTemperature{Alpha: a} }, s, power, 1, [2]float64{.2, .4}, [2]float64{1, 1}},
		{"metropolis", func(a float64) Sampler {
			return Power{Alpha: a, Candidates: full}.With(&MetropolisBranch{Proposals: 200})
		}, s, power, 15, [2]float64{}, [2]float64{.01, .004}},
		{"wrong: the average of p^α over a chain's states", func(a float64) Sampler {
			return stateAverage{Importance{Alpha: a, Candidates: full, Proposal: 1}}
		}, s, power, 60, [2]float64{.05, .006}, [2]float64{1, 1}},
		{"wrong: end tokens' log-probability left out", func(a float64) Sampler { return Importance{Alpha: a, Candidates: full, Proposal: 1} }, deaf{s}, power, 60, [2]float64{.1, .2}, [2]float64{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, alpha := range referenceAlphas {
				got := lawOf(t, c.model, law, prompt, length, c.seeds, c.s(alpha), func(prefix []llm.Token) string { return fmt.Sprint(prefix) })
				tv := toy.TotalVariation(got, c.target(law, alpha))
				t.Logf("α = %v: TV %.5f", alpha, tv)
				if !(tv >= c.low[i] && tv <= c.high[i]) {
					t.Errorf("α = %v: TV %.5f, want it in [%v, %v]", alpha, tv, c.low[i], c.high[i])
				}
			}
		})
	}
}

// How many rollouts go into a batch does not show, to the last bit: with
// quantised weights a token's logits are the same in any batch, and waves of
// any size leave a branch's tokens in the same order in the cache. Where not
// even all candidates can be open at once that order is another, and
// attention's sums differ in their last digits.
func TestTokensDoNotDependOnBatchesOnTheEngine(t *testing.T) {
	tiny := llmtest.Tiny{Seed: 1, Quantised: true}
	prompt := []llm.Token{0, 2, 1}
	for _, s := range []Sampler{Plain{}, LowTemperature{Alpha: 1.5}, Importance{Alpha: 1.5}, Importance{Alpha: 2, Proposal: 2, Rollouts: 5},
		Block{Alpha: 1.5, Tokens: 3, Blocks: 4, Rollouts: 3, LookAhead: 4}, MCMC{Alpha: 1.5, Block: 6, Moves: 3, Chains: 3}, Tempering{Alpha: 2, Replicas: 3, Moves: 3}, BestOf{N: 6}} {
		large := tinySession(t, tiny, llm.SessionOptions{})
		for _, c := range []struct {
			opt    llm.SessionOptions
			within float64 // of a step's probability
		}{
			{llm.SessionOptions{Branches: 11}, 0},
			{llm.SessionOptions{Branches: 20}, 0},
			{llm.SessionOptions{Context: 60}, 0},
			{llm.SessionOptions{Batch: 32}, 0},
			{llm.SessionOptions{Branches: 3}, 0.05},
		} {
			small := tinySession(t, tiny, c.opt)
			branches, room := small.Branches(), small.Room()
			for seed := range uint64(8) {
				o := Options{MaxTokens: 12, Seed: seed + 1}
				want, got := generateOn(t, large, prompt, s, o), generateOn(t, small, prompt, s, o)
				if !slices.Equal(tokensOf(got), tokensOf(want)) {
					t.Errorf("%s, seed %d, with %+v: tokens %v, want %v", s.Name(), o.Seed, c.opt, tokensOf(got), tokensOf(want))
					continue
				}
				for i := range want.Steps {
					if a, b := got.Steps[i].Prob, want.Steps[i].Prob; math.Abs(a-b) > c.within {
						t.Errorf("%s, seed %d, with %+v: step %d has probability %v, want %v", s.Name(), o.Seed, c.opt, i, a, b)
					}
				}
			}
			if small.Branches() != branches || small.Room() != room {
				t.Errorf("%s with %+v: %d branches and room for %d, had %d and %d", s.Name(), c.opt, small.Branches(), small.Room(), branches, room)
			}
		}
	}
}

// Rollouts that share a branch while they are equal have the tokens that they
// would have apart, and to the last bit their log-probabilities.
func TestMergedRolloutsOnTheEngine(t *testing.T) {
	s := tinySession(t, llmtest.Tiny{Seed: 1, Quantised: true}, llm.SessionOptions{})
	for _, alpha := range []float64{1.5, 3} {
		var nodes, tokens int
		for seed := range uint64(6) {
			opt := Options{MaxTokens: 10, Seed: seed + 1}
			merged := generateOn(t, s, []llm.Token{0, 2, 1}, Importance{Alpha: alpha, Proposal: alpha}, opt)
			apart := generateOn(t, s, []llm.Token{0, 2, 1}, Importance{Alpha: alpha, Proposal: alpha, NoMerge: true}, opt)
			if !reflect.DeepEqual(merged.Steps, apart.Steps) {
				t.Errorf("α = %v, seed %d: merged %v, apart %v, or other probabilities", alpha, seed, tokensOf(merged), tokensOf(apart))
			}
			nodes += merged.Cost.RolloutNodes
			tokens += merged.Cost.RolloutTokens
		}
		if nodes >= tokens {
			t.Errorf("α = %v: %d nodes for %d rollout tokens", alpha, nodes, tokens)
		}
		t.Logf("α = %v: distinct nodes ÷ rollout tokens %.2f", alpha, float64(nodes)/float64(tokens))
	}
}

// Whole completions through llama.cpp have the law that the model's own
// enumeration gives, as far as so few of them can tell; noise is what as many
// draws from the law itself would be off by.
func TestWholeCompletionsHaveTheirLawsOnTheEngine(t *testing.T) {
	const length, n = 3, 120
	prompt := []llm.Token{0, 2}
	s := tinySession(t, llmtest.Tiny{Seed: 1}, llm.SessionOptions{})
	law := enumerate(t, s, prompt, length)
	for _, c := range []struct {
		name   string
		make   func(alpha float64) Sampler
		alphas []float64
		low    float64
		high   float64 // and half as much again as the noise
	}{
		{"mcmc", func(a float64) Sampler { return MCMC{Alpha: a, Block: length, Moves: 30, Proposal: (1 + a) / 2} }, referenceAlphas, 0, .05},
		{"tempering", func(a float64) Sampler { return Tempering{Alpha: a, Replicas: 3, Moves: 20} }, referenceAlphas, 0, .05},
		{"smc", func(a float64) Sampler { return SMC{Alpha: a, Particles: 200, Proposal: (1 + a) / 2} }, []float64{1, 2, 4}, 0, .05},
		{"block", func(a float64) Sampler { return Block{Alpha: a, Tokens: 2, Blocks: 150} }, []float64{1, 2, 4}, 0, .05},
		{"wrong: mcmc without moves", func(a float64) Sampler { return MCMC{Alpha: a, Moves: NoMoves} }, referenceAlphas, .4, 1},
		{"wrong: mcmc that compares only what overlaps", func(a float64) Sampler {
			return overlap{MCMC{Alpha: a, Block: length, Moves: 30, Proposal: (1 + a) / 2}}
		}, []float64{2}, .3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, alpha := range c.alphas {
				want := law.Power(alpha)
				tv, floor := toy.TotalVariation(emitted(t, s, law, prompt, length, n, c.make(alpha)), want), noise(want, n)
				t.Logf("α = %v: TV %.4f, of which noise %.4f", alpha, tv, floor)
				if tv < c.low || tv > c.high+1.5*floor {
					t.Errorf("α = %v: TV %.4f, want it in [%v, %v + 1.5·%.4f]", alpha, tv, c.low, c.high, floor)
				}
			}
		})
	}
}
