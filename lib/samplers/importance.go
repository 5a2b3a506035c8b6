package samplers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Importance draws from the power distribution π(y) ∝ p(y)^Alpha over whole
// completions, one token at a time. Its exact conditional is
//
//	π(v | h) ∝ p(v | h)^α · ζ(h·v),  ζ(h') = Σ p(future | h')^α,
//
// and ζ is estimated by look-ahead: from each candidate v, M rollouts of at
// most H tokens are drawn from q ∝ p^b, and ζ̂ is the mean of their weights
// p^α/q, log w = (α−b)·Σ log p + Σ log Z_b. That is unbiased for ζ cut at
// depth H; what is normalised from it is not, and the jackknife takes the
// bias from O(1/M) to O(1/M²).
//
// All candidates and rollouts are decoded together. Rollouts of one candidate
// that are equal so far are decoded once. The branch of the chosen token goes
// on, so that the token costs no decode of its own.
//
// Scalable Power Sampling, arXiv 2601.21590. The proposal exponent b is ours.
type Importance struct {
	// Alpha is the power α > 0. It has no default. At 1 nothing is looked
	// ahead, for π is the model itself.
	Alpha float64
	// Candidates says which tokens are weighed. TopK 0 means 8, since each
	// costs M rollouts. Temperature only decides which they are; it does
	// not change their weights. The target is p^α restricted to the
	// candidates at the chosen token, and not cut within the look-ahead.
	Candidates Candidates
	Rollouts   int // M for each candidate; 0 means 8
	// LookAhead is H, the most tokens of a rollout; 0 means 16, and
	// NoLookAhead none.
	LookAhead int
	// Proposal is b. Weights vary less with larger b, and rollouts see less
	// of the model. 0 means (1+α)/2 for H up to 16 and α past it.
	Proposal float64
	// NoJackknife leaves the bias in.
	NoJackknife bool
	// NoMerge decodes every rollout on its own, also those that are equal so
	// far. The estimates are the same; it is for measuring what merging saves.
	NoMerge bool
}

// NoLookAhead as a sampler's LookAhead asks for none: ζ is taken for 1, which
// leaves low temperature over the candidates.
const NoLookAhead = -1

// Defaults of Importance. K, M and H cost K·M·H decoded tokens each.
const (
	defaultTopK      = 8
	defaultRollouts  = 8
	defaultLookAhead = 16
	longLookAhead    = 16 // past it weights of b < α degenerate
)

// Name is "importance".
func (p Importance) Name() string { return "importance" }

// Params are alpha, temperature, top_k, top_p, rollouts, look_ahead, proposal
// and jackknife (0 or 1).
func (p Importance) Params() map[string]float64 {
	p = p.withDefaults()
	params := map[string]float64{
		"alpha":      p.Alpha,
		"rollouts":   float64(p.Rollouts),
		"look_ahead": float64(max(p.LookAhead, 0)),
		"proposal":   p.Proposal,
		"jackknife":  1,
	}
	if p.NoMerge {
		params["merge"] = 0
	}
	if p.NoJackknife {
		params["jackknife"] = 0
	}
	p.Candidates.params(params)
	return params
}

func (p Importance) withDefaults() Importance {
	p.Candidates = p.Candidates.withDefaults()
	if p.Candidates.TopK == 0 {
		p.Candidates.TopK = defaultTopK
	}
	if p.Rollouts == 0 {
		p.Rollouts = defaultRollouts
	}
	if p.LookAhead == 0 {
		p.LookAhead = defaultLookAhead
	}
	p.Proposal = proposal(p.Proposal, p.Alpha, p.LookAhead)
	return p
}

// proposal is b, or what it is where it was left 0.
func proposal(b, alpha float64, depth int) float64 {
	switch {
	case b != 0:
		return b
	case depth > longLookAhead:
		return alpha
	}
	return (1 + alpha) / 2
}

func checkProposal(b float64) error {
	if !(b >= 0) || math.IsInf(b, 1) {
		return &ParamError{"proposal", b, "a finite number above 0, or 0 for the default"}
	}
	return nil
}

func (p Importance) check() error {
	if err := checkAlpha(p.Alpha); err != nil {
		return err
	}
	switch {
	case p.Rollouts < 0:
		return &ParamError{"rollouts", float64(p.Rollouts), "1 or more, or 0 for the default 8"}
	case p.LookAhead < NoLookAhead:
		return &ParamError{"look-ahead", float64(p.LookAhead), "1 or more, 0 for the default 16, or NoLookAhead"}
	}
	if err := checkProposal(p.Proposal); err != nil {
		return err
	}
	return p.Candidates.Check()
}

// Init decodes the prompt.
func (p Importance) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	if err := p.check(); err != nil {
		return State{}, fmt.Errorf("samplers: importance: %w", err)
	}
	return Begin(ctx, m, prompt, opt, p.withDefaults().reads(m))
}

// Forecast is the most tokens that are decoded, if no two rollouts are equal.
func (p Importance) Forecast(_, horizon, vocabulary int) int {
	p = p.withDefaults()
	k, n := p.Candidates.top(vocabulary), 0
	for left := horizon; left > 1; left-- { // nothing is decoded after the last
		n++
		if depth := min(p.LookAhead, left-1); depth > 0 && p.Alpha != 1 {
			n += k - 1 + k*p.Rollouts*(depth-1)
		}
	}
	return n
}

// reads is what to read before each token.
func (p Importance) reads(m Model) llm.Step {
	return llm.Step{Top: p.Candidates.top(vocabulary(m))}
}

// Step looks ahead from each candidate, chooses one and keeps its branch.
func (p Importance) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	p = p.withDefaults()
	kept, err := p.Candidates.Choose(s.Row.Top)
	if err != nil {
		return s, Info{}, fmt.Errorf("samplers: step %d: %w", len(s.Tokens)+1, err)
	}
	view, err := p.lookAhead(m, s, kept).run(ctx, m, s)
	if err != nil {
		return s, Info{}, fmt.Errorf("samplers: step %d: look ahead: %w", len(s.Tokens)+1, err)
	}
	step := newStep(m, s.Row, kept)
	powers(step.Candidates, p.Alpha)
	lw := view.logWeights(p.Alpha, p.Proposal)
	est := weigh(kept, lw, p.Alpha)
	if !p.NoJackknife {
		est = est.jackknife()
	}
	est.record(&step)
	chosen := pick(est.prob, s.Uniform("choose"))
	step = chose(step, chosen)

	next, info, err := view.emit(ctx, m, s, step, chosen, p.reads(m))
	info.RolloutTokens, info.RolloutNodes = view.tokens, view.nodes
	info.Errors = errorsByRollouts(kept, lw, p.Alpha, est.se)
	if view.clipped {
		info.Warnings = append(info.Warnings, "the look-ahead was cut short where the context had no room for it")
	}
	return next, info, err
}

func (p Importance) lookAhead(m Model, s State, kept []llm.TokenLogProb) lookAhead {
	l := lookAhead{
		rollouts: p.Rollouts,
		depth:    min(p.LookAhead, s.Left()-1),
		power:    p.Proposal,
		apart:    p.NoMerge,
		reads:    p.reads(m),
		tokens:   make([]llm.Token, len(kept)),
	}
	if p.Alpha == 1 || len(kept) == 1 {
		l.depth = 0 // ζ is 1, or does not matter
	}
	for i, t := range kept {
		l.tokens[i] = t.Token
	}
	return l
}

// estimate is the next-token law of one step.
type estimate struct {
	prob    []float64
	bias    []float64 // of prob, as the jackknife estimates it
	se      []float64
	logZeta []float64
	ess     []float64 // 0 where ζ is known
	clamped float64   // mass that was negative, before normalising
}

// weigh returns the estimate p̂ ∝ p^α·ζ̂ over the candidates kept. lw holds for
// each candidate the log-weights of its M rollouts, the same M for all; nil
// where ζ is 1.
//
// With p̂_(−s) the estimate without rollout s of every candidate, and p̂_(·)
// the mean of those over s, the jackknife's estimate of the bias is
// (M−1)·(p̂_(·) − p̂), and of the standard error √((M−1)/M · Σ_s (p̂_(−s) −
// p̂_(·))²). Both are 0 for M = 1, which cannot tell.
//
// Miller, Biometrika 61 (1974); in power sampling arXiv 2601.21590.
func weigh(kept []llm.TokenLogProb, lw [][]float64, alpha float64) estimate {
	n, m := len(kept), 0
	e := estimate{
		bias:    make([]float64, n),
		se:      make([]float64, n),
		logZeta: make([]float64, n),
		ess:     make([]float64, n),
	}
	full := make([]float64, n)
	without := make([][]float64, n) // log mean of the others, by rollout left out
	for v, t := range kept {
		full[v] = alpha * t.LogProb
		if lw[v] == nil {
			continue
		}
		m = len(lw[v])
		e.logZeta[v] = LogMeanExp(lw[v])
		e.ess[v] = ESS(lw[v])
		full[v] += e.logZeta[v]
		without[v] = logMeansWithout(lw[v])
	}
	e.prob, _ = Normalise(full)
	if m < 2 {
		return e
	}

	mean, square := make([]float64, n), make([]float64, n)
	left := make([]float64, n)
	for s := range m {
		for v, t := range kept {
			left[v] = alpha * t.LogProb
			if without[v] != nil {
				left[v] += without[v][s]
			}
		}
		z := LogSumExp(left)
		for v, lp := range left {
			d := math.Exp(lp-z) - e.prob[v] // near 0, so that squares lose nothing
			mean[v] += d / float64(m)
			square[v] += d * d / float64(m)
		}
	}
	for v := range e.prob {
		e.bias[v] = float64(m-1) * mean[v]
		e.se[v] = math.Sqrt(float64(m-1) * max(square[v]-mean[v]*mean[v], 0))
	}
	return e
}

// errorsByRollouts is the largest standard error of a candidate's probability
// by the first 2, 4, 8, ... rollouts of each, up to all of them, whose
// standard errors are se.
func errorsByRollouts(kept []llm.TokenLogProb, lw [][]float64, alpha float64, se []float64) []llm.ErrorAt {
	m := 0
	for _, x := range lw {
		m = max(m, len(x))
	}
	if m < 2 {
		return nil
	}
	var out []llm.ErrorAt
	first := make([][]float64, len(lw))
	for n := 2; n < m; n *= 2 {
		for v := range lw {
			first[v] = lw[v][:min(n, len(lw[v]))]
			if len(lw[v]) == 0 {
				first[v] = nil
			}
		}
		out = append(out, llm.ErrorAt{Rollouts: n, SE: slices.Max(weigh(kept, first, alpha).se)})
	}
	return append(out, llm.ErrorAt{Rollouts: m, SE: slices.Max(se)})
}

// logMeansWithout returns for each s the log of the mean of the weights other
// than s, from sums of those before and after it: subtracting from the whole
// sum would lose the small weights beside a large one.
func logMeansWithout(lw []float64) []float64 {
	m := len(lw)
	hi := slices.Max(lw)
	w, out := make([]float64, m), make([]float64, m)
	var before, after float64
	for s, x := range lw {
		out[s] = before
		w[s] = math.Exp(x - hi)
		before += w[s]
	}
	n := math.Log(float64(m - 1))
	for s := m - 1; s >= 0; s-- {
		if others := out[s] + after; others > 0 {
			out[s] = hi + math.Log(others) - n
		} else { // so far below the largest, which is s, that they are 0 beside it
			out[s] = LogSumExp(slices.Delete(slices.Clone(lw), s, s+1)) - n
		}
		after += w[s]
	}
	return out
}

// jackknife returns e without its estimated bias. Where that makes a
// probability negative it is set to 0, and the rest are normalised.
func (e estimate) jackknife() estimate {
	e.prob = slices.Clone(e.prob)
	for v := range e.prob {
		e.prob[v] -= e.bias[v]
	}
	e.clamped = clamp(e.prob)
	return e
}

// clamp sets negative probabilities to 0, normalises the rest and returns the
// negative mass.
func clamp(prob []float64) (negative float64) {
	var sum float64
	for v, p := range prob {
		if p < 0 {
			negative -= p
			prob[v] = 0
			continue
		}
		sum += p
	}
	for v := range prob {
		prob[v] /= sum
	}
	return negative
}

func (e estimate) record(step *llm.StepRecord) {
	step.Clamped = e.clamped
	for v := range step.Candidates {
		c := &step.Candidates[v]
		c.Prob, c.ProbSE, c.LogZeta, c.ESS = e.prob[v], e.se[v], e.logZeta[v], e.ess[v]
		if c.ESS > 0 && (step.ESS == 0 || c.ESS < step.ESS) {
			step.ESS = c.ESS
		}
	}
}
