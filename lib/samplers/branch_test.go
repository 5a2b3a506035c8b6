package samplers

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// Rollouts that share a branch while they are equal are the rollouts that they
// would be apart, to the last bit, and fewer tokens are decoded.
func TestMergedRolloutsGiveTheSameEstimates(t *testing.T) {
	for _, c := range []struct{ merged, apart Sampler }{
		{Importance{Alpha: 4}, Importance{Alpha: 4, NoMerge: true}},
		{Importance{Alpha: 2, Rollouts: 30, Proposal: 2}, Importance{Alpha: 2, Rollouts: 30, Proposal: 2, NoMerge: true}},
		{Block{Alpha: 3, Tokens: 3}, Block{Alpha: 3, Tokens: 3, NoMerge: true}},
	} {
		var merged, apart llm.Cost
		for seed := range uint64(30) {
			m := newToy(t, toy.Options{Seed: seed, Vocabulary: 6})
			opt := Options{MaxTokens: 10, Seed: seed + 1}
			a, b := generateOn(t, m, m.Prompt(), c.merged, opt), generateOn(t, m, m.Prompt(), c.apart, opt)
			if !reflect.DeepEqual(a.Steps, b.Steps) {
				t.Errorf("%s, seed %d: merged %v, apart %v, or other probabilities", c.merged.Name(), seed, tokensOf(a), tokensOf(b))
			}
			if a.Cost.RolloutTokens != b.Cost.RolloutTokens || b.Cost.RolloutNodes != b.Cost.RolloutTokens {
				t.Errorf("%s, seed %d: merged %+v, apart %+v", c.merged.Name(), seed, a.Cost, b.Cost)
			}
			merged.RolloutNodes += a.Cost.RolloutNodes
			merged.RolloutTokens += a.Cost.RolloutTokens
			merged.Decoded += a.Cost.Decoded
			apart.Decoded += b.Cost.Decoded
		}
		if merged.RolloutNodes >= merged.RolloutTokens || merged.Decoded >= apart.Decoded {
			t.Errorf("%s: %d nodes for %d rollout tokens, %d decoded and apart %d", c.merged.Name(), merged.RolloutNodes, merged.RolloutTokens, merged.Decoded, apart.Decoded)
		}
		t.Logf("%s: distinct nodes ÷ rollout tokens %.2f", c.merged.Name(), float64(merged.RolloutNodes)/float64(merged.RolloutTokens))
	}
}

// From the same draws Metropolis' estimate is Importance's without the
// jackknife, whatever the chain did.
func TestMetropolisUsesAllProposals(t *testing.T) {
	for seed := range uint64(10) {
		m := newToy(t, toy.Options{Seed: seed})
		opt := Options{MaxTokens: 6, Seed: seed + 1}
		c := Candidates{TopK: 5}
		want := generateOn(t, m, m.Prompt(), Importance{Alpha: 3, Candidates: c, Rollouts: 12, Proposal: 2, NoJackknife: true}, opt)
		for _, s := range []Sampler{
			Power{Alpha: 3, Candidates: c, Proposal: 2}.With(&MetropolisBranch{Proposals: 12}),
			Power{Alpha: 3, Candidates: c, Proposal: 2}.With(&ImportanceBranch{Rollouts: 12}),
		} {
			got := generateOn(t, m, m.Prompt(), s, opt)
			for i, step := range got.Steps {
				for j, c := range step.Candidates {
					if w := want.Steps[i].Candidates[j]; !near(c.Prob, w.Prob, 1e-12) || !near(c.ProbSE, w.ProbSE, 1e-12) || c.ESS != w.ESS {
						t.Fatalf("%s, seed %d, step %d: %+v, want %+v", s.Name(), seed, i, c, w)
					}
				}
			}
		}
	}
}

// The chain that MetropolisBranch runs has the law p^α over futures, so that
// its acceptance is that of the enumerated independence chain, and the states'
// average tends to S_2α/S_α.
func TestMetropolisChain(t *testing.T) {
	const alpha, proposals = 2, 60000
	future := func(p float64) Future {
		return Future{Tokens: []llm.Token{0}, LogProbs: []float64{math.Log(p)}, LogZs: []float64{0}}
	}
	probs := []float64{.5, .3, .2}
	var acceptance, s1, s2 float64
	for _, p := range probs {
		s1 += math.Pow(p, alpha)
		s2 += math.Pow(p, 2*alpha)
	}
	for _, p := range probs {
		for _, q := range probs {
			acceptance += math.Pow(p, alpha) / s1 * q * min(1, math.Pow(q/p, alpha-1))
		}
	}
	for _, average := range []bool{false, true} {
		b := &MetropolisBranch{Proposals: proposals, StateAverage: average}
		b.Reset(Outlook{Alpha: alpha, Proposal: 1, Depth: 1, Rand: Rand(1, Key{})})
		draws := Rand(2, Key{})
		for b.ShouldContinue() {
			b.Step(future(probs[pick(probs, draws.Float64())]))
		}
		proposed, accepted := b.moves()
		if got := float64(accepted) / float64(proposed); proposed != proposals-1 || !near(got, acceptance, .01) {
			t.Errorf("%d of %d accepted, %.3f; want %.3f", accepted, proposed, got, acceptance)
		}
		want := s1
		if average {
			want = s2 / s1
		}
		if got := math.Exp(b.FutureLogProb()); !near(got, want, .01) {
			t.Errorf("state average %v: ζ %.4f, want %.4f", average, got, want)
		}
	}
}

// A beam's sum is a lower bound of ζ at its depth, and grows with its width.
func TestBeamIsALowerBound(t *testing.T) {
	const length, depth = 6, 4
	for seed := range uint64(30) {
		m := newToy(t, toy.Options{Seed: seed})
		law, err := m.Law(m.Prompt(), length)
		if err != nil {
			t.Fatal(err)
		}
		before := map[llm.Token]float64{}
		for _, width := range []int{1, 2, 3, 1000} {
			s := Power{Alpha: 2, LookAhead: depth, Candidates: Candidates{TopK: 5}}.WithBeam(&BeamBranch{Width: width})
			rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: length, Seed: 1})
			for _, c := range rec.Steps[0].Candidates {
				exact := law.LogZeta([]llm.Token{c.Token}, 2, depth)
				if c.LogZeta > exact+1e-12 || width == 1000 && !near(c.LogZeta, exact, 1e-12) {
					t.Errorf("seed %d, width %d: log ζ of %s is %v, enumerated %v", seed, width, c.Piece, c.LogZeta, exact)
				}
				if b, ok := before[c.Token]; ok && c.LogZeta < b-1e-12 {
					t.Errorf("seed %d: log ζ of %s falls from %v to %v as the width grows to %d", seed, c.Piece, b, c.LogZeta, width)
				}
				before[c.Token] = c.LogZeta
			}
		}
	}
}

// greedyBranch never has enough, deceiving returns what is no number.
type greedyBranch struct{ patient }

func (*greedyBranch) ShouldContinue() bool { return true }

type deceiving struct{ patient }

func (*deceiving) FutureLogProb() float64 { return math.NaN() }

func TestBranchSamplersThatAreBroken(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 1})
	for _, c := range []struct {
		name string
		s    Sampler
		want string
	}{
		{"none", Power{Alpha: 2}.With(nil), "no branch sampler"},
		{"one that is never done", Power{Alpha: 2}.With(&greedyBranch{}), "wants more than 4096 futures"},
		{"one that gives no number", Power{Alpha: 2}.With(&deceiving{}), "says that log ζ of token"},
		{"all states before equilibrium", Power{Alpha: 2}.With(&MetropolisBranch{Proposals: 5}), "equilibration is 5, want fewer than the 5 proposals"},
		{"equilibration past the proposals", Power{Alpha: 2}.With(&MetropolisBranch{Equilibration: 40}), "equilibration is 40, want fewer than the 30 proposals"},
		{"negative proposals", Power{Alpha: 2}.With(&MetropolisBranch{Proposals: -1}), "proposals is -1"},
		{"negative width", Power{Alpha: 2}.WithBeam(&BeamBranch{Width: -3}), "width is -3"},
		{"no function", Adjust{}, "there is no function"},
		{"too few weights", Adjust{Func: func(context.Context, *Adjustment) ([]float64, error) { return []float64{1}, nil }}, "1 weight for 5 candidates"},
		{"a function that fails", Adjust{Func: func(context.Context, *Adjustment) ([]float64, error) { return nil, errBroken }}, "out of ideas"},
		{"a function that forbids all", Adjust{Func: func(_ context.Context, a *Adjustment) ([]float64, error) {
			lw := a.LogProbs()
			for i := range lw {
				lw[i] = math.Inf(-1)
			}
			return lw, nil
		}}, "no token left"},
	} {
		branches, room := m.Branches(), m.Room()
		_, err := Generate(context.Background(), m, m.Prompt(), c.s, Options{MaxTokens: 5, Seed: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if m.Branches() != branches || m.Room() != room {
			t.Errorf("%s: a branch is left open", c.name)
		}
	}
}

func TestNewPowerHasNoDefaults(t *testing.T) {
	s, err := NewPower(4, 0, &MetropolisBranch{})
	if err != nil || s.Params()["look_ahead"] != 0 {
		t.Errorf("depth 0 gives %v, error %v; want no look-ahead", s, err)
	}
	for _, c := range []struct {
		alpha float64
		depth int
		want  string
	}{{0, 5, "alpha"}, {-2, 5, "alpha"}, {math.NaN(), 5, "alpha"}, {math.Inf(1), 5, "alpha"}, {4, -1, "look-ahead"}} {
		_, err := NewPower(c.alpha, c.depth, &MetropolisBranch{})
		var param *ParamError
		if !errors.As(err, &param) || param.Name != c.want {
			t.Errorf("NewPower(%v, %d): error %v, want one about %s", c.alpha, c.depth, err, c.want)
		}
	}
}

// An adjust function sees what was chosen before, and may look anywhere.
func TestAdjustmentTellsWhatItIsAsked(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 4, Ends: []llm.Token{}})
	var steps, resets int
	s := Adjust{
		Label: "curious",
		Reset: func() { resets++ },
		Func: func(ctx context.Context, a *Adjustment) ([]float64, error) {
			if len(a.Tokens) != steps || len(a.Probs) != steps || a.Left != 6-steps || !reflect.DeepEqual(a.Prompt, m.Prompt()) {
				t.Errorf("step %d: tokens %v, probabilities %v, %d left", steps, a.Tokens, a.Probs, a.Left)
			}
			steps++
			next, err := a.Next(ctx, []llm.Token{a.Candidates[0].Token}, 5)
			if err != nil {
				return nil, err
			}
			want := m.LogProbs(a.Candidates[0].Token)
			for _, n := range next {
				if n.LogProb != want[n.Token] {
					t.Errorf("step %d: log p of %d after %d is %v, want %v", steps, n.Token, a.Candidates[0].Token, n.LogProb, want[n.Token])
				}
			}
			one, err := a.Futures(ctx, 3, 4, 1)
			if err != nil {
				return nil, err
			}
			two, err := a.Futures(ctx, 3, 4, 1)
			if err != nil {
				return nil, err
			}
			if steps < 4 && reflect.DeepEqual(one, two) {
				t.Errorf("step %d: two calls drew the same futures", steps)
			}
			for i := range one {
				for _, f := range one[i] {
					if len(f.Tokens) != min(3, a.Left-1) {
						t.Errorf("step %d: future %v with %d left", steps, f.Tokens, a.Left)
					}
				}
			}
			if _, err := a.Futures(ctx, 0, 4, 1); err == nil {
				t.Error("futures of depth 0 are no error")
			}
			if _, err := a.Zeta(ctx, -1, 4, &ImportanceBranch{}); err == nil {
				t.Error("ζ at α = -1 is no error")
			}
			if _, err := a.Model.Fork(a.State.Branch, 2); err != nil { // and forgets them
				return nil, err
			}
			return a.LogProbs(), nil
		},
	}
	rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 6, Seed: 3})
	if rec.Sampler != "curious" || len(rec.Steps) != 6 || steps != 6 || resets != 1 || rec.Cost.RolloutTokens == 0 {
		t.Errorf("sampler %q, %d steps, function called %d times, reset %d times, cost %+v", rec.Sampler, len(rec.Steps), steps, resets, rec.Cost)
	}
}
