package samplers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
	"pgregory.net/rapid"
)

// particleLaw is the law of SMC's completions: that of the last step's draw,
// averaged over seeds. All particles count by their weight, which is the
// probability that the draw has, so that little noise is left.
func particleLaw(t testing.TB, m *toy.Model, law *toy.Law, s SMC, seeds int) []float64 {
	index := map[string]int{}
	for i, c := range law.Completions() {
		index[fmt.Sprint(c.Tokens)] = i
	}
	ctx := context.Background()
	mean := make([]float64, len(law.Completions()))
	for seed := 1; seed <= seeds; seed++ {
		st, err := s.Init(ctx, m, m.Prompt(), Options{MaxTokens: horizon, Seed: uint64(seed)})
		var info Info
		for err == nil && st.End == "" {
			st, info, err = s.Step(ctx, m, st)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range st.Carried().(*swarm).draws {
			mean[index[fmt.Sprint(d.Tokens)]] += info.Scores[i] / float64(seeds)
		}
		if err := m.Drop(st.Branch); err != nil {
			t.Fatal(err)
		}
	}
	return mean
}

func TestSMCMatchesTheReferences(t *testing.T) {
	for _, c := range []struct {
		particles, seeds int
		want             [2]float64 // mean TV at α = 2 and 4
	}{{8, 400, [2]float64{.117, .327}}, {32, 150, [2]float64{.035, .198}}} {
		got := eachToy(t, toys, func(m *toy.Model, law *toy.Law) (tvs []float64) {
			for _, alpha := range referenceAlphas {
				tvs = append(tvs, toy.TotalVariation(particleLaw(t, m, law, SMC{Alpha: alpha, Particles: c.particles}, c.seeds), law.Power(alpha)))
			}
			return tvs
		})
		t.Logf("%d particles: mean TV %.4f, references %.3f", c.particles, got, c.want)
		for i := range got {
			if got[i] > 1.35*c.want[i] || got[i] < .65*c.want[i] {
				t.Errorf("%d particles, α = %v: mean TV %.4f, reference %.3f", c.particles, referenceAlphas[i], got[i], c.want[i])
			}
		}
	}
}

// Systematic resampling gives index i N·p_i places, rounded down or up, in
// order, and nothing to the impossible.
func TestSystematicResampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lw := rapid.SliceOfN(rapid.Float64Range(-20, 0), 1, 40).Draw(t, "lw")
		for i := range lw {
			if rapid.IntRange(0, 4).Draw(t, "none") == 0 && i > 0 {
				lw[i] = math.Inf(-1)
			}
		}
		probs, err := Normalise(lw)
		if err != nil {
			t.Fatal(err)
		}
		parents := systematic(probs, rapid.Float64Range(0, .999999).Draw(t, "u"))
		if len(parents) != len(probs) || !slices.IsSorted(parents) {
			t.Fatalf("parents %v", parents)
		}
		for i, p := range probs {
			var places float64
			for _, parent := range parents {
				if parent == i {
					places++
				}
			}
			fair := p * float64(len(probs))
			if places < math.Floor(fair-1e-9) || places > math.Ceil(fair+1e-9) || p == 0 && places > 0 {
				t.Fatalf("index %d of probability %v has %v of %d places", i, p, places, len(probs))
			}
		}
	})
}

// The genealogy in the record is that of the completion: whoever is followed
// back from it existed.
func TestGenealogy(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 3, Vocabulary: 9})
	resampled := 0
	for seed := range uint64(20) {
		rec := generateOn(t, m, m.Prompt(), SMC{Alpha: 4, Particles: 16}, Options{MaxTokens: 12, Seed: seed + 1})
		at := -1
		for _, g := range rec.Diagnostics.Ancestors {
			resampled++
			if len(g.Parents) != 16 || g.At <= at || g.At >= 12 || g.ESS >= 8 || g.ESS <= 0 {
				t.Fatalf("seed %d: %+v after one at %d", seed, g, at)
			}
			at = g.At
		}
		if n := distinct(rec.Diagnostics.Ancestors); len(rec.Diagnostics.Ancestors) > 0 && (n < 1 || n > 16) {
			t.Errorf("seed %d: %d ancestors", seed, n)
		}
		if len(rec.Diagnostics.Scores) != 16 || !near(sum(rec.Diagnostics.Scores), 1, 1e-9) || !(rec.Diagnostics.ESS >= 1) {
			t.Errorf("seed %d: weights %v, ESS %v", seed, rec.Diagnostics.Scores, rec.Diagnostics.ESS)
		}
	}
	if resampled == 0 {
		t.Error("nothing was ever resampled")
	}
	if n := distinct([]llm.Resampling{{Parents: []int{0, 0, 2, 2}}, {Parents: []int{0, 1, 1, 0}}}); n != 1 {
		t.Errorf("%d ancestors, want 1", n)
	}
}

// All particles are in the cache together: too many are an error that says
// how many there may be, and a full cache ends them where they are.
func TestParticlesMustFit(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 1, Limits: toy.Limits{Branches: 257}})
	_, err := Generate(context.Background(), m, m.Prompt(), SMC{Alpha: 2, Particles: 300}, Options{})
	if !errors.Is(err, llm.ErrBranches) || err.Error() != "samplers: smc: 300 particles wanted, 256 branches are free: too many branches" {
		t.Errorf("300 particles: error %v", err)
	}
	if m.Branches() != 257 {
		t.Error("a branch is left open")
	}
	small := newToy(t, toy.Options{Seed: 1, Ends: []llm.Token{}, Limits: toy.Limits{Room: 40}})
	rec := generateOn(t, small, small.Prompt(), SMC{Alpha: 2, Particles: 16}, Options{MaxTokens: 30, Seed: 1})
	if n := len(rec.Steps); rec.End != llm.EndContext || n == 0 || n >= 30 {
		t.Errorf("%d tokens, end %q; want some and %q", n, rec.End, llm.EndContext)
	}
	// Rollouts, samples and moves need not fit together: they take turns.
	for _, s := range []Sampler{
		Importance{Alpha: 2, Rollouts: 300, LookAhead: 3}, BestOf{N: 300}, Majority{N: 300},
		Power{Alpha: 2, LookAhead: 3}.With(&MetropolisBranch{Proposals: 300}), Block{Alpha: 2, Blocks: 300, Tokens: 3},
		MCMC{Alpha: 2, Moves: 2, Chains: 300}, Tempering{Alpha: 2, Replicas: 300, Moves: 2},
	} {
		m := newToy(t, toy.Options{Seed: 1, Limits: toy.Limits{Branches: 64}})
		if rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 6, Seed: 1}); len(rec.Steps) == 0 {
			t.Errorf("%s: no tokens", s.Name())
		}
	}
}
