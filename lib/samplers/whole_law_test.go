package samplers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// Samplers of whole completions are tested by what they emit. Their laws are over
// the completions of small chains: three tokens, the last of which ends, and
// three steps make 15, so that a few thousand completions tell the law to
// within a percent or two.

// emitted is the law of a sampler's completions over n seeds.
func emitted(t testing.TB, m Model, law *toy.Law, prompt []llm.Token, length, n int, s Sampler) []float64 {
	t.Helper()
	index := map[string]int{}
	for i, c := range law.Completions() {
		index[fmt.Sprint(c.Tokens)] = i
	}
	ctx := context.Background()
	counts := make([]float64, len(law.Completions()))
	for seed := 1; seed <= n; seed++ {
		st, err := s.Init(ctx, m, prompt, Options{MaxTokens: length, Seed: uint64(seed)})
		for err == nil && st.End == "" {
			st, _, err = s.Step(ctx, m, st)
		}
		if err == nil {
			err = m.Drop(st.Branch)
		}
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		i, ok := index[fmt.Sprint(st.Tokens)]
		if !ok {
			t.Fatalf("%s: %v is no completion", s.Name(), st.Tokens)
		}
		counts[i] += 1 / float64(n)
	}
	return counts
}

// noise is the mean total variation between a law and n draws from it.
func noise(law []float64, n int) (tv float64) {
	for _, p := range law {
		tv += math.Sqrt(p * (1 - p) / (2 * math.Pi * float64(n)))
	}
	return tv
}

// overlap is MCMC with the published acceptance: only the tokens that both
// completions have are compared, and a longer proposal is refused.
type overlap struct{ MCMC }

func (o overlap) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	c := o.withDefaults()
	return c.step(ctx, m, s, func(x, proposed *draw, cut int) float64 {
		n := min(len(x.Tokens), len(proposed.Tokens))
		if len(proposed.Tokens) > len(x.Tokens) {
			return math.Inf(-1)
		}
		return proposed.cut(n, 0, stream{}).logWeightFrom(cut, c.Alpha, c.Proposal) - x.cut(n, 0, stream{}).logWeightFrom(cut, c.Alpha, c.Proposal)
	})
}

// endless is MCMC that leaves end tokens out of the ratio.
type endless struct{ MCMC }

func (o endless) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	c := o.withDefaults()
	without := func(d *draw) *draw {
		n := len(d.Tokens)
		if d.Ended {
			n--
		}
		return d.cut(n, 0, stream{})
	}
	return c.step(ctx, m, s, func(x, proposed *draw, cut int) float64 {
		return c.logRatio(without(x), without(proposed), cut)
	})
}

func TestWholeCompletionsHaveTheirLaws(t *testing.T) {
	const length, chains = 3, 3
	type bound struct{ alpha, low, high float64 } // of the mean TV, noise not counted
	for _, c := range []struct {
		name   string
		make   func(alpha float64) Sampler
		target func(m *toy.Model, law *toy.Law, alpha float64) []float64 // nil: π_α
		n      int
		bounds []bound
	}{
		{
			name:   "mcmc, blocks of one token and 20 moves",
			make:   func(a float64) Sampler { return MCMC{Alpha: a, Block: 1, Moves: 20} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "mcmc, one block, proposals from p",
			make:   func(a float64) Sampler { return MCMC{Alpha: a, Block: 3, Moves: 40, Proposal: 1} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "mcmc without moves draws from q",
			make:   func(a float64) Sampler { return MCMC{Alpha: a, Block: 2, Moves: NoMoves} },
			target: func(_ *toy.Model, law *toy.Law, a float64) []float64 { return lowTemperature(law, a) },
			n:      3000,
			bounds: []bound{{1, 0, .01}, {2, 0, .01}, {4, 0, .01}},
		},
		{
			name:   "wrong: mcmc that compares only what overlaps",
			make:   func(a float64) Sampler { return overlap{MCMC{Alpha: a, Block: 1, Moves: 20}} },
			n:      800,
			bounds: []bound{{2, .15, 1}, {4, .08, 1}},
		},
		{
			name:   "wrong: mcmc that leaves end tokens out",
			make:   func(a float64) Sampler { return endless{MCMC{Alpha: a, Block: 1, Moves: 20}} },
			n:      800,
			bounds: []bound{{2, .05, 1}, {4, .06, 1}},
		},
		{
			name:   "tempering with 3 replicas",
			make:   func(a float64) Sampler { return Tempering{Alpha: a, Replicas: 3, Moves: 25} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "smc with 32 particles",
			make:   func(a float64) Sampler { return SMC{Alpha: a, Particles: 32} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "smc with 32 particles and a ramp",
			make:   func(a float64) Sampler { return SMC{Alpha: a, Particles: 32, Ramp: 3} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "smc with a ramp past the horizon",
			make:   func(a float64) Sampler { return SMC{Alpha: a, Particles: 64, Ramp: 8, Proposal: 1} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name: "block importance",
			make: func(a float64) Sampler {
				return Block{Alpha: a, Tokens: 2, Blocks: 30, Rollouts: 8}
			},
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "block importance, one block for all",
			make:   func(a float64) Sampler { return Block{Alpha: a, Tokens: 5, Blocks: 60, Proposal: 1} },
			n:      800,
			bounds: []bound{{1, 0, .01}, {2, 0, .02}, {4, 0, .03}},
		},
		{
			name:   "best of 3 by sum",
			make:   func(float64) Sampler { return BestOf{N: 3} },
			target: bestOf3(ScoreSum),
			n:      3000,
			bounds: []bound{{1, 0, .01}},
		},
		{
			name:   "best of 3 by mean",
			make:   func(float64) Sampler { return BestOf{N: 3, Score: ScoreMean} },
			target: bestOf3(ScoreMean),
			n:      3000,
			bounds: []bound{{1, 0, .01}},
		},
		{
			name:   "best of 3 per byte",
			make:   func(float64) Sampler { return BestOf{N: 3, Score: ScorePerByte} },
			target: bestOf3(ScorePerByte),
			n:      3000,
			bounds: []bound{{1, 0, .01}},
		},
		{
			name:   "majority of 3",
			make:   func(float64) Sampler { return Majority{N: 3} },
			target: majorityOf3,
			n:      3000,
			bounds: []bound{{1, 0, .01}},
		},
		{
			name:   "best of 1 at a temperature",
			make:   func(a float64) Sampler { return BestOf{N: 1, Temperature: 1 / a} },
			target: func(_ *toy.Model, law *toy.Law, a float64) []float64 { return lowTemperature(law, a) },
			n:      3000,
			bounds: []bound{{1, 0, .01}, {2, 0, .01}, {4, 0, .01}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, b := range c.bounds {
				var tv, floor float64
				for i := range chains {
					m := newToy(t, toy.Options{Seed: uint64(firstToy + i), Vocabulary: 3})
					law, err := m.Law(m.Prompt(), length)
					if err != nil {
						t.Fatal(err)
					}
					want := law.Power(b.alpha)
					if c.target != nil {
						want = c.target(m, law, b.alpha)
					}
					got := emitted(t, m, law, m.Prompt(), length, c.n, c.make(b.alpha))
					tv += toy.TotalVariation(got, want) / chains
					floor += noise(want, c.n) / chains
				}
				t.Logf("α = %v: mean TV %.4f, of which noise %.4f", b.alpha, tv, floor)
				if !(tv >= b.low && tv <= b.high+2*floor) {
					t.Errorf("α = %v: mean TV %.4f, want it in [%v, %v + 2·%.4f]", b.alpha, tv, b.low, b.high, floor)
				}
			}
		})
	}
}

// ofThree is the law of what choose makes of three completions drawn from p.
func ofThree(law *toy.Law, choose func(c [3]int) int) []float64 {
	p := law.Power(1)
	out := make([]float64, len(p))
	for i, a := range p {
		for j, b := range p {
			for k, c := range p {
				three := [3]int{i, j, k}
				out[three[choose(three)]] += a * b * c
			}
		}
	}
	return out
}

func bestOf3(by string) func(*toy.Model, *toy.Law, float64) []float64 {
	return func(m *toy.Model, law *toy.Law, _ float64) []float64 {
		score := func(i int) float64 {
			c := law.Completions()[i]
			letters := len(c.Tokens)
			if c.Ended {
				letters--
			}
			switch {
			case by == ScoreMean:
				return c.LogProb / float64(len(c.Tokens))
			case by == ScorePerByte && letters > 0:
				return c.LogProb / float64(letters)
			}
			return c.LogProb
		}
		return ofThree(law, func(c [3]int) int {
			best := 0
			for i := range c {
				if score(c[i]) > score(c[best])+1e-12 {
					best = i
				}
			}
			return best
		})
	}
}

func majorityOf3(m *toy.Model, law *toy.Law, _ float64) []float64 {
	text := func(i int) string { return textOf(m, law.Completions()[i].Tokens) }
	return ofThree(law, func(c [3]int) int {
		if text(c[0]) != text(c[1]) && text(c[1]) == text(c[2]) {
			return 1
		}
		return 0
	})
}

// mcmcLaw is the law of MCMC's completions by enumeration: probabilities flow
// between completions as the algorithm says, without a draw. A move at a cut
// is an independence chain among the completions that agree before it.
func mcmcLaw(m *toy.Model, alpha, b float64, block, moves, horizon int) []float64 {
	at := map[string]float64{"[]": 1}
	for h := min(block, horizon); ; h = min(h+block, horizon) {
		cs := scored(m, alpha, b, h)
		mu := make([]float64, len(cs))
		for i, c := range cs { // growth
			before := min(len(c.tokens), max(h-block, 0))
			if h == horizon {
				before = min(len(c.tokens), (horizon-1)/block*block)
			}
			mu[i] = at[fmt.Sprint(c.tokens[:before])] * math.Exp(c.logQ(before))
		}
		var plan []cutPlan
		for cut := range h {
			plan = append(plan, planCut(cs, cut))
		}
		for range moves {
			next := make([]float64, len(mu))
			for _, p := range plan {
				p.flow(mu, next, 1/float64(h))
			}
			mu = next
		}
		if h == horizon {
			return mu
		}
		at = map[string]float64{}
		for i, c := range cs {
			at[fmt.Sprint(c.tokens)] = mu[i]
		}
	}
}

// cutPlan is what a move at one cut needs to know: the completions that end
// before it and stay, and the groups of those that agree before it, each by
// rising weight, so that sums over what is lighter and heavier run along.
type cutPlan struct {
	stay   []int
	groups [][]int
	q, w   []float64
}

func planCut(cs []weighedCompletion, cut int) cutPlan {
	p := cutPlan{q: make([]float64, len(cs)), w: make([]float64, len(cs))}
	for i, c := range cs {
		p.q[i], p.w[i] = math.Exp(c.logQ(cut)), math.Exp(c.logW(cut))
	}
	for from := 0; from < len(cs); {
		to := from + 1
		if len(cs[from].tokens) <= cut {
			p.stay = append(p.stay, from)
			from = to
			continue
		}
		for to < len(cs) && len(cs[to].tokens) > cut && slices.Equal(cs[to].tokens[:cut], cs[from].tokens[:cut]) {
			to++
		}
		group := make([]int, to-from)
		for i := range group {
			group[i] = from + i
		}
		slices.SortFunc(group, func(a, b int) int { return cmp.Compare(p.w[a], p.w[b]) })
		p.groups = append(p.groups, group)
		from = to
	}
	return p
}

// flow adds to next what a move, made with probability share, makes of mu: x
// goes to x' with q(x')·min(1, w'/w).
func (p cutPlan) flow(mu, next []float64, share float64) {
	for _, i := range p.stay {
		next[i] += share * mu[i]
	}
	for _, group := range p.groups {
		var lighter, heavier, qAbove, qwBelow float64 // Σ μ, Σ μ/w; Σ q, Σ q·w
		for _, i := range group {
			heavier += mu[i] / p.w[i]
			qAbove += p.q[i]
		}
		for _, i := range group {
			w, q := p.w[i], p.q[i]
			lighter += mu[i]
			heavier -= mu[i] / w
			stay := 1 - qAbove - qwBelow/w
			next[i] += share * (q*(lighter+w*max(heavier, 0)) + mu[i]*max(stay, 0))
			qAbove -= q
			qwBelow += q * w
		}
	}
}

type weighedCompletion struct {
	tokens []llm.Token
	q, w   []float64 // logs by token: of q_b, and of p^α/q_b
}

func (c weighedCompletion) logQ(from int) float64 { return sum(c.q[min(from, len(c.q)):]) }
func (c weighedCompletion) logW(from int) float64 { return sum(c.w[min(from, len(c.w)):]) }

// scored are the completions of a chain to a horizon, in lexical order.
func scored(m *toy.Model, alpha, b float64, horizon int) []weighedCompletion {
	law, err := m.Law(m.Prompt(), horizon)
	if err != nil {
		panic(err)
	}
	var cs []weighedCompletion
	for _, c := range law.Completions() {
		x := weighedCompletion{tokens: c.Tokens}
		last := m.Prompt()[0]
		for _, t := range c.Tokens {
			lps := m.LogProbs(last)
			scaled := make([]float64, len(lps))
			for i, lp := range lps {
				scaled[i] = b * lp
			}
			q := b*lps[t] - LogSumExp(scaled)
			x.q, x.w = append(x.q, q), append(x.w, alpha*lps[t]-q)
			last = t
		}
		cs = append(cs, x)
	}
	return cs
}

// MCMC's law, followed by enumeration on the reference chains, is as far from
// the power distribution as the references say, and the sampler has that law.
func TestMCMCMatchesTheReferences(t *testing.T) {
	for _, c := range []struct {
		moves int
		want  [2]float64 // mean TV at α = 2 and 4
	}{{10, [2]float64{.088, .288}}, {50, [2]float64{.020, .160}}} {
		got := eachToy(t, toys, func(m *toy.Model, law *toy.Law) (tvs []float64) {
			for _, alpha := range referenceAlphas {
				tvs = append(tvs, toy.TotalVariation(mcmcLaw(m, alpha, alpha, 1, c.moves, horizon), law.Power(alpha)))
			}
			return tvs
		})
		t.Logf("%d moves: mean TV %.4f, references %.3f", c.moves, got, c.want)
		for i := range got {
			if got[i] > 1.35*c.want[i] || got[i] < .65*c.want[i] {
				t.Errorf("%d moves, α = %v: mean TV %.4f, reference %.3f", c.moves, referenceAlphas[i], got[i], c.want[i])
			}
		}
	}
}

func TestMCMCHasTheLawOfItsEnumeration(t *testing.T) {
	const n = 3000
	for _, c := range []struct {
		alpha, b      float64
		block, moves  int
		length, vocab int
	}{
		{4, 4, 1, 3, 3, 3},
		{4, 4, 2, 2, 3, 3},
		{2, 1, 3, 2, 3, 3},
		{3, 2, 2, 5, 4, 3},
	} {
		for seed := range uint64(3) {
			m := newToy(t, toy.Options{Seed: firstToy + seed, Vocabulary: c.vocab})
			law, err := m.Law(m.Prompt(), c.length)
			if err != nil {
				t.Fatal(err)
			}
			want := mcmcLaw(m, c.alpha, c.b, c.block, c.moves, c.length)
			got := emitted(t, m, law, m.Prompt(), c.length, n, MCMC{Alpha: c.alpha, Proposal: c.b, Block: c.block, Moves: c.moves})
			if tv, most := toy.TotalVariation(got, want), 2*noise(want, n)+.002; tv > most {
				t.Errorf("%+v, chain %d: TV %.4f between %d completions and the enumeration, want at most %.4f", c, seed, tv, n, most)
			}
		}
	}
}
