package samplers

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// lawOf is the law over law's completions of a sampler on any model that can
// be enumerated, with nothing of the sampler known but its two methods. Its
// estimates of a step's next-token law are averaged over seeds; rollouts of
// different steps are independent, so a completion's probability is the
// product of those averages.
//
// cell names what a step's law depends on; it is computed once for each name.
func lawOf(t testing.TB, m Model, law *toy.Law, prompt []llm.Token, length, seeds int, s Sampler, cell func(prefix []llm.Token) string) []float64 {
	t.Helper()
	memo := map[string][]float64{}
	return law.Compose(func(prefix []llm.Token) []float64 {
		name := cell(prefix)
		if _, ok := memo[name]; !ok {
			memo[name] = nextOf(t, m, law.Vocabulary(), append(slices.Clip(prompt), prefix...), length-len(prefix), seeds, s)
		}
		return memo[name]
	})
}

// nextOf is the mean over seeds of the probabilities with which s chooses the
// first of at most left tokens after prompt, by token id.
func nextOf(t testing.TB, m Model, vocabulary int, prompt []llm.Token, left, seeds int, s Sampler) []float64 {
	t.Helper()
	ctx := context.Background()
	mean := make([]float64, vocabulary)
	if left == 1 {
		seeds = 1 // nothing is estimated
	}
	for seed := 1; seed <= seeds; seed++ {
		st, err := s.Init(ctx, m, prompt, Options{MaxTokens: left, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		st, info, err := s.Step(ctx, m, st)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range info.Steps[0].Candidates {
			mean[c.Token] += c.Prob / float64(seeds)
		}
		if err := m.Drop(st.Branch); err != nil {
			t.Fatal(err)
		}
	}
	return mean
}

// markov names what a chain's next-token law depends on.
func markov(prefix []llm.Token) string {
	if len(prefix) == 0 {
		return "begin"
	}
	return string(rune('0'+len(prefix))) + string(rune('a'+prefix[len(prefix)-1]))
}

// eachToy calls f for each reference chain, on all cores, and returns the
// mean of what it returns.
func eachToy(t testing.TB, n int, f func(m *toy.Model, law *toy.Law) []float64) []float64 {
	t.Helper()
	var wg sync.WaitGroup
	parallel := make(chan struct{}, runtime.GOMAXPROCS(0))
	results := make([][]float64, n)
	for i := range n {
		m := newToy(t, toy.Options{Seed: uint64(firstToy + i)})
		law, err := m.Law(m.Prompt(), horizon)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			parallel <- struct{}{}
			defer func() { <-parallel }()
			results[i] = f(m, law)
		})
	}
	wg.Wait()
	mean := make([]float64, len(results[0]))
	for _, r := range results {
		for j, x := range r {
			mean[j] += x / float64(n)
		}
	}
	return mean
}

func newToy(t testing.TB, opt toy.Options) *toy.Model {
	t.Helper()
	m, err := toy.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// deaf is a model that reports an end token drawn in a rollout as certain, so
// that the weights leave its log-probability out.
type deaf struct{ Model }

func (d deaf) Extend(ctx context.Context, steps []llm.Step) ([]llm.Row, error) {
	rows, err := d.Model.Extend(ctx, steps)
	for _, r := range rows {
		for i := range r.Drawn {
			if d.IsEnd(r.Drawn[i].Token) {
				r.Drawn[i].LogProb = 0
			}
		}
	}
	return rows, err
}

// stateAverage is Importance with MetropolisBranch's StateAverage in place of
// ζ̂, as it is in the end: the mean of p^α over states of a chain that already
// has the law p^α, which is S_2α/S_α in place of S_α.
type stateAverage struct{ Importance }

func (a stateAverage) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	p := a.withDefaults()
	kept, err := p.Candidates.Choose(s.Row.Top)
	if err != nil {
		return s, Info{}, err
	}
	seen, err := p.lookAhead(m, s, kept).run(ctx, m, s)
	if err != nil {
		return s, Info{}, err
	}
	step := newStep(m, s.Row, kept)
	for i, p := range averageOfPowers(kept, seen, p.Alpha, p.Proposal) {
		step.Candidates[i].Prob = p
	}
	return seen.emit(ctx, m, s, chose(step, 0), 0, p.reads(m))
}

func averageOfPowers(kept []llm.TokenLogProb, v view, alpha, b float64) []float64 {
	weights, squares := v.logWeights(alpha, b), v.logWeights(2*alpha, b)
	lw := make([]float64, len(kept))
	for i, t := range kept {
		lw[i] = alpha * t.LogProb
		if weights[i] != nil {
			lw[i] += LogSumExp(squares[i]) - LogSumExp(weights[i])
		}
	}
	probs, _ := Normalise(lw)
	return probs
}
