package samplers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// every is the samplers that the contract holds for, one of them written as a
// user would.
var every = []Sampler{
	Plain{},
	Plain{Candidates{Temperature: 0.7, TopK: 3, TopP: 0.9}},
	LowTemperature{Alpha: 3},
	LowTemperature{Alpha: 3, Candidates: Candidates{TopP: 0.9}},
	Importance{Alpha: 3},
	Importance{Alpha: 3, Rollouts: 3, LookAhead: 2, Proposal: 3, NoJackknife: true},
	Importance{Alpha: 1},
	Importance{Alpha: 3, LookAhead: NoLookAhead},
	Importance{Alpha: 3, NoMerge: true},
	Block{Alpha: 3, Tokens: 3, Blocks: 4, Rollouts: 3, LookAhead: 4},
	Block{Alpha: 2, Tokens: 1, LookAhead: NoLookAhead},
	Power{Alpha: 3, LookAhead: 4}.With(&MetropolisBranch{Equilibration: 2, Proposals: 9}),
	Power{Alpha: 3, LookAhead: 4, Proposal: 3}.With(&MetropolisBranch{StateAverage: true}),
	Power{Alpha: 3, LookAhead: 4}.With(&ImportanceBranch{}),
	Power{Alpha: 3, LookAhead: 4}.With(&patient{}),
	Power{Alpha: 3, LookAhead: 4}.WithBeam(&BeamBranch{}),
	Power{Alpha: 3, LookAhead: 4}.WithBeam(&best{}),
	MCMC{Alpha: 3, Block: 5, Moves: 4},
	MCMC{Alpha: 3, Block: 4, Moves: 3, Proposal: 1, Chains: 3},
	Tempering{Alpha: 3, Replicas: 3, Moves: 6},
	SMC{Alpha: 3, Particles: 6},
	SMC{Alpha: 3, Particles: 5, Ramp: 4},
	SMC{Alpha: 3, Particles: 5, Ramp: 4, Proposal: 2},
	BestOf{N: 5},
	BestOf{N: 5, Score: ScorePerByte, Temperature: .5},
	Majority{N: 5},
	Adjust{Func: Identity},
	Adjust{Func: Sharpen(3), Candidates: Candidates{TopK: 3}},
	Adjust{Func: powerAdjust, Label: "power by hand"},
	greedy{},
}

// patient is a branch sampler of a user's own: the mean weight, of futures
// that are drawn two at a time until seven are there.
type patient struct {
	o  Outlook
	lw []float64
}

func (*patient) Name() string               { return "patient" }
func (*patient) Params() map[string]float64 { return map[string]float64{"enough": 7} }
func (*patient) Draws() int                 { return 2 }
func (p *patient) Reset(o Outlook)          { p.o, p.lw = o, nil }
func (p *patient) Step(f Future)            { p.lw = append(p.lw, f.LogWeight(p.o.Alpha, p.o.Proposal)) }
func (p *patient) ShouldContinue() bool     { return len(p.lw) < 7 }
func (p *patient) FutureLogProb() float64   { return LogMeanExp(p.lw) }

// best is a beam sampler of a user's own: the one most probable future of two
// tokens at each depth.
type best struct{ o Outlook }

func (*best) Name() string               { return "best" }
func (*best) Params() map[string]float64 { return nil }
func (*best) TopK() int                  { return 2 }
func (b *best) Reset(o Outlook)          { b.o = o }
func (*best) Keep([]Beam) []int          { return []int{0} }
func (b *best) FutureLogProb(beams []Beam) float64 {
	return b.o.Alpha * beams[0].LogProb
}

// powerAdjust is the power distribution written as an adjust function.
func powerAdjust(ctx context.Context, a *Adjustment) ([]float64, error) {
	const alpha = 3
	futures, err := a.Futures(ctx, 4, 5, 1)
	if err != nil {
		return nil, err
	}
	lw := a.LogProbs()
	for i := range lw {
		lw[i] *= alpha
		var ws []float64
		for _, f := range futures[i] {
			ws = append(ws, f.LogWeight(alpha, 1))
		}
		if len(ws) > 0 {
			lw[i] += LogMeanExp(ws)
		}
	}
	return lw, nil
}

// together is a sampler whose draws must all be in the cache at once.
func together(s Sampler) bool {
	b, beams := s.(branching)
	_, particles := s.(SMC)
	return particles || beams && b.beam != nil
}

// greedy always takes the most probable token.
type greedy struct{}

func (greedy) Name() string               { return "greedy" }
func (greedy) Params() map[string]float64 { return nil }

func (greedy) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	return Begin(ctx, m, prompt, opt, llm.Step{Top: 1})
}

func (greedy) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	best := s.Row.Top[0]
	return Emit(ctx, m, s, llm.StepRecord{Token: best.Token, Piece: m.Piece(best.Token), LogProb: best.LogProb, Prob: 1}, llm.Step{Top: 1})
}

// cancelling is a model whose context ends at a given call of Extend.
type cancelling struct {
	Model
	cancel context.CancelFunc
	after  int
}

func (c *cancelling) Extend(ctx context.Context, steps []llm.Step) ([]llm.Row, error) {
	if c.after--; c.after == 0 {
		c.cancel()
	}
	return c.Model.Extend(ctx, steps)
}

func tokensOf(rec llm.Record) []llm.Token {
	var ts []llm.Token
	for _, s := range rec.Steps {
		ts = append(ts, s.Token)
	}
	return ts
}

func generateOn(t *testing.T, m Model, prompt []llm.Token, s Sampler, opt Options) llm.Record {
	t.Helper()
	rec, err := Generate(context.Background(), m, prompt, s, opt)
	if err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return rec
}

func TestEverySampler(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, m *toy.Model, s Sampler)
	}{
		{"gives the same tokens for the same seed", func(t *testing.T, m *toy.Model, s Sampler) {
			opt := Options{MaxTokens: 12, Seed: 7}
			a, b := generateOn(t, m, m.Prompt(), s, opt), generateOn(t, m, m.Prompt(), s, opt)
			if !reflect.DeepEqual(a.Steps, b.Steps) {
				t.Errorf("two runs of seed 7:\n%v\n%v", a.Steps, b.Steps)
			}
		}},
		{"records a random seed that gives the same tokens", func(t *testing.T, m *toy.Model, s Sampler) {
			a := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 12})
			if a.Seed == 0 {
				t.Fatal("the record has no seed")
			}
			b := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 12, Seed: a.Seed})
			if !reflect.DeepEqual(a.Steps, b.Steps) {
				t.Errorf("seed %d:\n%v\n%v", a.Seed, a.Steps, b.Steps)
			}
		}},
		{"does not depend on batches", func(t *testing.T, m *toy.Model, s Sampler) {
			opt := Options{MaxTokens: 12, Seed: 11}
			want := generateOn(t, m, m.Prompt(), s, opt)
			for _, lim := range []toy.Limits{{Branches: 3}, {Branches: 4}, {Branches: 7}, {Branches: 12}, {Room: 30}, {Room: 47}, {Branches: 5, Room: 40}} {
				small := newToy(t, toy.Options{Seed: 1, Limits: lim})
				if together(s) {
					continue // see TestParticlesMustFit
				}
				got := generateOn(t, small, small.Prompt(), s, opt)
				if !reflect.DeepEqual(got.Steps, want.Steps) {
					t.Errorf("with limits %+v: tokens %v, want %v, or other probabilities", lim, tokensOf(got), tokensOf(want))
				}
			}
		}},
		{"leaves the model as it was", func(t *testing.T, m *toy.Model, s Sampler) {
			branches, room := m.Branches(), m.Room()
			for seed := range uint64(20) {
				generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 6, Seed: seed + 1})
			}
			if m.Branches() != branches || m.Room() != room {
				t.Errorf("%d branches and room for %d, had %d and %d", m.Branches(), m.Room(), branches, room)
			}
		}},
		{"returns what it has when cancelled anywhere", func(t *testing.T, m *toy.Model, s Sampler) {
			branches, room := m.Branches(), m.Room()
			whole := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 12, Seed: 7})
			for after := 1; ; after++ {
				ctx, cancel := context.WithCancel(context.Background())
				c := &cancelling{m, cancel, after}
				rec, err := Generate(ctx, c, m.Prompt(), s, Options{MaxTokens: 12, Seed: 7})
				cancel()
				if m.Branches() != branches || m.Room() != room {
					t.Fatalf("cancelled at decode %d: %d branches and room for %d, had %d and %d", after, m.Branches(), m.Room(), branches, room)
				}
				if c.after > 0 { // there were fewer decodes
					break
				}
				if !errors.Is(err, context.Canceled) || rec.End != llm.EndCancelled {
					t.Fatalf("cancelled at decode %d: end %q, error %v", after, rec.End, err)
				}
				if n := len(rec.Steps); n > len(whole.Steps) || !reflect.DeepEqual(rec.Steps, whole.Steps[:n:n]) && n > 0 {
					t.Fatalf("cancelled at decode %d: steps are not the first of the whole run's", after)
				}
			}
		}},
		{"counts an end token and stops", func(t *testing.T, m *toy.Model, s Sampler) {
			ended := false
			for seed := range uint64(50) {
				rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 40, Seed: seed + 1})
				i := slices.IndexFunc(rec.Steps, func(s llm.StepRecord) bool { return m.IsEnd(s.Token) })
				if i < 0 {
					if rec.End != llm.EndLimit || len(rec.Steps) != 40 {
						t.Fatalf("seed %d: %d tokens without an end, reason %q", seed+1, len(rec.Steps), rec.End)
					}
					continue
				}
				ended = true
				last := rec.Steps[i]
				if i != len(rec.Steps)-1 || rec.End != llm.EndToken {
					t.Fatalf("seed %d: end token at %d of %d, reason %q", seed+1, i, len(rec.Steps), rec.End)
				}
				before := m.Prompt()[0]
				if i > 0 {
					before = rec.Steps[i-1].Token
				}
				if want := m.LogProbs(before)[last.Token]; last.LogProb != want {
					t.Errorf("end token's log-probability %v, want %v", last.LogProb, want)
				}
				if len(rec.Text) != len(rec.Steps)-1 { // one letter each, and none for the end
					t.Errorf("text %q of %d tokens", rec.Text, len(rec.Steps))
				}
			}
			if !ended && s.Name() == "plain" { // others may prefer not to
				t.Error("no completion ended")
			}
		}},
		{"says when the context is full", func(t *testing.T, _ *toy.Model, s Sampler) {
			m := newToy(t, toy.Options{Seed: 1, Ends: []llm.Token{}, Limits: toy.Limits{Context: 6}})
			rec := generateOn(t, m, []llm.Token{0, 1}, s, Options{MaxTokens: 50, Seed: 3})
			if rec.End != llm.EndContext || len(rec.Steps) != 5 {
				t.Errorf("%d tokens after 2 in a context of 6, end %q; want 5, the last of them without a place, and %q", len(rec.Steps), rec.End, llm.EndContext)
			}
		}},
		{"says when the cache is full", func(t *testing.T, _ *toy.Model, s Sampler) {
			m := newToy(t, toy.Options{Seed: 1, Ends: []llm.Token{}, Limits: toy.Limits{Room: 9}})
			rec := generateOn(t, m, []llm.Token{0, 1}, s, Options{MaxTokens: 50, Seed: 3})
			if rec.End != llm.EndContext {
				t.Errorf("%d tokens, end %q, want %q", len(rec.Steps), rec.End, llm.EndContext)
			}
		}},
		{"refuses an empty prompt", func(t *testing.T, m *toy.Model, s Sampler) {
			if _, err := Generate(context.Background(), m, nil, s, Options{}); !errors.Is(err, ErrPrompt) {
				t.Errorf("error %v, want ErrPrompt", err)
			}
		}},
		{"refuses a prompt past the context, with both numbers", func(t *testing.T, _ *toy.Model, s Sampler) {
			m := newToy(t, toy.Options{Limits: toy.Limits{Context: 6}})
			_, err := Generate(context.Background(), m, make([]llm.Token, 9), s, Options{})
			var fit *llm.FitError
			if !errors.As(err, &fit) || fit.Need != 9 || fit.Have != 6 {
				t.Errorf("error %v, want 9 tokens for a context of 6", err)
			}
		}},
		{"refuses a negative number of tokens", func(t *testing.T, m *toy.Model, s Sampler) {
			var param *ParamError
			if _, err := Generate(context.Background(), m, m.Prompt(), s, Options{MaxTokens: -1}); !errors.As(err, &param) || param.Name != "max tokens" {
				t.Errorf("error %v, want one about max tokens", err)
			}
		}},
		{"has probabilities that sum to 1 and hold the chosen token", func(t *testing.T, m *toy.Model, s Sampler) {
			for _, step := range generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 12, Seed: 5}).Steps {
				var base, power, prob float64
				for _, c := range step.Candidates {
					base, power, prob = base+c.Base, power+c.Power, prob+c.Prob
					if c.Token == step.Token && (c.Prob != step.Prob || c.LogProb != step.LogProb) {
						t.Errorf("chosen with probability %v, among the candidates it has %v", step.Prob, c.Prob)
					}
				}
				if len(step.Candidates) > 0 && math.Abs(base-1)+math.Abs(power-1)+math.Abs(prob-1) > 1e-9 {
					t.Errorf("p, p^α and the probabilities sum to %v, %v and %v", base, power, prob)
				}
				if step.Prob <= 0 {
					t.Errorf("chose a token of probability %v", step.Prob)
				}
			}
		}},
		{"decodes no more than was forecast, and records what", func(t *testing.T, m *toy.Model, s Sampler) {
			if name := s.Name(); name == "power, patient" || name == "power, best" || name == "power by hand" {
				return // only they know what they will ask for
			}
			for seed := range uint64(10) {
				opt := Options{MaxTokens: 9, Seed: seed + 1}
				c := generateOn(t, m, m.Prompt(), s, opt).Cost
				if c.Forecast != Estimate(m, m.Prompt(), s, opt).Decoded || c.Decoded > c.Forecast || c.RolloutNodes > c.RolloutTokens {
					t.Errorf("%s %v: cost %+v", s.Name(), s.Params(), c)
				}
			}
		}},
		{"has a record that JSON can hold", func(t *testing.T, m *toy.Model, s Sampler) {
			rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 9, Seed: 3})
			text, err := json.Marshal(rec)
			if err != nil {
				t.Fatal(err)
			}
			var again llm.Record
			if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again.Diagnostics, rec.Diagnostics) || !reflect.DeepEqual(again.Cost, rec.Cost) {
				t.Errorf("%s: %+v comes back as %+v, error %v", s.Name(), rec.Diagnostics, again.Diagnostics, err)
			}
		}},
		{"says what it draws from", func(t *testing.T, m *toy.Model, s Sampler) {
			_, own := s.(greedy)
			_, adjust := s.(Adjust)
			if rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 2, Seed: 3}); (rec.Target == "") != (own || adjust) {
				t.Errorf("%s: target %q", s.Name(), rec.Target)
			}
		}},
		{"works with several end tokens", func(t *testing.T, _ *toy.Model, s Sampler) {
			m := newToy(t, toy.Options{Seed: 3, Vocabulary: 8, Ends: []llm.Token{2, 5}})
			for seed := range uint64(20) {
				rec := generateOn(t, m, m.Prompt(), s, Options{MaxTokens: 10, Seed: seed + 1})
				for i, step := range rec.Steps {
					if m.IsEnd(step.Token) && i != len(rec.Steps)-1 {
						t.Fatalf("tokens %v go past an end", tokensOf(rec))
					}
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range every {
				c.test(t, newToy(t, toy.Options{Seed: 1}), s)
			}
		})
	}
}

func TestParametersWithoutMeaning(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		s    Sampler
		name string // of the parameter
	}{
		{LowTemperature{}, "alpha"},
		{LowTemperature{Alpha: -1}, "alpha"},
		{LowTemperature{Alpha: nan}, "alpha"},
		{LowTemperature{Alpha: inf}, "alpha"},
		{LowTemperature{Alpha: 2, Candidates: Candidates{Temperature: 0.5}}, "temperature"}, // α twice
		{Importance{}, "alpha"},
		{Importance{Alpha: -1}, "alpha"},
		{Importance{Alpha: nan}, "alpha"},
		{Importance{Alpha: inf}, "alpha"},
		{Importance{Alpha: 2, Rollouts: -1}, "rollouts"},
		{Importance{Alpha: 2, LookAhead: -2}, "look-ahead"},
		{Importance{Alpha: 2, Proposal: -1}, "proposal"},
		{Importance{Alpha: 2, Proposal: nan}, "proposal"},
		{Importance{Alpha: 2, Proposal: inf}, "proposal"},
		{Importance{Alpha: 2, Candidates: Candidates{TopK: -1}}, "top_k"},
		{Plain{Candidates{Temperature: -1}}, "temperature"},
		{Plain{Candidates{Temperature: nan}}, "temperature"},
		{Plain{Candidates{Temperature: inf}}, "temperature"},
		{Plain{Candidates{TopK: -1}}, "top_k"},
		{Plain{Candidates{TopP: -0.1}}, "top_p"},
		{Plain{Candidates{TopP: 1.1}}, "top_p"},
		{Plain{Candidates{TopP: nan}}, "top_p"},
		{Plain{Candidates{MinP: -.1}}, "min_p"},
		{Plain{Candidates{MinP: 1.5}}, "min_p"},
		{Plain{Candidates{MinP: nan}}, "min_p"},
		{Block{}, "alpha"},
		{Block{Alpha: inf}, "alpha"},
		{Block{Alpha: 2, Tokens: -1}, "tokens"},
		{Block{Alpha: 2, Blocks: -1}, "blocks"},
		{Block{Alpha: 2, Rollouts: -1}, "rollouts"},
		{Block{Alpha: 2, LookAhead: -2}, "look-ahead"},
		{Block{Alpha: 2, Proposal: nan}, "proposal"},
		{MCMC{}, "alpha"},
		{MCMC{Alpha: nan}, "alpha"},
		{MCMC{Alpha: -1}, "alpha"},
		{MCMC{Alpha: 2, Block: -1}, "block"},
		{MCMC{Alpha: 2, Moves: -2}, "moves"},
		{MCMC{Alpha: 2, Chains: -1}, "chains"},
		{MCMC{Alpha: 2, Proposal: -1}, "proposal"},
		{Tempering{}, "alpha"},
		{Tempering{Alpha: inf}, "alpha"},
		{Tempering{Alpha: 2, Replicas: 1}, "replicas"},
		{Tempering{Alpha: 2, Replicas: -1}, "replicas"},
		{Tempering{Alpha: 2, Moves: -1}, "moves"},
		{SMC{}, "alpha"},
		{SMC{Alpha: nan}, "alpha"},
		{SMC{Alpha: 2, Particles: -1}, "particles"},
		{SMC{Alpha: 2, Ramp: -1}, "ramp"},
		{SMC{Alpha: 2, Proposal: inf}, "proposal"},
		{BestOf{N: -1}, "n"},
		{BestOf{Temperature: -1}, "temperature"},
		{BestOf{Temperature: 5e-324}, "temperature"},
		{Majority{N: -1}, "n"},
		{Majority{Temperature: nan}, "temperature"},
		{Power{}.With(&MetropolisBranch{}), "alpha"},
		{Power{Alpha: nan}.WithBeam(&BeamBranch{}), "alpha"},
		{Power{Alpha: 2, LookAhead: -2}.With(&MetropolisBranch{}), "look-ahead"},
		{Power{Alpha: 2, Proposal: -1}.With(&MetropolisBranch{}), "proposal"},
		{Power{Alpha: 2}.With(&MetropolisBranch{Equilibration: -2}), "equilibration"},
		{Power{Alpha: 2}.With(&MetropolisBranch{Proposals: 5000}), "draws"},
		{Power{Alpha: 2}.With(&ImportanceBranch{Rollouts: -1}), "rollouts"},
		{Power{Alpha: 2}.WithBeam(&BeamBranch{Branches: -1}), "beam top_k"},
		{Adjust{Func: Identity, Candidates: Candidates{TopP: 2}}, "top_p"},
		{Adjust{Func: Sharpen(0)}, "alpha"},
	} {
		m := newToy(t, toy.Options{})
		_, err := Generate(context.Background(), m, m.Prompt(), c.s, Options{})
		var param *ParamError
		if !errors.As(err, &param) || param.Name != c.name {
			t.Errorf("%#v: error %v, want one about %s", c.s, err, c.name)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%s is %v, want ", c.name, param.Value)) {
			t.Errorf("%#v: error %q does not say the value and the limit", c.s, err)
		}
		if m.Branches() != 1024 {
			t.Errorf("%#v: a branch is left open", c.s)
		}
		generateOn(t, m, m.Prompt(), Plain{}, Options{MaxTokens: 3}) // and is usable
	}
}

// Parameters at the edge of what numbers hold draw what they mean: the most
// probable tokens. A look-ahead past everything looks as far as there is.
func TestParametersAtTheEdge(t *testing.T) {
	for seed := range uint64(10) {
		m := newToy(t, toy.Options{Seed: seed})
		opt := Options{MaxTokens: 8, Seed: seed + 1}
		want := tokensOf(generateOn(t, m, m.Prompt(), greedy{}, opt))
		for _, s := range []Sampler{
			Plain{Candidates{Temperature: 1e-30}}, Plain{Candidates{Temperature: 1e-30, TopK: 4}}, Plain{Candidates{Temperature: 1e-30, TopP: .5}},
			Plain{Candidates{Temperature: 1e-300}}, Plain{Candidates{TopK: 1}}, Plain{Candidates{MinP: 1}}, Plain{Candidates{TopP: 1e-300}},
			LowTemperature{Alpha: 1e30}, BestOf{N: 1, Temperature: 1e-30}, BestOf{N: 3, Temperature: 1e-30, Score: ScoreMean}, Majority{Temperature: 1e-30},
			Importance{Alpha: 1e6, LookAhead: NoLookAhead}, MCMC{Alpha: 1e30, Moves: NoMoves},
		} {
			if got := tokensOf(generateOn(t, m, m.Prompt(), s, opt)); !slices.Equal(got, want) {
				t.Errorf("seed %d, %s %v: %v, want the most probable %v", seed, s.Name(), s.Params(), got, want)
			}
		}
		for _, s := range []Sampler{
			Importance{Alpha: 2, LookAhead: 1 << 40}, Power{Alpha: 2, LookAhead: 1 << 40}.With(&ImportanceBranch{}), Power{Alpha: 2, LookAhead: 1 << 40}.WithBeam(&BeamBranch{}),
			Block{Alpha: 2, Tokens: 1 << 40, LookAhead: 1 << 40}, MCMC{Alpha: 2, Block: 1 << 40}, SMC{Alpha: 2, Ramp: 1 << 40},
			Importance{Alpha: 1e30}, Importance{Alpha: 1e-30}, MCMC{Alpha: 1e30}, SMC{Alpha: 1e30}, Tempering{Alpha: 1e30}, Block{Alpha: 1e30}, Tempering{Alpha: 1e-30},
		} {
			for _, step := range generateOn(t, m, m.Prompt(), s, opt).Steps {
				for _, c := range step.Candidates {
					if !(c.Prob >= 0 && c.Prob <= 1) || math.IsNaN(c.ProbSE) || math.IsNaN(c.LogZeta) {
						t.Fatalf("seed %d, %s %v: candidate %+v", seed, s.Name(), s.Params(), c)
					}
				}
			}
		}
	}
}
