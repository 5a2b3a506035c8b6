package samplers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// AdjustFunc gives new log-weights to the candidates of a step, in their
// order; they need not be normalised, and -Inf forbids one. It may ask the
// model what it needs to know, through its argument.
type AdjustFunc func(ctx context.Context, a *Adjustment) ([]float64, error)

// Adjust draws each token from weights that a function gives to the
// candidates:
//
//	noEnd := samplers.Adjust{Func: func(ctx context.Context, a *samplers.Adjustment) ([]float64, error) {
//		lw := a.LogProbs()
//		for i, c := range a.Candidates {
//			if a.Model.IsEnd(c.Token) && len(a.Tokens) < 10 {
//				lw[i] = math.Inf(-1)
//			}
//		}
//		return lw, nil
//	}}
//
// [Identity] and [Sharpen] are such functions, and [Adjustment.Zeta] makes the
// power distribution of any branch sampler.
type Adjust struct {
	Func       AdjustFunc
	Reset      func()     // called before each generation, where set
	Label      string     // the name in records; "" means "adjust"
	Candidates Candidates // TopK 0 means 30
}

const defaultAdjustTopK = 30

// Adjustment is one step as an AdjustFunc sees it. It is valid during the
// call.
type Adjustment struct {
	Candidates []llm.TokenLogProb // by falling log-probability, the model's own
	Prompt     []llm.Token
	Tokens     []llm.Token // emitted so far
	Probs      []float64   // with which they were chosen
	Left       int         // tokens that may be emitted, this one among them
	Model      Model       // branches that are opened here need not be dropped
	State      State       // its Branch holds prompt and tokens; not to be changed

	asked int
	info  *Info
}

// LogProbs are the candidates' log-probabilities, a copy.
func (a *Adjustment) LogProbs() []float64 {
	lw := make([]float64, len(a.Candidates))
	for i, c := range a.Candidates {
		lw[i] = c.LogProb
	}
	return lw
}

// Futures draws n futures of each candidate from q_b, b being proposal (0
// means 1), of at most depth tokens and not past the token limit, all in one
// batch. What a candidate that ends has is none.
func (a *Adjustment) Futures(ctx context.Context, depth, n int, proposal float64) ([][]Future, error) {
	if depth < 1 || n < 1 {
		return nil, fmt.Errorf("samplers: futures: %d of depth %d, want 1 or more of each", n, depth)
	}
	if err := checkProposal(proposal); err != nil {
		return nil, fmt.Errorf("samplers: futures: %w", err)
	}
	a.asked++
	l := Power{Proposal: proposal, LookAhead: depth, Alpha: 2}.withDefaults().lookAhead(a.State, a.Candidates, llm.Step{})
	l.depth = min(depth, a.Left-1)
	l.rollouts, l.first = n, a.asked<<20 // other draws than any call before
	v, err := l.run(ctx, a.Model, a.State)
	if err != nil {
		return nil, fmt.Errorf("samplers: futures: %w", err)
	}
	a.info.RolloutTokens += v.tokens
	a.info.RolloutNodes += v.nodes
	futures := make([][]Future, len(v.outlooks))
	for i, o := range v.outlooks {
		for _, r := range o.rollouts {
			futures[i] = append(futures[i], r.Future)
		}
	}
	return futures, v.drop(a.Model)
}

// Zeta estimates log ζ of each candidate with a branch sampler, by futures of
// at most depth tokens from the model itself.
func (a *Adjustment) Zeta(ctx context.Context, alpha float64, depth int, b BranchSampler) ([]float64, error) {
	p := Power{Alpha: alpha, LookAhead: depth}
	if depth == 0 {
		p.LookAhead = NoLookAhead
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("samplers: zeta: %w", err)
	}
	p = p.withDefaults()
	zeta := make([]float64, len(a.Candidates))
	v, _, err := branching{p, b, nil}.sample(ctx, a.Model, a.State, p.lookAhead(a.State, a.Candidates, llm.Step{}), zeta, a.info)
	if err != nil {
		return nil, fmt.Errorf("samplers: zeta: %w", err)
	}
	a.info.RolloutTokens += v.tokens
	a.info.RolloutNodes += v.nodes
	return zeta, v.drop(a.Model)
}

// Next returns the n most probable tokens after prompt and emitted tokens
// followed by more, which may be empty only where n is no more than the number
// of candidates.
func (a *Adjustment) Next(ctx context.Context, more []llm.Token, n int) ([]llm.TokenLogProb, error) {
	if len(more) == 0 {
		if n > len(a.State.Row.Top) {
			return nil, fmt.Errorf("samplers: next: %d tokens wanted, the step read %d: give the candidates a larger TopK", n, len(a.State.Row.Top))
		}
		return slices.Clone(a.State.Row.Top[:n]), nil
	}
	brs, err := a.Model.Fork(a.State.Branch, 1)
	if err != nil {
		return nil, fmt.Errorf("samplers: next: %w", err)
	}
	rows, err := a.Model.Extend(ctx, []llm.Step{{Branch: brs[0], Tokens: more, Top: n}})
	if drop := a.Model.Drop(brs...); err == nil {
		err = drop
	}
	if err != nil {
		return nil, fmt.Errorf("samplers: next: %w", err)
	}
	return rows[0].Top, nil
}

// Identity leaves the candidates as they are: an AdjustFunc.
func Identity(_ context.Context, a *Adjustment) ([]float64, error) { return a.LogProbs(), nil }

// Sharpen raises the candidates to a power, which is low temperature.
func Sharpen(alpha float64) AdjustFunc {
	return func(_ context.Context, a *Adjustment) ([]float64, error) {
		if err := checkAlpha(alpha); err != nil {
			return nil, err
		}
		lw := a.LogProbs()
		for i := range lw {
			lw[i] *= alpha
		}
		return lw, nil
	}
}

// Name is Label.
func (j Adjust) Name() string {
	if j.Label == "" {
		return "adjust"
	}
	return j.Label
}

// Params are temperature, top_k and top_p.
func (j Adjust) Params() map[string]float64 {
	params := map[string]float64{}
	j.candidates().params(params)
	return params
}

func (j Adjust) candidates() Candidates {
	c := j.Candidates.withDefaults()
	c.TopK = or(c.TopK, defaultAdjustTopK)
	return c
}

// adjusting is what Adjust carries.
type adjusting struct {
	prompt []llm.Token
	probs  []float64
}

// Init decodes the prompt.
func (j Adjust) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	err := j.Candidates.Check()
	if j.Func == nil {
		err = errors.New("there is no function: set Func")
	}
	if err != nil {
		return State{}, fmt.Errorf("samplers: %s: %w", j.Name(), err)
	}
	if j.Reset != nil {
		j.Reset()
	}
	s, err := Begin(ctx, m, prompt, opt, j.reads(m))
	return s.With(adjusting{prompt: slices.Clone(prompt)}), err
}

func (j Adjust) reads(m Model) llm.Step { return llm.Step{Top: j.candidates().top(vocabulary(m))} }

// Step asks the function, unless there is a single candidate.
func (j Adjust) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	next, info, err := j.step(ctx, m, s)
	if err != nil {
		err = fmt.Errorf("samplers: %s: step %d: %w", j.Name(), len(s.Tokens)+1, err)
	}
	return next, info, err
}

func (j Adjust) step(ctx context.Context, m Model, s State) (State, Info, error) {
	var info Info
	c := j.candidates()
	kept, err := c.Choose(slices.Clone(s.Row.Top))
	if err != nil {
		return s, info, err
	}
	step := newStep(m, s.Row, kept)
	powers(step.Candidates, 1)
	probs := []float64{1}
	if len(kept) > 1 {
		if probs, err = j.weigh(ctx, m, s, kept, &info); err != nil {
			return s, info, err
		}
	}
	for i, p := range probs {
		step.Candidates[i].Prob = p
	}
	step = chose(step, pick(probs, s.Uniform("choose")))
	a := s.Carried().(adjusting)
	a.probs = append(slices.Clip(a.probs), step.Prob)
	next, emitted, err := Emit(ctx, m, s, step, j.reads(m))
	info.Steps = emitted.Steps
	return next.With(a), info, err
}

// weigh calls the function and drops the branches that it leaves open.
func (j Adjust) weigh(ctx context.Context, m Model, s State, kept []llm.TokenLogProb, info *Info) ([]float64, error) {
	carried := s.Carried().(adjusting)
	l := newLedger(m)
	lw, err := j.Func(ctx, &Adjustment{
		Candidates: slices.Clone(kept), Prompt: carried.prompt, Tokens: slices.Clone(s.Tokens), Probs: slices.Clone(carried.probs),
		Left: s.Left(), Model: l, State: s, info: info,
	})
	if drop := l.close(); err == nil {
		err = drop
	}
	if err != nil {
		return nil, err
	}
	if len(lw) != len(kept) {
		return nil, fmt.Errorf("the function gave %s for %s", plural(len(lw), "weight"), plural(len(kept), "candidate"))
	}
	return Normalise(lw)
}
