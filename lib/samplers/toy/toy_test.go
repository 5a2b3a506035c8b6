package toy_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

var _ samplers.Model = (*toy.Model)(nil)

func near(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-12 }

// coin is the chain that says heads (0) or ends (1), with equal odds whatever
// came before: a completion of n heads and an end has probability 2^−(n+1).
func coin(t *testing.T, lim toy.Limits) *toy.Model {
	t.Helper()
	m, err := toy.FromTable([][]float64{{1, 1}, {1, 1}, {1, 1}}, []llm.Token{1}, lim)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLawOfACoin(t *testing.T) {
	m := coin(t, toy.Limits{})
	law, err := m.Law(m.Prompt(), 3)
	if err != nil {
		t.Fatal(err)
	}
	// Lexically: hhh, hhe, he, e with 1/8, 1/8, 1/4, 1/2.
	want := []float64{1. / 8, 1. / 8, 1. / 4, 1. / 2}
	for i, c := range law.Completions() {
		if !near(math.Exp(c.LogProb), want[i]) || c.Ended != (i > 0) {
			t.Errorf("completion %v has log-probability %v", c.Tokens, c.LogProb)
		}
	}
	// Squares: 1, 1, 4, 16 of 22 sixty-fourths.
	for i, p := range law.Power(2) {
		if want := []float64{1, 1, 4, 16}[i] / 22; !near(p, want) {
			t.Errorf("π_2 of %v is %v, want %v", law.Completions()[i].Tokens, p, want)
		}
	}
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{name: "S_2 of all", got: law.LogZeta(nil, 2, toy.Full), want: 22. / 64},
		{name: "S_2 after one head: 1/16 + 1/16 + 1/4", got: law.LogZeta([]llm.Token{0}, 2, toy.Full), want: 3. / 8},
		{name: "S_2 after one head, cut at 1: 1/4 + 1/4", got: law.LogZeta([]llm.Token{0}, 2, 1), want: 1. / 2},
		{name: "cut at 0", got: law.LogZeta([]llm.Token{0}, 2, 0), want: 1},
		{name: "after an end", got: law.LogZeta([]llm.Token{1}, 2, toy.Full), want: 1},
		{name: "at the horizon", got: law.LogZeta([]llm.Token{0, 0, 0}, 2, toy.Full), want: 1},
		{name: "S_1 is 1", got: law.LogZeta(nil, 1, toy.Full), want: 1},
	} {
		if !near(c.got, math.Log(c.want)) {
			t.Errorf("%s: log %v, want log %v", c.name, math.Exp(c.got), c.want)
		}
	}
	if next := law.Next(nil, 2, toy.Full); !near(next[0], 6./22) || !near(next[1], 16./22) {
		t.Errorf("π_2 of the first token is %v, want 6/22 and 16/22", next)
	}
	if next := law.Next(nil, 2, 0); !near(next[0], .5) {
		t.Errorf("p² alone is %v, want one half each", next)
	}
}

func TestLawsOfRandomChains(t *testing.T) {
	for seed := range uint64(5) {
		m, err := toy.New(toy.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		law, err := m.Law(m.Prompt(), 5)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(law.Completions()); n != 1365 || law.Vocabulary() != 5 {
			t.Fatalf("%d completions of %d tokens, want 1+4+16+64+256+1024 of 5", n, law.Vocabulary())
		}
		for _, alpha := range []float64{1, 2, 4} {
			var sum float64
			for _, p := range law.Power(alpha) {
				sum += p
			}
			if !near(sum, 1) {
				t.Errorf("π_%v sums to %v", alpha, sum)
			}
			// The conditionals are those of the joint law: their product is it.
			full := law.Compose(func(prefix []llm.Token) []float64 { return law.Next(prefix, alpha, toy.Full) })
			if tv := toy.TotalVariation(full, law.Power(alpha)); tv > 1e-12 {
				t.Errorf("α = %v: the product of the conditionals is off by a TV of %v", alpha, tv)
			}
		}
	}
}

func TestSeveralEnds(t *testing.T) {
	m, err := toy.New(toy.Options{Seed: 1, Vocabulary: 4, Ends: []llm.Token{1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	law, err := m.Law(m.Prompt(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(law.Completions()); n != 2+2*2+2*2*4 {
		t.Errorf("%d completions, want 22", n)
	}
	for _, c := range law.Completions() {
		if i := slices.IndexFunc(c.Tokens, m.IsEnd); i >= 0 && i != len(c.Tokens)-1 {
			t.Errorf("%v goes past an end", c.Tokens)
		}
	}
}

func TestRowsAreTheTable(t *testing.T) {
	m, err := toy.FromTable([][]float64{{.5, .25, .25}, {.1, .6, .3}, {1, 0, 0}, {1, 1, 1}}, []llm.Token{2}, toy.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	br, err := m.NewBranch()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Extend(context.Background(), []llm.Step{{
		Branch: br, Tokens: []llm.Token{0, 1}, Top: 2, Power: 2,
		Draws: []float64{0, .0217, .0218, .8, .9999}, Score: []llm.Token{2, 0},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := rows[0]
	// Squares .01, .36, .09 of .46: cumulative .02174, .80435, 1.
	var drawn []llm.Token
	for _, d := range r.Drawn {
		drawn = append(drawn, d.Token)
		if want := []float64{.1, .6, .3}[d.Token]; !near(d.LogProb, math.Log(want)) {
			t.Errorf("token %d was drawn with log-probability %v, want that of the model, log %v", d.Token, d.LogProb, want)
		}
	}
	if want := []llm.Token{0, 0, 1, 1, 2}; !slices.Equal(drawn, want) {
		t.Errorf("drew %v, want %v", drawn, want)
	}
	if !near(r.LogZ, math.Log(.46)) {
		t.Errorf("log Z_2 is %v, want log .46", r.LogZ)
	}
	if len(r.Top) != 2 || r.Top[0].Token != 1 || r.Top[1].Token != 2 {
		t.Errorf("top %v, want tokens 1 and 2", r.Top)
	}
	if len(r.Score) != 2 || !near(r.Score[0], math.Log(.3)) || !near(r.Score[1], math.Log(.1)) {
		t.Errorf("scores %v, want log .3 and log .1", r.Score)
	}
	if want := -.1*math.Log(.1) - .6*math.Log(.6) - .3*math.Log(.3); !near(r.Entropy, want) {
		t.Errorf("entropy %v, want %v", r.Entropy, want)
	}
	// Equal probabilities come by token, and all of a vocabulary is its size.
	if rows, err = m.Extend(context.Background(), []llm.Step{{Branch: br, Tokens: []llm.Token{0}, Top: 9}}); err != nil {
		t.Fatal(err)
	}
	if top := rows[0].Top; len(top) != 3 || top[1].Token != 1 || top[2].Token != 2 {
		t.Errorf("top %v, want tokens 0, 1, 2", top)
	}
}

func TestCellsAreShared(t *testing.T) {
	m := coin(t, toy.Limits{Branches: 4, Room: 10, Context: 8})
	ctx := context.Background()
	a, err := m.NewBranch()
	if err != nil {
		t.Fatal(err)
	}
	extend := func(br llm.Branch, n int) {
		t.Helper()
		if _, err := m.Extend(ctx, []llm.Step{{Branch: br, Tokens: make([]llm.Token, n)}}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(room, branches int) {
		t.Helper()
		if m.Room() != room || m.Branches() != branches {
			t.Errorf("room for %d and %d branches, want %d and %d", m.Room(), m.Branches(), room, branches)
		}
	}
	extend(a, 4)
	expect(6, 3)
	forks, err := m.Fork(a, 2)
	if err != nil {
		t.Fatal(err)
	}
	expect(6, 1)
	extend(forks[0], 2)
	extend(forks[1], 1)
	expect(3, 1)
	if err := m.Drop(a); err != nil { // its cells are the forks' too
		t.Fatal(err)
	}
	expect(3, 2)
	if m.Len(forks[0]) != 6 || m.Len(forks[1]) != 5 {
		t.Errorf("lengths %d and %d, want 6 and 5", m.Len(forks[0]), m.Len(forks[1]))
	}
	if err := m.Drop(forks...); err != nil {
		t.Fatal(err)
	}
	expect(10, 4)
}

func TestModelRefuses(t *testing.T) {
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	one := []llm.Token{0}
	for _, c := range []struct {
		name string
		do   func(m *toy.Model, br llm.Branch) error
		want error
	}{
		{"a branch twice in a batch", func(m *toy.Model, br llm.Branch) error {
			_, err := m.Extend(ctx, []llm.Step{{Branch: br, Tokens: one}, {Branch: br, Tokens: one}})
			return err
		}, llm.ErrStep},
		{"a step without tokens", func(m *toy.Model, br llm.Branch) error {
			_, err := m.Extend(ctx, []llm.Step{{Branch: br}})
			return err
		}, llm.ErrStep},
		{"a token past the vocabulary", func(m *toy.Model, br llm.Branch) error {
			_, err := m.Extend(ctx, []llm.Step{{Branch: br, Tokens: []llm.Token{3}}})
			return err
		}, llm.ErrStep},
		{"a branch that is dropped twice", func(m *toy.Model, br llm.Branch) error { return m.Drop(br, br) }, llm.ErrBranch},
		{"a branch that never was", func(m *toy.Model, br llm.Branch) error { _, err := m.Fork(br+1, 1); return err }, llm.ErrBranch},
		{"more branches than there are", func(m *toy.Model, br llm.Branch) error { _, err := m.Fork(br, 4); return err }, llm.ErrBranches},
		{"a cancelled context", func(m *toy.Model, br llm.Branch) error {
			_, err := m.Extend(cancelled, []llm.Step{{Branch: br, Tokens: one}})
			return err
		}, context.Canceled},
	} {
		m := coin(t, toy.Limits{Branches: 4, Room: 10, Context: 8})
		br, err := m.NewBranch()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.do(m, br); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}

	m := coin(t, toy.Limits{Branches: 4, Room: 10, Context: 8})
	br, _ := m.NewBranch()
	for n, of := range map[int]string{9: "context", 8: "KV cache"} {
		other, _ := m.NewBranch()
		steps := []llm.Step{{Branch: br, Tokens: make([]llm.Token, n)}, {Branch: other, Tokens: make([]llm.Token, 3)}}
		var fit *llm.FitError
		if _, err := m.Extend(ctx, steps); !errors.As(err, &fit) || fit.Of != of {
			t.Errorf("%d and 3 tokens: error %v, want a FitError of the %s", n, err, of)
		}
	}
}

func TestTablesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		table [][]float64
		ends  []llm.Token
	}{
		"no rows":                {nil, nil},
		"a row too short":        {[][]float64{{1, 1}, {1}, {1, 1}}, nil},
		"a negative probability": {[][]float64{{1, 1}, {1, -1}, {1, 1}}, nil},
		"a row without mass":     {[][]float64{{1, 1}, {0, 0}, {1, 1}}, nil},
		"not a number":           {[][]float64{{1, 1}, {1, math.NaN()}, {1, 1}}, nil},
		"an end token past all":  {[][]float64{{1, 1}, {1, 1}, {1, 1}}, []llm.Token{2}},
	} {
		if _, err := toy.FromTable(c.table, c.ends, toy.Limits{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := toy.New(toy.Options{Vocabulary: 1}); err == nil {
		t.Error("a vocabulary of one token: no error")
	}
	if _, err := toy.Enumerate(0, nil, nil); err == nil {
		t.Error("a horizon of no tokens: no error")
	}
}
