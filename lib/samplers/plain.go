package samplers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Plain draws each token from the model's own distribution, or from what
// Candidates makes of it. It is the baseline of all others.
//
// Where Candidates leaves nothing out, the token is drawn from the whole
// vocabulary, of which a step's record lists the 20 most probable tokens and
// the drawn one, with their probabilities over the whole vocabulary.
type Plain struct {
	Candidates Candidates
}

// LowTemperature draws each token from p^Alpha, normalised over the
// candidates: temperature 1/Alpha. It is not the power distribution, because
// it does not ask what futures a token leads to.
type LowTemperature struct {
	Alpha float64 // > 0
	// Candidates' Temperature must be left 0: Alpha is it.
	Candidates Candidates
}

// listed is how many tokens of an uncut distribution are recorded. It is as
// many as a reader looks at; nothing is computed from them.
const listed = 20

// Name is "plain".
func (p Plain) Name() string { return "plain" }

// Params are temperature, top_k (0 for all) and top_p.
func (p Plain) Params() map[string]float64 {
	params := map[string]float64{}
	p.Candidates.params(params)
	return params
}

// Init decodes the prompt.
func (p Plain) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	if err := p.Candidates.Check(); err != nil {
		return State{}, fmt.Errorf("samplers: plain: %w", err)
	}
	return p.tempered().init(ctx, m, prompt, opt)
}

// Step draws one token.
func (p Plain) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	return p.tempered().step(ctx, m, s)
}

func (p Plain) tempered() tempered {
	c := p.Candidates.withDefaults()
	return tempered{power: 1 / c.Temperature, shown: 1, candidates: c}
}

// Name is "low temperature".
func (l LowTemperature) Name() string { return "low temperature" }

// Params are alpha, top_k (0 for all) and top_p.
func (l LowTemperature) Params() map[string]float64 {
	params := map[string]float64{"alpha": l.Alpha}
	l.Candidates.params(params)
	delete(params, "temperature")
	return params
}

// Init decodes the prompt.
func (l LowTemperature) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	err := checkAlpha(l.Alpha)
	if err == nil {
		err = l.Candidates.Check()
	}
	if err == nil && l.Candidates.Temperature != 0 {
		err = &ParamError{"temperature", l.Candidates.Temperature, "0, because alpha sets the temperature to 1/alpha"}
	}
	if err != nil {
		return State{}, fmt.Errorf("samplers: low temperature: %w", err)
	}
	return l.tempered().init(ctx, m, prompt, opt)
}

// Step draws one token.
func (l LowTemperature) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	return l.tempered().step(ctx, m, s)
}

func (l LowTemperature) tempered() tempered {
	c := l.Candidates.withDefaults()
	c.Temperature = 1 / l.Alpha
	return tempered{power: l.Alpha, shown: l.Alpha, candidates: c}
}

func checkAlpha(alpha float64) error {
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return &ParamError{"alpha", alpha, "a finite number above 0, such as 4"}
	}
	return nil
}

// steep is a power so large that its weights are compared by Normalise, over
// the whole vocabulary: as numbers of their own they have no digits left.
const steep = 1e3

// tempered draws each token from p^power over the candidates; both Plain and
// LowTemperature are this.
type tempered struct {
	power      float64
	shown      float64 // the exponent of Candidate.Power
	candidates Candidates
}

func (t tempered) cuts() bool { return t.candidates.cuts() || t.power > steep }

func (t tempered) init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	opt, err := opt.resolve() // the first draw is part of the prompt's row
	if err != nil {
		return State{}, fmt.Errorf("samplers: begin: %w", err)
	}
	return Begin(ctx, m, prompt, opt, t.reads(m, State{Seed: opt.Seed}))
}

// reads is what to read before the token that follows s.
func (t tempered) reads(m Model, s State) llm.Step {
	v := vocabulary(m)
	if t.cuts() {
		return llm.Step{Top: t.candidates.top(v)}
	}
	return llm.Step{Top: min(listed, v), Power: t.power, Draws: []float64{s.Uniform("choose")}}
}

func vocabulary(m Model) int {
	info, _ := m.Info()
	return info.Vocabulary
}

func (t tempered) step(ctx context.Context, m Model, s State) (State, Info, error) {
	choose := t.chooseUncut
	if t.cuts() {
		choose = t.chooseCut
	}
	step, err := choose(m, s)
	if err != nil {
		return s, Info{}, fmt.Errorf("samplers: step %d: %w", len(s.Tokens)+1, err)
	}
	return Emit(ctx, m, s, step, t.reads(m, s.push(m, step.Token)))
}

func (t tempered) chooseUncut(m Model, s State) (llm.StepRecord, error) {
	if len(s.Row.Drawn) == 0 {
		return llm.StepRecord{}, ErrNoToken
	}
	return drawnStep(m, s.Row, t.power, t.shown), nil
}

// drawnStep records the one token that was drawn from p^power over the whole
// vocabulary, and the most probable ones beside it.
func drawnStep(m Model, row llm.Row, power, shown float64) llm.StepRecord {
	drawn, kept := row.Drawn[0], row.Top
	chosen := slices.IndexFunc(kept, func(o llm.TokenLogProb) bool { return o.Token == drawn.Token })
	if chosen < 0 {
		chosen = len(kept)
		kept = append(slices.Clip(kept), drawn)
	}
	step := newStep(m, row, kept)
	step.Truncated = 0 // what is not listed could have been drawn
	powered := powerOf(kept, shown)
	for i := range step.Candidates {
		c := &step.Candidates[i]
		c.Base = math.Exp(c.LogProb)
		c.Prob = min(math.Exp(power*c.LogProb-row.LogZ), 1)
		switch shown {
		case power:
			c.Power = c.Prob
		case 1:
			c.Power = c.Base
		default: // its normaliser over the rest is not known
			c.Power = powered[i]
		}
	}
	return chose(step, chosen)
}

func (t tempered) chooseCut(m Model, s State) (llm.StepRecord, error) {
	kept, err := t.candidates.Choose(s.Row.Top)
	if err != nil {
		return llm.StepRecord{}, err
	}
	step := newStep(m, s.Row, kept)
	powers(step.Candidates, t.shown)
	probs := powerOf(kept, t.power)
	for i, p := range probs {
		step.Candidates[i].Prob = p
	}
	return chose(step, pick(probs, s.Uniform("choose"))), nil
}

// newStep records the candidates of a step, which are kept, as the model
// gives them.
func newStep(m Model, row llm.Row, kept []llm.TokenLogProb) llm.StepRecord {
	step := llm.StepRecord{Entropy: row.Entropy, Truncated: 1, Candidates: make([]llm.Candidate, len(kept))}
	for i, t := range kept {
		step.Candidates[i] = llm.Candidate{Token: t.Token, Piece: m.Piece(t.Token), LogProb: t.LogProb, End: m.IsEnd(t.Token)}
		step.Truncated -= math.Exp(t.LogProb)
	}
	step.Truncated = max(step.Truncated, 0) // rounding
	return step
}

// powers fills in p and p^α, normalised over the candidates.
func powers(cands []llm.Candidate, alpha float64) {
	kept := make([]llm.TokenLogProb, len(cands))
	for i, c := range cands {
		kept[i].LogProb = c.LogProb
	}
	base, power := powerOf(kept, 1), powerOf(kept, alpha)
	for i := range cands {
		cands[i].Base, cands[i].Power = base[i], power[i]
	}
}

// powerOf returns p^α normalised over the tokens, which Choose has checked.
func powerOf(kept []llm.TokenLogProb, alpha float64) []float64 {
	lw := make([]float64, len(kept))
	for i, t := range kept {
		lw[i] = alpha * t.LogProb
	}
	probs, _ := Normalise(lw)
	return probs
}

// chose completes a step whose candidate i was drawn.
func chose(step llm.StepRecord, i int) llm.StepRecord {
	c := step.Candidates[i]
	step.Token, step.Piece, step.LogProb, step.Prob = c.Token, c.Piece, c.LogProb, c.Prob
	return step
}
