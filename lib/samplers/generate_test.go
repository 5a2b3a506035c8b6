package samplers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// counting is a model that knows what was asked of it.
type counting struct {
	Model
	tokens, calls, most int
}

func (c *counting) Extend(ctx context.Context, steps []llm.Step) ([]llm.Row, error) {
	c.calls++
	c.most = max(c.most, len(steps))
	for _, s := range steps {
		c.tokens += len(s.Tokens)
	}
	return c.Model.Extend(ctx, steps)
}

// fixed is a chain in which each row is given; token 0 ends.
func fixed(t *testing.T, rows ...[]float64) *toy.Model {
	t.Helper()
	m, err := toy.FromTable(rows, []llm.Token{0}, toy.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLookAheadDecodesWhatItMust(t *testing.T) {
	never := [][]float64{{1, 1, 1}, {0, 1, 1}, {0, 1, 1}, {0, 1, 1}} // no end token is ever drawn
	only := [][]float64{{1, 1, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}}  // one token each
	ends := [][]float64{{1, 1, 1}, {1, 0, 0}, {1, 0, 0}, {0, 1, 1}}  // the second token ends
	p := Importance{Alpha: 2, Rollouts: 5, LookAhead: 4, NoMerge: true}
	for _, c := range []struct {
		name                string
		table               [][]float64
		s                   Sampler
		max                 int
		tokens, calls, most int // after a prompt of one token and its call
	}{
		{"two candidates, five rollouts of four tokens, then the last token is chosen without", never, p, 6,
			// Depths 4, 4, 3, 2, 1, 0 for the six tokens; each costs 2 + 10·(depth−1).
			(2 + 30) + (2 + 30) + (2 + 20) + (2 + 10) + 2, 4 + 4 + 3 + 2 + 1, 10},
		{"the last position of a rollout is not decoded", never, Importance{Alpha: 2, Rollouts: 5, LookAhead: 1}, 3, 2 + 2, 2, 2},
		{"α = 1 looks nowhere", never, Importance{Alpha: 1}, 4, 3, 3, 1},
		{"a single candidate needs no look-ahead", only, p, 4, 3, 3, 1},
		{"rollouts that have ended are not decoded", ends, p, 5, 2, 1, 2},
		{"plain decodes all but the last", never, Plain{}, 4, 3, 3, 1},
	} {
		m := fixed(t, c.table...)
		count := &counting{Model: m}
		rec := generateOn(t, count, m.Prompt(), c.s, Options{MaxTokens: c.max, Seed: 1})
		if got, want := [3]int{count.tokens - 1, count.calls - 1, count.most}, [3]int{c.tokens, c.calls, c.most}; got != want {
			t.Errorf("%s: decodes %d tokens in %d calls of at most %d, want %d in %d of %d", c.name, got[0], got[1], got[2], want[0], want[1], want[2])
		}
		if rec.Cost.Decoded != c.tokens || rec.Cost.Prompt != 1 || rec.Cost.Emitted != len(rec.Steps) {
			t.Errorf("%s: cost %+v, want %d decoded", c.name, rec.Cost, c.tokens)
		}
		if f := Estimate(m, m.Prompt(), c.s, Options{MaxTokens: c.max}); f.Decoded < c.tokens {
			t.Errorf("%s: estimated at most %d decoded tokens, took %d", c.name, f.Decoded, c.tokens)
		}
	}
}

func TestEstimateIsExactWithoutEnds(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 1, Vocabulary: 6, Ends: []llm.Token{}})
	for _, s := range []Sampler{Plain{}, LowTemperature{Alpha: 2}, Importance{Alpha: 2, NoMerge: true}, Importance{Alpha: 2, LookAhead: 3, Candidates: Candidates{TopK: 4}, NoMerge: true}, greedy{}} {
		opt := Options{MaxTokens: 25, Seed: 1}
		rec := generateOn(t, m, m.Prompt(), s, opt)
		if f := Estimate(m, m.Prompt(), s, opt); f.Decoded != rec.Cost.Decoded || f.Emitted != rec.Cost.Emitted {
			t.Errorf("%s: estimate %+v, cost %+v", s.Name(), f, rec.Cost)
		}
	}
}

func TestRecordIsWhole(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 4})
	var seen []Progress
	opt := Options{MaxTokens: 8, Seed: 42, OnStep: func(p Progress) { seen = append(seen, p) }}
	prompt := []llm.Token{5, 0, 1}
	rec := generateOn(t, m, prompt, Importance{Alpha: 2, Candidates: Candidates{TopK: 3}, LookAhead: 3, Proposal: 1}, opt)

	if rec.Sampler != "importance" || rec.Seed != 42 || rec.Prompt != "ab" || !reflect.DeepEqual(rec.PromptTokens, prompt) {
		t.Errorf("sampler %q, seed %d, prompt %q of %v", rec.Sampler, rec.Seed, rec.Prompt, rec.PromptTokens)
	}
	want := map[string]float64{"alpha": 2, "temperature": 1, "top_k": 3, "top_p": 1, "rollouts": 8, "look_ahead": 3, "proposal": 1, "jackknife": 1, "max_tokens": 8}
	if !reflect.DeepEqual(rec.Params, want) {
		t.Errorf("parameters %v, want %v", rec.Params, want)
	}
	if rec.Target != "p^α of whole completions, the futures cut at the look-ahead, restricted to each step's candidates; futures are of the whole vocabulary" {
		t.Errorf("target %q", rec.Target)
	}
	if rec.Model.Name != "toy" || rec.Engine.Name != "toy" {
		t.Errorf("model %+v, engine %+v", rec.Model, rec.Engine)
	}
	if len(seen) != len(rec.Steps) || seen[len(seen)-1].Text != rec.Text || seen[0].Emitted != 1 || seen[0].MaxTokens != 8 {
		t.Errorf("%d calls of OnStep for %d tokens: %+v", len(seen), len(rec.Steps), seen)
	}
	last := prompt[2]
	for i, step := range rec.Steps {
		lp := m.LogProbs(last)
		if step.LogProb != lp[step.Token] || string(step.Piece) != string(m.Piece(step.Token)) {
			t.Errorf("step %d: token %d, %+v", i, step.Token, step)
		}
		var entropy, mass float64
		for _, x := range lp {
			entropy -= x * math.Exp(x)
		}
		for _, c := range step.Candidates {
			mass += math.Exp(c.LogProb)
		}
		if !near(step.Entropy, entropy, 1e-12) || !near(step.Truncated, 1-mass, 1e-12) || len(step.Candidates) != 3 {
			t.Errorf("step %d: entropy %v, want %v; truncated %v of %d candidates, want %v", i, step.Entropy, entropy, step.Truncated, len(step.Candidates), 1-mass)
		}
		for _, c := range step.Candidates {
			sharpened := math.Exp(2 * c.LogProb)
			var all float64
			for _, o := range step.Candidates {
				all += math.Exp(2 * o.LogProb)
			}
			if !near(c.Base, math.Exp(c.LogProb)/mass, 1e-12) || !near(c.Power, sharpened/all, 1e-12) {
				t.Errorf("step %d: candidate %+v", i, c)
			}
			// Rollouts from a token that ends, or from the last place, are none.
			if none := c.End || i == 7; none != (c.ESS == 0) || none != (c.LogZeta == 0) {
				t.Errorf("step %d: candidate %+v has ESS %v", i, c, c.ESS)
			}
		}
		last = step.Token
	}
	if _, err := json.Marshal(rec); err != nil {
		t.Errorf("the record is not plain data: %v", err)
	}
}

// A step's standard errors say how far its probabilities are from their mean
// over other seeds.
func TestStandardErrorsAreThoseOfOtherSeeds(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 12})
	p := Importance{Alpha: 2, Candidates: Candidates{TopK: 5}, Rollouts: 40, NoJackknife: true}
	const n = 400
	var mean, square, se [5]float64
	for seed := range uint64(n) {
		st, err := p.Init(context.Background(), m, m.Prompt(), Options{MaxTokens: 5, Seed: seed + 1})
		if err != nil {
			t.Fatal(err)
		}
		st, info, err := p.Step(context.Background(), m, st)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range info.Steps[0].Candidates {
			mean[i] += c.Prob / n
			square[i] += c.Prob * c.Prob / n
			se[i] += c.ProbSE * c.ProbSE / n
		}
		if err := m.Drop(st.Branch); err != nil {
			t.Fatal(err)
		}
	}
	for i := range mean {
		spread := math.Sqrt(square[i] - mean[i]*mean[i])
		if got := math.Sqrt(se[i]); mean[i] > .01 && (got < .8*spread || got > 1.25*spread) {
			t.Errorf("candidate %d: probability %.3f ± %.4f over seeds, standard error %.4f", i, mean[i], spread, got)
		}
	}
}

type broken struct{ greedy }

var errBroken = errors.New("out of ideas")

func (b broken) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	if len(s.Tokens) == 2 {
		_, _ = m.Fork(s.Branch, 3) // and forgets them
		return s, Info{}, errBroken
	}
	s, info, err := b.greedy.Step(ctx, m, s)
	info.Warnings = []string{"I am making this up"}
	return s, info, err
}

func TestGenerateKeepsWhatAFailingSamplerDid(t *testing.T) {
	m := fixed(t, []float64{1, 1}, []float64{0, 1}, []float64{0, 1})
	branches, room := m.Branches(), m.Room()
	rec, err := Generate(context.Background(), m, m.Prompt(), broken{}, Options{MaxTokens: 9})
	if !errors.Is(err, errBroken) || len(rec.Steps) != 2 || rec.End != "" {
		t.Errorf("error %v, %d steps, end %q", err, len(rec.Steps), rec.End)
	}
	if len(rec.Warnings) != 1 {
		t.Errorf("warnings %q, want one that came twice", rec.Warnings)
	}
	if m.Branches() != branches || m.Room() != room {
		t.Errorf("%d branches and room for %d, had %d and %d", m.Branches(), m.Room(), branches, room)
	}
}

func TestNoTokenLeft(t *testing.T) {
	m := nothing{fixed(t, []float64{1, 1}, []float64{0, 1}, []float64{0, 1})}
	for _, s := range []Sampler{Plain{Candidates{TopK: 2}}, Importance{Alpha: 2}, LowTemperature{Alpha: 2, Candidates: Candidates{TopK: 1}}} {
		if _, err := Generate(context.Background(), m, []llm.Token{1}, s, Options{}); !errors.Is(err, ErrNoToken) {
			t.Errorf("%s: error %v, want ErrNoToken", s.Name(), err)
		}
	}
}

func TestLookAheadNeedsTwoBranches(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 1, Limits: toy.Limits{Branches: 2}})
	if _, err := Generate(context.Background(), m, m.Prompt(), Importance{Alpha: 2}, Options{}); !errors.Is(err, llm.ErrBranches) {
		t.Errorf("with one branch beside the prompt's: error %v, want ErrBranches", err)
	}
	if m.Branches() != 2 {
		t.Error("a branch is left open")
	}
}

// nothing is a model in which no token has any probability.
type nothing struct{ Model }

func (n nothing) Extend(ctx context.Context, steps []llm.Step) ([]llm.Row, error) {
	rows, err := n.Model.Extend(ctx, steps)
	for _, r := range rows {
		for i := range r.Top {
			r.Top[i].LogProb = math.Inf(-1)
		}
	}
	return rows, err
}

func TestWarnings(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 2, Vocabulary: 60})
	for _, c := range []struct {
		name string
		s    Sampler
		want []string // beginnings
	}{
		{"none for the plain model", Plain{}, nil},
		{"none where enough is kept", Plain{Candidates{TopK: 40, TopP: .95}}, nil},
		{"few candidates", Plain{Candidates{TopK: 10}}, []string{"top_k 10 is under 30"}},
		{"little mass", Plain{Candidates{TopP: .5}}, []string{"top_p 0.5 is under 0.8"}},
		{"both", LowTemperature{Alpha: 2, Candidates: Candidates{TopK: 10, TopP: .5}}, []string{"top_k 10", "top_p 0.5"}},
		{"weights that degenerate, in one line", Importance{Alpha: 8, Candidates: Candidates{TopK: 40}, Proposal: 1}, []string{"effective sample size of the look-ahead under 2 at "}},
		{"a beam", Power{Alpha: 2, LookAhead: 2, Candidates: Candidates{TopK: 40}}.WithBeam(&BeamBranch{}), []string{"ζ of a beam is a bound from below"}},
		{"the states' average", Power{Alpha: 2, LookAhead: 2, Candidates: Candidates{TopK: 40}}.With(&MetropolisBranch{StateAverage: true}), []string{"the states' average tends to S_2α/S_α"}},
		{"a branch sampler of one's own", Power{Alpha: 2, LookAhead: 2, Candidates: Candidates{TopK: 40}}.With(&patient{}), []string{"no standard errors: they are not known of power, patient"}},
		{"Metropolis by all proposals", Power{Alpha: 2, LookAhead: 2, Candidates: Candidates{TopK: 40}}.With(&MetropolisBranch{}), nil},
		{"one rollout", Importance{Alpha: 2, Candidates: Candidates{TopK: 40}, Rollouts: 1}, []string{"one rollout for each candidate"}},
	} {
		rec := generateOn(t, m, []llm.Token{0}, c.s, Options{MaxTokens: 10, Seed: 2})
		ok := len(rec.Warnings) == len(c.want)
		for i := range c.want {
			ok = ok && strings.HasPrefix(rec.Warnings[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: warnings %q, want %q", c.name, rec.Warnings, c.want)
		}
	}
}

func TestWarningsOfAShortCache(t *testing.T) {
	m := newToy(t, toy.Options{Seed: 1, Ends: []llm.Token{}, Limits: toy.Limits{Room: 12}})
	rec := generateOn(t, m, m.Prompt(), Importance{Alpha: 2}, Options{MaxTokens: 20, Seed: 1})
	var cut int
	for _, w := range rec.Warnings {
		if strings.Contains(w, "cut short") {
			cut++
		}
	}
	if cut != 1 {
		t.Errorf("warnings %q, want one about the look-ahead's room", rec.Warnings)
	}
}

func TestCostLine(t *testing.T) {
	for _, c := range []struct {
		cost llm.Cost
		want string
	}{
		{llm.Cost{Prompt: 0, Decoded: 38400, Emitted: 40, DecodeSeconds: 12, TotalSeconds: 12.5}, "40 tokens, 38,400 decoded, 12.5 s, 3,200 tok/s in decode, 4 % outside"},
		{llm.Cost{Prompt: 100, Decoded: 1000, Emitted: 1, DecodeSeconds: 1, TotalSeconds: 1}, "1 token, 1,000 decoded, 1 s, 1,100 tok/s in decode, 0 % outside"},
		{llm.Cost{Emitted: 1, TotalSeconds: 0.5}, "1 token, 0 decoded, 0.5 s"},
	} {
		if got := CostLine(c.cost); got != c.want {
			t.Errorf("%+v: %q, want %q", c.cost, got, c.want)
		}
	}
	if got, want := fmt.Sprint(Forecast{Emitted: 40, Decoded: 1234567}), "up to 40 tokens, 1,234,567 decoded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
