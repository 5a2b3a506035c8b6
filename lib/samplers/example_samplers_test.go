package samplers_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers"
)

// share is how often, in 400 generations, a sampler says "bd" on the model of
// the examples. At α = 4 the power distribution does so with probability
// 0.0256/(0.0256 + 0.0054) = 0.82; plain sampling with 0.4.
func share(s samplers.Sampler) {
	m := garden()
	const n = 400
	said := 0
	for seed := uint64(1); seed <= n; seed++ {
		rec, err := samplers.Generate(context.Background(), m, m.Prompt(), s, samplers.Options{MaxTokens: 10, Seed: seed})
		if err != nil {
			log.Fatal(err)
		}
		if rec.Text == "bd" {
			said++
		}
	}
	fmt.Printf("%s: %.1f\n", s.Name(), float64(said)/n)
}

func ExampleImportance() {
	share(samplers.Plain{})
	share(samplers.Importance{Alpha: 4})
	// Output:
	// plain: 0.4
	// importance: 0.8
}

// Blocks of two tokens: eight are drawn, one is chosen.
func ExampleBlock() {
	share(samplers.Block{Alpha: 4, Tokens: 2, Proposal: 1})
	// Output:
	// block: 0.8
}

// Four chains tell whether they agree; the first one's completion is emitted.
func ExampleMCMC() {
	m := garden()
	s := samplers.MCMC{Alpha: 4, Moves: 2000, Proposal: 1, Chains: 4}
	rec, err := samplers.Generate(context.Background(), m, m.Prompt(), s, samplers.Options{MaxTokens: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	d := rec.Diagnostics
	fmt.Printf("%q, %.1f of the moves accepted, R-hat %.1f\n", rec.Text, d.Acceptance, d.RHat)
	share(samplers.MCMC{Alpha: 4, Moves: 150, Proposal: 1})
	// Output:
	// "bd", 0.8 of the moves accepted, R-hat 1.0
	// mcmc: 0.8
}

// One particle is drawn by its weight at the end. On a model of so few tokens
// their proposals may as well be the model itself.
func ExampleSMC() {
	m := garden()
	rec, err := samplers.Generate(context.Background(), m, m.Prompt(), samplers.SMC{Alpha: 4, Particles: 100, Proposal: 1}, samplers.Options{MaxTokens: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q by one of %d particles, which count as %.0f\n", rec.Text, len(rec.Diagnostics.Scores), rec.Diagnostics.ESS)
	share(samplers.SMC{Alpha: 4, Particles: 100, Proposal: 1})
	// Output:
	// "bd" by one of 100 particles, which count as 53
	// smc: 0.8
}

func ExampleTempering() {
	share(samplers.Tempering{Alpha: 4, Moves: 30})
	// Output:
	// tempering: 0.8
}

// The best of many is the most probable completion, and no sample of the power
// distribution.
func ExampleBestOf() {
	share(samplers.BestOf{N: 50})
	share(samplers.BestOf{N: 50, Score: samplers.ScoreMean})
	// Output:
	// best of n by sum: 1.0
	// best of n by mean: 1.0
}

// The answer is the completion's first letter: six in ten begin with "a".
func ExampleMajority() {
	m := garden()
	s := samplers.Majority{N: 99, Answer: func(text string) string { return text[:1] }}
	rec, err := samplers.Generate(context.Background(), m, m.Prompt(), s, samplers.Options{MaxTokens: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rec.Text[:1])
	// Output:
	// a
}

// A branch sampler makes an estimate of ζ from futures of each candidate.
func ExamplePower() {
	share(samplers.Power{Alpha: 4, LookAhead: 8}.With(&samplers.MetropolisBranch{}))
	share(samplers.Power{Alpha: 4, LookAhead: 8}.WithBeam(&samplers.BeamBranch{}))
	// Output:
	// power, metropolis: 0.8
	// power, beam: 0.8
}

// Luckiest is a branch sampler of one's own: it takes the most probable future
// of ten for all of them.
type Luckiest struct {
	outlook samplers.Outlook
	futures int
	best    float64
}

func (*Luckiest) Name() string               { return "luckiest" }
func (*Luckiest) Params() map[string]float64 { return nil }
func (*Luckiest) Draws() int                 { return 10 }

func (l *Luckiest) Reset(o samplers.Outlook) { *l = Luckiest{outlook: o, best: math.Inf(-1)} }

func (l *Luckiest) Step(f samplers.Future) {
	l.futures++
	l.best = max(l.best, f.LogProb())
}

func (l *Luckiest) ShouldContinue() bool   { return l.futures < 10 }
func (l *Luckiest) FutureLogProb() float64 { return l.outlook.Alpha * l.best }

func ExampleBranchSampler() {
	share(samplers.Power{Alpha: 4, LookAhead: 8}.With(&Luckiest{}))
	// Output:
	// power, luckiest: 0.9
}

// An adjust function gives candidates new weights. This one never ends before
// the fourth token, by doubting what it was given.
func ExampleAdjust() {
	m := garden()
	s := samplers.Adjust{Label: "no early end", Func: func(_ context.Context, a *samplers.Adjustment) ([]float64, error) {
		lw := a.LogProbs()
		for i, c := range a.Candidates {
			if a.Model.IsEnd(c.Token) && len(a.Tokens) < 3 && len(lw) > 1 {
				lw[i] = math.Inf(-1)
			}
		}
		return lw, nil
	}}
	ended := 0
	for seed := uint64(1); seed <= 50; seed++ {
		rec, err := samplers.Generate(context.Background(), m, m.Prompt(), s, samplers.Options{MaxTokens: 10, Seed: seed})
		if err != nil {
			log.Fatal(err)
		}
		if rec.Text == "a" {
			ended++
		}
	}
	fmt.Println(ended, `completions are "a."`)
	// Output:
	// 0 completions are "a."
}

// ζ of any branch sampler can be asked for: this is the power distribution as
// an adjust function.
func ExampleAdjustment_Zeta() {
	share(samplers.Adjust{Label: "power by hand", Func: func(ctx context.Context, a *samplers.Adjustment) ([]float64, error) {
		lw, err := a.Zeta(ctx, 4, 8, &samplers.ImportanceBranch{Rollouts: 20})
		for i := range lw {
			lw[i] += 4 * a.Candidates[i].LogProb
		}
		return lw, err
	}})
	// Output:
	// power by hand: 0.8
}

// Every number counts as given: a top_k of 0 is an error and no default.
func ExampleNewCandidates() {
	c, err := samplers.NewCandidates(40, 0.95, 2)
	fmt.Printf("%+v %v\n", c, err)
	_, err = samplers.NewCandidates(0, 0.95, 2)
	fmt.Println(err)
	// Output:
	// {Temperature:0.5 TopK:40 TopP:0.95 MinP:0} <nil>
	// top_k is 0, want 1 or more
}

func ExampleRHat() {
	settled := [][]float64{{1, 3, 2, 4, 1, 3, 2, 4}, {2, 4, 1, 3, 2, 4, 1, 3}}
	apart := [][]float64{{1, 3, 2, 4, 1, 3, 2, 4}, {9, 7, 8, 9, 7, 9, 8, 7}}
	fmt.Printf("%.1f %.1f\n", samplers.RHat(settled), samplers.RHat(apart))
	// Output:
	// 0.9 2.9
}

// A record's diagnostics say how far to trust it.
func ExampleGenerate_diagnostics() {
	m := garden()
	rec, err := samplers.Generate(context.Background(), m, []llm.Token{m.Prompt()[0]}, samplers.Importance{Alpha: 4, Rollouts: 8}, samplers.Options{MaxTokens: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("least ESS %.1f; %d nodes for %d rollout tokens\n", rec.Diagnostics.ESS, rec.Cost.RolloutNodes, rec.Cost.RolloutTokens)
	for _, e := range rec.Diagnostics.Errors {
		fmt.Printf("standard error with %d rollouts: %.2f\n", e.Rollouts, e.SE)
	}
	// Output:
	// least ESS 7.7; 3 nodes for 11 rollout tokens
	// standard error with 2 rollouts: 0.00
	// standard error with 4 rollouts: 0.01
	// standard error with 8 rollouts: 0.01
}
