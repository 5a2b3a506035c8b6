package samplers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// autoregressive is a chain x_t = ρ·x_{t−1} + noise, about at.
func autoregressive(seed uint64, n int, rho, at float64) []float64 {
	r := Rand(seed, Key{Stream: "ar"})
	x := r.NormFloat64() / math.Sqrt(1-rho*rho)
	xs := make([]float64, n)
	for i := range xs {
		x = rho*x + r.NormFloat64()
		xs[i] = x + at
	}
	return xs
}

func TestRHat(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name      string
		chains    [][]float64
		low, high float64
	}{
		{"by hand", [][]float64{{1, 2, 3, 4}}, 2.1213, 2.1214}, // halves of 2: W = ½, B/n = 2, √(½ + 2/½)
		{"two that agree", [][]float64{autoregressive(1, 2000, 0, 0), autoregressive(2, 2000, 0, 0)}, .99, 1.01},
		{"two that do not", [][]float64{autoregressive(1, 2000, 0, 0), autoregressive(2, 2000, 0, 3)}, 1.7, 2.2},
		{"one that drifts", [][]float64{append(autoregressive(1, 500, 0, 0), autoregressive(2, 500, 0, 3)...)}, 2, 3},
		{"all constant", [][]float64{{7, 7, 7, 7}, {7, 7, 7, 7}}, 1, 1},
		{"constants that differ", [][]float64{{7, 7, 7, 7}, {8, 8, 8, 8}}, math.Inf(1), math.Inf(1)},
		{"too short", [][]float64{{1, 2, 3}}, 0, 0},
		{"none", nil, 0, 0},
		{"not a number", [][]float64{{1, nan, 3, 4}}, 0, 0},
	} {
		if got := RHat(c.chains); !(got >= c.low && got <= c.high) {
			t.Errorf("%s: %v, want it in [%v, %v]", c.name, got, c.low, c.high)
		}
	}
}

func TestAutocorrelation(t *testing.T) {
	for _, rho := range []float64{0, .5, .9} {
		var chains [][]float64
		for seed := range uint64(4) {
			chains = append(chains, autoregressive(seed, 20000, rho, 5))
		}
		want := (1 + rho) / (1 - rho)
		if got := Autocorrelation(chains); !near(got, want, .1*want) {
			t.Errorf("ρ = %v: %v, want %v", rho, got, want)
		}
	}
	if got := Autocorrelation([][]float64{{7, 7, 7, 7, 7}}); got != 0 {
		t.Errorf("of a chain that stands still: %v, want 0, not measured", got)
	}
}

// The ratio of a move uses the generated tokens from the cut on, whatever the
// prompt is and wherever the cut: for prompts of the begin token alone and of
// seven more, and every cut, the recorded ratio is that of the enumerated
// probabilities of the whole completions, [p(x')^α q(x)] / [p(x)^α q(x')],
// in which all before the cut cancels.
func TestRatioUsesGeneratedTokensFromTheCutOn(t *testing.T) {
	const length, alpha = 4, 3.0
	ctx := context.Background()
	for _, b := range []float64{alpha, 1} {
		for _, prompt := range [][]llm.Token{{4}, {4, 0, 1, 2, 0, 2, 1, 1}} {
			m := newToy(t, toy.Options{Seed: 7, Vocabulary: 4})
			law, err := m.Law(prompt, length)
			if err != nil {
				t.Fatal(err)
			}
			logP := map[string]float64{}
			for _, c := range law.Completions() {
				logP[fmt.Sprint(c.Tokens)] = c.LogProb
			}
			logQ := func(ts []llm.Token, cut int) (q float64) { // of the tokens from cut on
				last := prompt[len(prompt)-1]
				for i, token := range ts {
					lps := m.LogProbs(last)
					scaled := make([]float64, len(lps))
					for v := range lps {
						scaled[v] = b * lps[v]
					}
					if i >= cut {
						q += b*lps[token] - LogSumExp(scaled)
					}
					last = token
				}
				return q
			}
			seen := make([]int, length)
			s := MCMC{Alpha: alpha, Block: length, Moves: 20, Proposal: b}.withDefaults()
			for seed := range uint64(20) {
				st, err := s.Init(ctx, m, prompt, Options{MaxTokens: length, Seed: seed + 1})
				for err == nil && st.End == "" {
					st, _, err = s.step(ctx, m, st, func(x, proposed *draw, cut int) float64 {
						got := s.logRatio(x, proposed, cut)
						want := alpha*(logP[fmt.Sprint(proposed.Tokens)]-logP[fmt.Sprint(x.Tokens)]) +
							logQ(x.Tokens, cut) - logQ(proposed.Tokens, cut)
						if !near(got, want, 1e-9) {
							t.Errorf("b = %v, prompt %v, cut %d, from %v to %v: log ratio %v, want %v", b, prompt, cut, x.Tokens, proposed.Tokens, got, want)
						}
						seen[cut]++
						return got
					})
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := m.Drop(st.Branch); err != nil {
					t.Fatal(err)
				}
			}
			for cut, n := range seen {
				if n == 0 {
					t.Errorf("no move was cut at %d", cut)
				}
			}
			// And the chain's law is the power law.
			want := law.Power(alpha)
			got := emitted(t, m, law, prompt, length, 500, MCMC{Alpha: alpha, Block: length, Moves: 300, Proposal: b})
			if tv, most := toy.TotalVariation(got, want), .03+2*noise(want, 500); tv > most {
				t.Errorf("b = %v, prompt of %d tokens: TV %.4f from the power law, want at most %.4f", b, len(prompt), tv, most)
			}
		}
	}
	m := newToy(t, toy.Options{Seed: 7})
	if _, err := Generate(ctx, m, nil, MCMC{Alpha: 2}, Options{}); !errors.Is(err, ErrPrompt) {
		t.Errorf("a prompt without any token: error %v, want ErrPrompt", err)
	}
}

func TestDiagnose(t *testing.T) {
	steps := []llm.StepRecord{{}}
	particles := map[string]float64{"particles": 40}
	for _, c := range []struct {
		name string
		rec  llm.Record
		want string // beginning of the only warning; "" for none
	}{
		{"nothing to tell", llm.Record{Steps: steps}, ""},
		{"few moves accepted", llm.Record{Steps: steps, Params: map[string]float64{"moves": 10}, Diagnostics: llm.Diagnostics{Proposed: 100, Acceptance: .02}}, "2 % of 100 moves were accepted"},
		{"few proposals to Metropolis' chain, whose estimate does not need them", llm.Record{Steps: steps, Diagnostics: llm.Diagnostics{Proposed: 100, Acceptance: .02}}, ""},
		{"chains that differ", llm.Record{Steps: steps, Diagnostics: llm.Diagnostics{RHat: 1.3, Chains: [][]float64{{1}}}}, "R-hat 1.30 is above 1.1"},
		{"a chain with a long memory", llm.Record{Steps: steps, Diagnostics: llm.Diagnostics{RHat: 1, Autocorrelation: 5, Chains: [][]float64{make([]float64, 20)}}}, "20 moves of a chain with autocorrelation 5.0 count as 4.0"},
		{"one particle that counts", llm.Record{Steps: steps, End: llm.EndToken, Params: particles, Diagnostics: llm.Diagnostics{ESS: 1.2}}, "effective sample size of the particles fell to 1.20 of 40"},
		{"one ancestor", llm.Record{Steps: steps, End: llm.EndToken, Params: particles, Diagnostics: llm.Diagnostics{ESS: 9, Ancestors: []llm.Resampling{{Parents: make([]int, 40)}}}}, "the 40 particles descend from 1"},
		{"a jackknife of noise", llm.Record{Steps: steps, Diagnostics: llm.Diagnostics{Clamped: .2}}, "the jackknife set 0.2"},
	} {
		got := diagnose(&c.rec)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: warnings %q, want %q", c.name, got, c.want)
		}
	}
}

// Replicas that exchange what they found are nearer to the power law than one
// chain after as many moves, where that is slow to mix.
func TestTemperingBeatsOneChain(t *testing.T) {
	const length, n, moves = 4, 800, 12
	got := eachToy(t, 6, func(m *toy.Model, _ *toy.Law) []float64 {
		law, err := m.Law(m.Prompt(), length)
		if err != nil {
			t.Error(err)
			return make([]float64, 2)
		}
		want := law.Power(4)
		return []float64{
			toy.TotalVariation(emitted(t, m, law, m.Prompt(), length, n, Tempering{Alpha: 4, Replicas: 3, Moves: moves}), want),
			toy.TotalVariation(emitted(t, m, law, m.Prompt(), length, n, MCMC{Alpha: 4, Block: length, Moves: moves}), want),
		}
	})
	t.Logf("mean TV at α = 4 after %d moves: three replicas %.3f, one chain %.3f", moves, got[0], got[1])
	if got[0] > .7*got[1] {
		t.Errorf("three replicas %.3f, one chain %.3f: want at most 0.7 of it", got[0], got[1])
	}
}

func TestChainDiagnostics(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 5})
	rec := generateOn(t, m, m.Prompt(), MCMC{Alpha: 2, Block: 3, Moves: 40, Chains: 4}, Options{MaxTokens: 6, Seed: 1})
	d := rec.Diagnostics
	if len(d.Chains) != 4 || len(d.Chains[0]) != 40 || !(d.Proposed > 80 && d.Proposed <= 4*80) || !(d.Acceptance > 0 && d.Acceptance <= 1) || !(d.RHat > .9) || !(d.Autocorrelation > 0) {
		t.Errorf("%+v", d)
	}
	last := d.Chains[0][39]
	var lp float64
	for _, s := range rec.Steps {
		lp += s.LogProb
	}
	if !near(lp, last, 1e-9) {
		t.Errorf("the completion has log p %v, the first chain's last is %v", lp, last)
	}
	if rec.Cost.Forecast < rec.Cost.Decoded || rec.Cost.Forecast == 0 {
		t.Errorf("cost %+v", rec.Cost)
	}
	tempered := generateOn(t, m, m.Prompt(), Tempering{Alpha: 4, Moves: 30}, Options{MaxTokens: 6, Seed: 1}).Diagnostics
	if len(tempered.Chains) != 1 || len(tempered.Chains[0]) != 31 || !(tempered.Proposed > 30 && tempered.Proposed <= 4*30) || !(tempered.Swaps > 0 && tempered.Swaps <= 1) {
		t.Errorf("%+v", tempered)
	}

	metropolis := generateOn(t, m, m.Prompt(), Power{Alpha: 2}.With(&MetropolisBranch{}), Options{MaxTokens: 4, Seed: 1}).Diagnostics
	if metropolis.Proposed == 0 || !(metropolis.Acceptance > 0 && metropolis.Acceptance < 1) || !(metropolis.ESS > 0) {
		t.Errorf("%+v", metropolis)
	}
}

// The standard error falls with the number of rollouts, about as 1/√M.
func TestErrorsByRollouts(t *testing.T) {
	var two, all float64
	for seed := range uint64(40) {
		m := newToy(t, toy.Options{Seed: seed})
		d := generateOn(t, m, m.Prompt(), Importance{Alpha: 2, Rollouts: 48}, Options{MaxTokens: 5, Seed: seed + 1}).Diagnostics
		if len(d.Errors) == 0 {
			continue // it ended at once, or had one candidate
		}
		want := []int{2, 4, 8, 16, 32, 48}
		for i, e := range d.Errors {
			if e.Rollouts != want[i] {
				t.Fatalf("seed %d: errors %v", seed, d.Errors)
			}
		}
		two += d.Errors[1].SE
		all += d.Errors[5].SE
	}
	if ratio := two / all; ratio < 2 || ratio > 6 { // √12 = 3.5
		t.Errorf("standard errors with 4 and 48 rollouts are %.3f and %.3f", two, all)
	}
}

func TestWarningsOfWholeCompletions(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 2, Vocabulary: 40, Ends: []llm.Token{}})
	for _, c := range []struct {
		name string
		s    Sampler
		max  int
		want string // beginning of one of them; "" for none at all
	}{
		{"a chain that hardly moves", MCMC{Alpha: 12, Block: 40, Moves: 40, Proposal: 1}, 40, "R-hat "},
		{"particles of one lineage", SMC{Alpha: 4, Particles: 64, Proposal: 1}, 40, "the 64 particles descend from "},
		{"particles that count for one", SMC{Alpha: 12, Particles: 8, Proposal: 1}, 30, "effective sample size of the particles fell to "},
		{"samples of the model", BestOf{}, 10, ""},
	} {
		rec := generateOn(t, m, m.Prompt(), c.s, Options{MaxTokens: c.max, Seed: 3})
		found := c.want == ""
		for _, w := range rec.Warnings {
			found = found || strings.HasPrefix(w, c.want)
		}
		if !found {
			t.Errorf("%s: warnings %q, want one that begins with %q; %+v", c.name, rec.Warnings, c.want, rec.Diagnostics.Acceptance)
		}
	}
}
