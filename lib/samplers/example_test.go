package samplers_test

import (
	"context"
	"fmt"
	"log"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// garden is a chain in which the likelier first step leads astray: "a" has
// probability 0.6 but is followed by any of three tokens; "b" by one.
func garden() *toy.Model {
	//                     a    b    c    d    .
	m, err := toy.FromTable([][]float64{
		{0.0, 0.0, 0.3, 0.3, 0.4}, // after a
		{0.0, 0.0, 0.0, 1.0, 0.0}, // after b
		{0.0, 0.0, 0.0, 0.0, 1.0}, // after c
		{0.0, 0.0, 0.0, 0.0, 1.0}, // after d
		{0.2, 0.2, 0.2, 0.2, 0.2}, // after the end, which is never asked for
		{0.6, 0.4, 0.0, 0.0, 0.0}, // at the begin
	}, []llm.Token{4}, toy.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func show(rec llm.Record) {
	for _, c := range rec.Steps[0].Candidates {
		fmt.Printf("%s: p = %.2f, p^α = %.2f, chosen with %.2f\n", c.Piece, c.Base, c.Power, c.Prob)
	}
}

// The power distribution looks at what follows: at α = 4 the completion "bd."
// has 0.4⁴ = 0.0256, and all those that begin with "a" together
// 0.6⁴·(0.3⁴ + 0.3⁴ + 0.4⁴) = 0.0054.
func ExampleGenerate() {
	m := garden()
	rec, err := samplers.Generate(context.Background(), m, m.Prompt(),
		samplers.Importance{Alpha: 4, Rollouts: 1000, LookAhead: 8},
		samplers.Options{MaxTokens: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	show(rec)
	fmt.Printf("%q, by %s\n", rec.Text, rec.End)
	// Output:
	// a: p = 0.60, p^α = 0.84, chosen with 0.17
	// b: p = 0.40, p^α = 0.16, chosen with 0.83
	// "bd", by end token
}

// Low temperature takes the likelier first token whatever follows it.
func ExampleLowTemperature() {
	m := garden()
	rec, err := samplers.Generate(context.Background(), m, m.Prompt(),
		samplers.LowTemperature{Alpha: 4, Candidates: samplers.Candidates{TopK: 2}},
		samplers.Options{MaxTokens: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	show(rec)
	// Output:
	// a: p = 0.60, p^α = 0.84, chosen with 0.84
	// b: p = 0.40, p^α = 0.16, chosen with 0.16
}

// To go token by token, keep the State.
func ExamplePlain() {
	ctx := context.Background()
	m := garden()
	s := samplers.Plain{Candidates: samplers.Candidates{TopK: 1}}
	st, err := s.Init(ctx, m, m.Prompt(), samplers.Options{MaxTokens: 10, Seed: 1})
	for err == nil && st.End == "" {
		var info samplers.Info
		if st, info, err = s.Step(ctx, m, st); err == nil {
			step := info.Steps[0]
			fmt.Printf("%s, log p = %.3f\n", step.Piece, step.LogProb)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(st.End)
	if err := m.Drop(st.Branch); err != nil {
		log.Fatal(err)
	}
	// Output:
	// a, log p = -0.511
	// ., log p = -0.916
	// end token
}

// Second takes the second most probable token, where there is one. Begin and
// Emit do what all samplers have in common.
type Second struct{}

func (Second) Name() string               { return "second" }
func (Second) Params() map[string]float64 { return nil }

func (Second) Init(ctx context.Context, m samplers.Model, prompt []llm.Token, opt samplers.Options) (samplers.State, error) {
	return samplers.Begin(ctx, m, prompt, opt, llm.Step{Top: 2})
}

func (Second) Step(ctx context.Context, m samplers.Model, s samplers.State) (samplers.State, samplers.Info, error) {
	kept, err := samplers.Candidates{TopK: 2}.Choose(s.Row.Top)
	if err != nil {
		return s, samplers.Info{}, err
	}
	t := kept[len(kept)-1]
	step := llm.StepRecord{Token: t.Token, Piece: m.Piece(t.Token), LogProb: t.LogProb, Prob: 1}
	return samplers.Emit(ctx, m, s, step, llm.Step{Top: 2})
}

func ExampleSampler() {
	m := garden()
	rec, err := samplers.Generate(context.Background(), m, m.Prompt(), Second{}, samplers.Options{MaxTokens: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rec.Text, len(rec.Steps), rec.End)
	// Output:
	// bd 3 end token
}

func ExampleEstimate() {
	m := garden()
	s := samplers.Importance{Alpha: 4, Candidates: samplers.Candidates{TopK: 5}, Rollouts: 30}
	fmt.Println(samplers.Estimate(m, m.Prompt(), s, samplers.Options{MaxTokens: 40}))
	// Output:
	// up to 40 tokens, 69,945 decoded
}

func ExampleCandidates() {
	top := []llm.TokenLogProb{{Token: 7, LogProb: -0.7}, {Token: 3, LogProb: -1.1}, {Token: 9, LogProb: -2.3}, {Token: 1, LogProb: -3}}
	kept, err := samplers.Candidates{TopK: 3, TopP: 0.8}.Choose(top)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(kept))
	// Output:
	// 2
}
