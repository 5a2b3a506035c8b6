package samplers

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Power draws from the power distribution one token at a time, as Importance
// does, with an estimate of ζ that is a branch sampler's:
//
//	s := samplers.Power{Alpha: 4, LookAhead: 16}.With(&samplers.MetropolisBranch{})
//
// [MetropolisBranch], [BeamBranch] (by WithBeam) and [ImportanceBranch] are
// branch samplers, and so is a type of your own.
type Power struct {
	Alpha      float64    // α > 0, no default; at 1 nothing is looked ahead
	Candidates Candidates // TopK 0 means 8
	LookAhead  int        // H; 0 means 16, NoLookAhead none
	// Proposal is b, by which futures are drawn; 0 means 1, the model itself,
	// which is what the published branch samplers expect.
	Proposal float64
}

// NewPower is a Power of which everything is given: a depth of 0 is no
// look-ahead. The candidates' temperature decides which they are and does not
// change their weights, so that α is not applied twice.
func NewPower(alpha float64, depth int, b BranchSampler) (Sampler, error) {
	p := Power{Alpha: alpha, LookAhead: depth}
	if depth == 0 {
		p.LookAhead = NoLookAhead
	}
	err := p.check()
	if err == nil && depth < 0 {
		err = &ParamError{"look-ahead", float64(depth), "0 for none, or more"}
	}
	if err != nil {
		return nil, fmt.Errorf("samplers: power: %w", err)
	}
	return p.With(b), nil
}

// BranchSampler turns futures of a candidate into an estimate of log ζ. It is
// used for one candidate after another, each begun by Reset, and, where it
// asks for more futures than were drawn at once, for the same again with more
// of them. So what it does must depend on nothing but what Reset and Step gave
// it.
type BranchSampler interface {
	Name() string
	// Params are its parameters by name, as set after defaults.
	Params() map[string]float64
	// Draws is how many futures of each candidate are drawn at once, all
	// candidates' together in one batch; 1 or more.
	Draws() int
	// Reset begins anew.
	Reset(o Outlook)
	// Step takes one more future.
	Step(f Future)
	// ShouldContinue reports whether it wants another.
	ShouldContinue() bool
	// FutureLogProb is its estimate of log ζ.
	FutureLogProb() float64
}

// Outlook is what a branch sampler knows of a candidate.
type Outlook struct {
	Token    llm.Token // the candidate
	Alpha    float64
	Proposal float64 // b, by which futures are drawn
	Depth    int     // tokens of a future, at most
	Rand     *rand.Rand
}

// A Beam is one path of a beam search from a candidate.
type Beam struct {
	Tokens  []llm.Token
	LogProb float64 // Σ log p
	Ended   bool    // by an end token
}

// BeamSampler is a branch sampler whose branches do not grow at random: from
// each beam go on its TopK most probable next tokens, and Keep says which of
// those beams to keep. Beams that have ended are shown to Keep again at each
// depth.
type BeamSampler interface {
	Name() string
	Params() map[string]float64
	// TopK is how many next tokens of each beam are followed; 1 or more.
	TopK() int
	// Reset begins anew.
	Reset(o Outlook)
	// Keep returns the indices of those beams to keep, which stand by falling
	// log-probability.
	Keep(beams []Beam) []int
	// FutureLogProb is its estimate of log ζ from the beams that are left.
	FutureLogProb(beams []Beam) float64
}

// With is the sampler that estimates ζ with b.
func (p Power) With(b BranchSampler) Sampler { return branching{p, b, nil} }

// WithBeam is the sampler that estimates ζ by a beam search.
func (p Power) WithBeam(b BeamSampler) Sampler { return branching{p, nil, b} }

// mostFutures of a candidate ends the loop of a branch sampler that never has
// enough.
const mostFutures = 1 << 12

// branching is Power with one of both.
type branching struct {
	Power
	branch BranchSampler
	beam   BeamSampler
}

// Name tells the branch sampler: "power, metropolis".
func (p branching) Name() string {
	switch {
	case p.branch != nil:
		return "power, " + p.branch.Name()
	case p.beam != nil:
		return "power, " + p.beam.Name()
	}
	return "power"
}

// Params are alpha, temperature, top_k, top_p, look_ahead, proposal and those
// of the branch sampler.
func (p branching) Params() map[string]float64 {
	q := p.withDefaults()
	params := map[string]float64{"alpha": q.Alpha, "look_ahead": float64(max(q.LookAhead, 0)), "proposal": q.Proposal}
	q.Candidates.params(params)
	switch {
	case p.branch != nil:
		maps.Copy(params, p.branch.Params())
	case p.beam != nil:
		maps.Copy(params, p.beam.Params())
	}
	return params
}

func (p Power) withDefaults() Power {
	p.Candidates = p.Candidates.withDefaults()
	p.Candidates.TopK = or(p.Candidates.TopK, defaultTopK)
	p.LookAhead = or(p.LookAhead, defaultLookAhead)
	if p.Proposal == 0 {
		p.Proposal = 1
	}
	return p
}

func (p Power) check() error {
	if err := checkAlpha(p.Alpha); err != nil {
		return err
	}
	if p.LookAhead < NoLookAhead {
		return &ParamError{"look-ahead", float64(p.LookAhead), "1 or more, 0 for the default 16, or NoLookAhead"}
	}
	if err := checkProposal(p.Proposal); err != nil {
		return err
	}
	return p.Candidates.Check()
}

// checker is a branch sampler that checks its parameters.
type checker interface{ Check() error }

// Init decodes the prompt.
func (p branching) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	err := p.check()
	switch {
	case err != nil:
	case p.branch == nil && p.beam == nil:
		err = fmt.Errorf("no branch sampler: give Power.With one")
	case p.branch != nil:
		if c, ok := p.branch.(checker); ok {
			err = c.Check()
		}
		if n := p.branch.Draws(); err == nil && (n < 1 || n > mostFutures) {
			err = &ParamError{"draws", float64(n), fmt.Sprintf("1 to %d", mostFutures)}
		}
	default:
		if c, ok := p.beam.(checker); ok {
			err = c.Check()
		}
		if k := p.beam.TopK(); err == nil && k < 1 {
			err = &ParamError{"beam top_k", float64(k), "1 or more"}
		}
	}
	if err != nil {
		return State{}, fmt.Errorf("samplers: power: %w", err)
	}
	return Begin(ctx, m, prompt, opt, p.reads(m))
}

func (p branching) reads(m Model) llm.Step {
	k := p.withDefaults().Candidates.top(vocabulary(m))
	if p.beam != nil {
		k = max(k, min(p.beam.TopK(), vocabulary(m)))
	}
	return llm.Step{Top: k}
}

// Forecast is the most tokens that are decoded, if the branch sampler draws
// once.
func (p branching) Forecast(_, horizon, vocabulary int) int {
	q := p.withDefaults()
	k := q.Candidates.top(vocabulary)
	n := 0
	for left := horizon; left > 1; left-- {
		n++
		depth := min(q.LookAhead, left-1)
		if depth < 1 || q.Alpha == 1 {
			continue
		}
		n += k - 1
		if p.branch != nil {
			n += k * p.branch.Draws() * (depth - 1)
		}
		if b, ok := p.beam.(*BeamBranch); ok {
			n += 1 + k*b.width()*(depth-1) // the chosen candidate is decoded again
		}
	}
	return n
}

// Step looks ahead from each candidate, chooses one and keeps its branch.
func (p branching) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	next, info, err := p.step(ctx, m, s)
	if err != nil {
		err = fmt.Errorf("samplers: step %d: %w", len(s.Tokens)+1, err)
	}
	return next, info, err
}

func (p branching) step(ctx context.Context, m Model, s State) (State, Info, error) {
	q := p.withDefaults()
	kept, err := q.Candidates.Choose(slices.Clone(s.Row.Top))
	if err != nil {
		return s, Info{}, err
	}
	l := q.lookAhead(s, kept, p.reads(m))
	zeta := make([]float64, len(kept))
	var v view
	var info Info
	var lw [][]float64
	if p.beam != nil {
		v, err = p.search(ctx, m, s, l, zeta, &info)
	} else {
		v, lw, err = p.sample(ctx, m, s, l, zeta, &info)
	}
	if err != nil {
		return s, Info{}, fmt.Errorf("look ahead: %w", err)
	}
	step := newStep(m, s.Row, kept)
	powers(step.Candidates, q.Alpha)
	est, err := weighZeta(kept, zeta, lw, q.Alpha)
	if err != nil {
		return s, Info{}, err
	}
	est.record(&step)
	chosen := pick(est.prob, s.Uniform("choose"))
	next, emitted, err := v.emit(ctx, m, s, chose(step, chosen), chosen, p.reads(m))
	info.Steps = emitted.Steps
	if lw != nil {
		info.Errors = errorsByRollouts(kept, lw, q.Alpha, est.se)
	}
	info.RolloutTokens, info.RolloutNodes = info.RolloutTokens+v.tokens, info.RolloutNodes+v.nodes
	if w := p.warning(); w != "" && v.depth > 0 {
		info.Warnings = append(info.Warnings, w)
	}
	if v.clipped {
		info.Warnings = append(info.Warnings, "the look-ahead was cut short where the context had no room for it")
	}
	return next, info, err
}

// warning is what to know about the estimates.
func (p branching) warning() string {
	var b any = p.beam
	if p.branch != nil {
		b = p.branch
	}
	if c, ok := b.(caveat); ok {
		return c.caveat()
	}
	if _, ok := b.(weigher); !ok {
		return "no standard errors: they are not known of " + p.Name()
	}
	return ""
}

// weighZeta is the next-token law p^α·ζ for given ζ, with the standard errors
// of the weights that they are means of, where there are such.
func weighZeta(kept []llm.TokenLogProb, zeta []float64, lw [][]float64, alpha float64) (estimate, error) {
	e := estimate{se: make([]float64, len(kept)), ess: make([]float64, len(kept)), logZeta: zeta}
	if lw != nil {
		w := weigh(kept, lw, alpha)
		e.se, e.ess = w.se, w.ess
	}
	full := make([]float64, len(kept))
	for i, t := range kept {
		full[i] = alpha*t.LogProb + zeta[i]
	}
	var err error
	e.prob, err = Normalise(full)
	return e, err
}

func (p Power) lookAhead(s State, kept []llm.TokenLogProb, reads llm.Step) lookAhead {
	l := lookAhead{depth: min(p.LookAhead, s.Left()-1), power: p.Proposal, reads: reads, tokens: make([]llm.Token, len(kept))}
	if p.Alpha == 1 || len(kept) == 1 {
		l.depth = 0 // ζ is 1, or does not matter
	}
	for i, t := range kept {
		l.tokens[i] = t.Token
	}
	return l
}

// weigher is a branch sampler whose estimate is the mean of weights.
type weigher interface{ logWeights() []float64 }

// caveat is a branch sampler whose estimate misleads those who do not know it.
type caveat interface{ caveat() string }

// mover is a branch sampler that runs a Markov chain.
type mover interface {
	moves() (proposed, accepted int)
}

// sample draws futures of all candidates until the branch sampler has enough
// of each.
func (p branching) sample(ctx context.Context, m Model, s State, l lookAhead, zeta []float64, info *Info) (view, [][]float64, error) {
	l.rollouts = p.branch.Draws()
	v, err := l.run(ctx, m, s)
	if err != nil || v.depth < 1 {
		return v, nil, err
	}
	l.depth = v.depth
	lw := make([][]float64, len(l.tokens))
	weighs := false
	futures := make([][]*draw, len(l.tokens))
	for i, o := range v.outlooks {
		futures[i] = o.rollouts
	}
	for {
		var hungry []int
		for i, t := range l.tokens {
			if m.IsEnd(t) {
				continue
			}
			p.branch.Reset(p.outlook(s, l, t))
			taken := 0
			for taken < len(futures[i]) && p.branch.ShouldContinue() {
				p.branch.Step(futures[i][taken].Future)
				taken++
			}
			zeta[i] = p.branch.FutureLogProb()
			if w, ok := p.branch.(weigher); ok {
				lw[i], weighs = w.logWeights(), true
			}
			switch more := taken == len(futures[i]) && p.branch.ShouldContinue(); {
			case more && taken >= mostFutures:
				return v, nil, fmt.Errorf("%s wants more than %d futures of token %d", p.branch.Name(), taken, t)
			case more:
				hungry = append(hungry, i)
			default:
				if c, ok := p.branch.(mover); ok {
					proposed, accepted := c.moves()
					info.Proposed += proposed
					info.Accepted += accepted
				}
			}
		}
		if len(hungry) == 0 {
			break
		}
		err := v.drop(m) // to make room
		if err == nil {
			err = p.more(ctx, m, s, l, hungry, futures, info)
		}
		if err != nil {
			return v, nil, err
		}
	}
	for i := range zeta {
		if err := checkZeta(p.branch.Name(), l.tokens[i], zeta[i]); err != nil {
			return v, nil, err
		}
	}
	if !weighs {
		return v, nil, nil
	}
	return v, lw, nil
}

func checkZeta(name string, t llm.Token, zeta float64) error {
	if zeta != zeta || zeta > 1e300 {
		return fmt.Errorf("%s says that log ζ of token %d is %v, want a finite number or -Inf", name, t, zeta)
	}
	return nil
}

func (p branching) outlook(s State, l lookAhead, t llm.Token) Outlook {
	return Outlook{
		Token: t, Alpha: p.Alpha, Proposal: l.power, Depth: l.depth,
		Rand: Rand(s.Seed, Key{Stream: "branch sampler", Branch: uint64(t), Step: uint64(len(s.Tokens))}),
	}
}

// more draws as many futures again of the candidates that want them.
func (p branching) more(ctx context.Context, m Model, s State, l lookAhead, hungry []int, futures [][]*draw, info *Info) error {
	again := l
	again.tokens = nil
	again.first = len(futures[hungry[0]])
	for _, i := range hungry {
		again.tokens = append(again.tokens, l.tokens[i])
	}
	v, err := again.run(ctx, m, s)
	if err != nil {
		return err
	}
	for j, i := range hungry {
		futures[i] = append(slices.Clip(futures[i]), v.outlooks[j].rollouts...)
	}
	info.RolloutTokens += v.tokens
	info.RolloutNodes += v.nodes
	return v.drop(m)
}
