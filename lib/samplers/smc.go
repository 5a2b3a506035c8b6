package samplers

import (
	"context"
	"fmt"

	"github.com/branchbook/branchbook/lib/llm"
)

// SMC draws a whole completion from the power distribution by sequential
// Monte Carlo: N particles grow token by token from q_b, each weighed by
// p^α/q_b, which for b = α is Σ log Z_α. Where the effective sample size of
// the weights falls under half of N, the particles are resampled
// systematically and their weights made equal. A particle that drew an end
// token stays as it is, and takes part. At the end one particle is drawn in
// proportion to its weight. The error is O(1/N).
//
// With a ramp the power grows in equal parts from 1 to α over the first
// tokens, and each change of it weighs what a particle already holds by
// Δα·log p; what is missing when all have ended is made up for then.
//
// A step is one token of every particle. Particles that are equal so far are
// decoded once.
//
// Power-SMC, arXiv 2602.10273; systematic resampling: Kitagawa, J. Comput.
// Graph. Stat. 5 (1996).
type SMC struct {
	Alpha     float64 // α > 0, no default
	Particles int     // N; 0 means 64
	// Proposal is b; 0 means α, and with a ramp the power of the moment.
	Proposal float64
	// Ramp is the number of tokens over which the power grows to α; 0 means
	// that it is α from the first on.
	Ramp int
}

const defaultParticles = 64

// Name is "smc".
func (c SMC) Name() string { return "smc" }

// Params are alpha, particles, proposal (0 where it follows the ramp) and
// ramp.
func (c SMC) Params() map[string]float64 {
	c = c.withDefaults()
	return map[string]float64{"alpha": c.Alpha, "particles": float64(c.Particles), "proposal": c.Proposal, "ramp": float64(c.Ramp)}
}

func (c SMC) withDefaults() SMC {
	c.Particles = or(c.Particles, defaultParticles)
	if c.Proposal == 0 && c.Ramp == 0 {
		c.Proposal = c.Alpha
	}
	return c
}

func (c SMC) check() error {
	if err := checkAlpha(c.Alpha); err != nil {
		return err
	}
	switch {
	case c.Particles < 0:
		return &ParamError{"particles", float64(c.Particles), "1 or more, or 0 for the default 64"}
	case c.Ramp < 0:
		return &ParamError{"ramp", float64(c.Ramp), "a number of tokens, or 0 for none"}
	}
	return checkProposal(c.Proposal)
}

// power is α at the token after n others.
func (c SMC) power(n int) float64 {
	if n+1 >= c.Ramp {
		return c.Alpha
	}
	return 1 + (c.Alpha-1)*float64(n+1)/float64(c.Ramp)
}

// proposal is b of that token.
func (c SMC) proposal(n int) float64 {
	if c.Proposal != 0 {
		return c.Proposal
	}
	return c.power(n)
}

// swarm is what SMC carries.
type swarm struct {
	origin
	draws  []*draw
	lw     []float64
	nodes  []*node // of the draws that go on
	length int     // tokens drawn
	drawn  drawing
}

// Init decodes the prompt, but for its last token.
func (c SMC) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	if err := c.check(); err != nil {
		return State{}, fmt.Errorf("samplers: smc: %w", err)
	}
	c = c.withDefaults()
	s, o, err := beginWhole(ctx, m, prompt, opt)
	if err != nil {
		return s, err
	}
	if free := m.Branches(); c.Particles > free {
		err := fmt.Errorf("samplers: smc: %d particles wanted, %d branches are free: %w", c.Particles, free, llm.ErrBranches)
		if drop := m.Drop(s.Branch); drop != nil {
			err = fmt.Errorf("%w; %v", err, drop)
		}
		return State{}, err
	}
	w := &swarm{origin: o, lw: make([]float64, c.Particles), drawn: whole(m)}
	for i := range c.Particles {
		w.draws = append(w.draws, c.particle(s, i, 0, &draw{}))
	}
	return s.With(w), nil
}

// particle goes on from of as particle i of the generation that begins after
// length tokens.
func (c SMC) particle(s State, i, length int, of *draw) *draw {
	return of.cut(len(of.Tokens), of.power, stream{s.Seed, Key{Stream: "particle", Chain: uint64(i), Branch: uint64(length)}})
}

// Forecast is the most tokens that are decoded.
func (c SMC) Forecast(_, horizon, _ int) int {
	return c.withDefaults().Particles * horizon
}

// Step draws one token for every particle, and the last step one particle.
func (c SMC) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	c = c.withDefaults()
	w := s.Carried().(*swarm)
	info, err := c.advance(ctx, m, s, w)
	if err != nil {
		return s, info, fmt.Errorf("samplers: smc: token %d: %w", w.length+1, err)
	}
	full := m.Room() < len(w.nodes)
	if len(w.nodes) > 0 && w.length < s.Horizon && !full {
		best := w.draws[0]
		for i, dr := range w.draws {
			if w.lw[i] > w.lw[0] {
				best = dr
			}
		}
		info.Draft = best.Tokens
		return s, info, nil
	}
	lw := c.final(w)
	probs, err := Normalise(lw)
	if err != nil {
		return s, info, fmt.Errorf("samplers: smc: %w", err)
	}
	info.ESS, info.Scores = ESS(lw), probs
	chosen := w.draws[pick(probs, Uniform(s.Seed, Key{Stream: "choose"}))]
	next, emitted := emitWhole(m, s, chosen, c.proposal, c.Alpha)
	info.Steps, info.Draft = emitted.Steps, chosen.Tokens
	if err := w.drawn.drop(m); err != nil {
		return next, info, fmt.Errorf("samplers: smc: %w", err)
	}
	return next, info, nil
}

// final is the particles' weights, made up for what the ramp has not reached.
func (c SMC) final(w *swarm) []float64 {
	missing := c.Alpha - c.power(w.length-1)
	lw := make([]float64, len(w.lw))
	for i, dr := range w.draws {
		lw[i] = w.lw[i] + missing*dr.LogProb()
	}
	return lw
}

// advance resamples where that is due, draws one token for every particle
// that goes on, and weighs.
func (c SMC) advance(ctx context.Context, m Model, s State, w *swarm) (Info, error) {
	var info Info
	var err error
	if w.length == 0 {
		w.nodes, err = w.drawn.roots(m, w.origin, w.draws)
	} else if ess := ESS(w.lw); ess < float64(c.Particles)/2 {
		info.ESS = ess
		err = c.resample(m, s, w, &info)
	}
	if err != nil {
		return info, err
	}
	power, b := c.power(w.length), c.proposal(w.length)
	for i, dr := range w.draws { // what they hold, at the new power
		if w.length > 0 {
			w.lw[i] += (power - c.power(w.length-1)) * dr.LogProb()
		}
		if !dr.Ended {
			dr.power = b
		}
	}
	if err := w.drawn.level(ctx, m, w.nodes); err != nil {
		return info, err
	}
	for i, dr := range w.draws {
		if len(dr.Tokens) > w.length {
			w.lw[i] += dr.logWeightFrom(w.length, power, b)
		}
	}
	w.length++
	if w.length < s.Horizon {
		w.nodes, err = w.drawn.children(m, w.nodes, false)
	}
	return info, err
}

// resample replaces the particles by as many copies of each as its weight is
// worth, and parts each node's draws anew.
func (c SMC) resample(m Model, s State, w *swarm, info *Info) error {
	probs, err := Normalise(w.lw)
	if err != nil {
		return err
	}
	u := Uniform(s.Seed, Key{Stream: "resample", Step: uint64(w.length)})
	parents := systematic(probs, u)
	info.Resampled = append(info.Resampled, llm.Resampling{At: w.length, ESS: info.ESS, Parents: parents})
	copies := map[*draw][]*draw{}
	draws := make([]*draw, len(parents))
	for i, p := range parents {
		draws[i] = c.particle(s, i, w.length, w.draws[p])
		copies[w.draws[p]] = append(copies[w.draws[p]], draws[i])
		w.lw[i] = 0
	}
	w.draws = draws
	var going []*node
	held := map[llm.Branch]bool{}
	for _, n := range w.nodes {
		var now []*draw
		for _, dr := range n.draws {
			now = append(now, copies[dr]...)
		}
		if n.draws = now; len(now) > 0 {
			going = append(going, n)
			held[n.branch] = true
		}
	}
	w.nodes = going
	// Branches of particles without descendants make room.
	var idle []llm.Branch
	opened := w.drawn.opened[:0]
	for _, br := range w.drawn.opened {
		if held[br] {
			opened = append(opened, br)
			continue
		}
		idle = append(idle, br)
	}
	w.drawn.opened = opened
	return m.Drop(idle...)
}

// systematic returns for each of len(probs) places the index that it gets: one
// uniform, and from it equal steps through the cumulative probabilities, so
// that index i gets N·p_i places, rounded up or down.
func systematic(probs []float64, u float64) []int {
	n := len(probs)
	parents := make([]int, n)
	i, cumulative := 0, probs[0]
	for k := range parents {
		at := (float64(k) + u) / float64(n)
		for at >= cumulative && i < n-1 {
			i++
			cumulative += probs[i]
		}
		parents[k] = i
	}
	for k := range parents { // rounding at the end must not choose the impossible
		for probs[parents[k]] == 0 && parents[k] > 0 {
			parents[k]--
		}
	}
	return parents
}

// distinct is how many different particles of generation 0 the last one
// descends from.
func distinct(generations []llm.Resampling) int {
	if len(generations) == 0 {
		return 0
	}
	n := len(generations[0].Parents)
	from := make([]int, n)
	for i := range from {
		from[i] = i
	}
	for _, g := range generations {
		next := make([]int, n)
		for i, p := range g.Parents {
			next[i] = from[p]
		}
		from = next
	}
	seen := map[int]bool{}
	for _, f := range from {
		seen[f] = true
	}
	return len(seen)
}
