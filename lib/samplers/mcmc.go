package samplers

import (
	"context"
	"fmt"

	"github.com/branchbook/branchbook/lib/llm"
)

// MCMC draws a whole completion from the power distribution by a Markov chain
// that grows block by block. Each block extends the completion by B tokens
// from q_b and then makes N moves: cut at a position drawn uniformly within
// the horizon, draw the rest anew from q_b, and accept with
//
//	min(1, [p(x')^α q_b(x)] / [p(x)^α q_b(x')])
//
// of the tokens from the cut on; the prompt and what stays of the completion
// cancel. With b = α that is exp(Σ log Z_α(x') − Σ log Z_α(x)).
//
// Within a block the horizon is fixed and an end token absorbs: what lies past
// it up to the horizon is as if it were filled with more of it, at no cost and
// no choice. So the proposal's density does not depend on lengths, and the
// chain's law tends to π_α. The published code compares only the tokens that
// both completions have, keeps no proposal that is longer, and returns at the
// first end token: it samples another law.
//
// A step is one block's growth or one move, of all chains together. The
// completion of the first chain is emitted with the last step; the others
// serve to tell whether it has settled.
//
// Karan and Du, arXiv 2510.14901, Algorithm 1; α = 4, B = 192, N = 10 there.
type MCMC struct {
	Alpha    float64 // α > 0, no default
	Block    int     // B tokens; 0 means 192
	Moves    int     // N for each block; 0 means 10, NoMoves none
	Proposal float64 // b; 0 means α
	Chains   int     // 0 means 1; R-hat wants 4
}

// NoMoves as MCMC's Moves leaves each block as it was drawn.
const NoMoves = -1

const (
	defaultMCMCBlock = 192
	defaultMoves     = 10
)

// Name is "mcmc".
func (c MCMC) Name() string { return "mcmc" }

// Params are alpha, block, moves, proposal and chains.
func (c MCMC) Params() map[string]float64 {
	c = c.withDefaults()
	return map[string]float64{
		"alpha": c.Alpha, "block": float64(c.Block), "moves": float64(max(c.Moves, 0)),
		"proposal": c.Proposal, "chains": float64(c.Chains),
	}
}

func (c MCMC) withDefaults() MCMC {
	c.Block = or(c.Block, defaultMCMCBlock)
	c.Moves = or(c.Moves, defaultMoves)
	c.Chains = or(c.Chains, 1)
	if c.Proposal == 0 {
		c.Proposal = c.Alpha
	}
	return c
}

func (c MCMC) check() error {
	if err := checkAlpha(c.Alpha); err != nil {
		return err
	}
	switch {
	case c.Block < 0:
		return &ParamError{"block", float64(c.Block), "1 or more, or 0 for the default 192"}
	case c.Moves < NoMoves:
		return &ParamError{"moves", float64(c.Moves), "1 or more, 0 for the default 10, or NoMoves"}
	case c.Chains < 0:
		return &ParamError{"chains", float64(c.Chains), "1 or more, or 0 for the default 1"}
	}
	return checkProposal(c.Proposal)
}

// chains is what MCMC carries.
type chains struct {
	origin
	at      []*draw // each chain's completion so far
	horizon int     // of the block
	moved   int     // within the block
	step    int     // steps so far
}

// Init decodes the prompt, but for its last token.
func (c MCMC) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	if err := c.check(); err != nil {
		return State{}, fmt.Errorf("samplers: mcmc: %w", err)
	}
	s, o, err := beginWhole(ctx, m, prompt, opt)
	at := make([]*draw, c.withDefaults().Chains)
	for i := range at {
		at[i] = &draw{}
	}
	return s.With(chains{origin: o, at: at}), err
}

// Forecast is the most tokens that are decoded: growth and every move take a
// horizon's worth, part of it in one batch.
func (c MCMC) Forecast(_, horizon, _ int) int {
	if c.check() != nil {
		return 0
	}
	c = c.withDefaults()
	n := 0
	for h := min(c.Block, horizon); ; h = min(h+c.Block, horizon) {
		n += h * c.Chains * (1 + max(c.Moves, 0))
		if h == horizon {
			return n
		}
	}
}

// Step grows the chains by a block or makes one move of each.
func (c MCMC) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	c = c.withDefaults()
	return c.step(ctx, m, s, c.logRatio)
}

// ratio is the log of the acceptance ratio of a move from a cut on.
type ratio func(x, proposed *draw, cut int) float64

func (c MCMC) step(ctx context.Context, m Model, s State, r ratio) (State, Info, error) {
	k := s.Carried().(chains)
	k.step++
	var info Info
	var err error
	if k.horizon == 0 || k.moved >= c.Moves {
		k, err = c.grow(ctx, m, s, k)
	} else {
		k, info, err = c.move(ctx, m, s, k, r)
	}
	if err != nil {
		return s, info, fmt.Errorf("samplers: mcmc: step %d: %w", k.step, err)
	}
	info.Draft = k.at[0].Tokens
	if k.horizon == s.Horizon && k.moved >= max(c.Moves, 0) {
		last, emitted := emitWhole(m, s, k.at[0], always(c.Proposal), c.Alpha)
		s, info.Steps = last, emitted.Steps
	}
	return s.With(k), info, nil
}

// grow extends every chain to the next block's horizon.
func (c MCMC) grow(ctx context.Context, m Model, s State, k chains) (chains, error) {
	k.horizon, k.moved = min(k.horizon+c.Block, s.Horizon), 0
	at := make([]*draw, len(k.at))
	for i, x := range k.at {
		at[i] = x.cut(len(x.Tokens), c.Proposal, k.stream(s, i))
	}
	k.at = at
	d := whole(m)
	return k, d.complete(ctx, m, k.origin, at, k.horizon)
}

// stream draws the tokens of chain i in this step.
func (k chains) stream(s State, i int) stream {
	return stream{s.Seed, Key{Stream: "chain", Chain: uint64(i), Branch: uint64(k.step)}}
}

// move proposes to each chain a new rest from a cut on.
func (c MCMC) move(ctx context.Context, m Model, s State, k chains, r ratio) (chains, Info, error) {
	key := func(stream string, i int) float64 {
		return Uniform(s.Seed, Key{Stream: stream, Chain: uint64(i), Step: uint64(k.step)})
	}
	cuts := make([]int, len(k.at))
	for i := range cuts {
		cuts[i] = int(key("cut", i) * float64(k.horizon))
	}
	var info Info
	proposed := make([]*draw, len(k.at))
	for i, x := range k.at {
		proposed[i] = x.cut(cuts[i], c.Proposal, k.stream(s, i))
	}
	d := whole(m)
	if err := d.complete(ctx, m, k.origin, proposed, k.horizon); err != nil {
		return k, info, err
	}
	at := make([]*draw, len(k.at))
	for i, x := range k.at {
		at[i] = x
		if cuts[i] >= len(x.Tokens) {
			continue // past the end, where there is nothing to draw
		}
		info.Proposed++
		if accepts(r(x, proposed[i], cuts[i]), key("accept", i)) {
			at[i] = proposed[i]
			info.Accepted++
		}
	}
	k.at = at
	k.moved++
	if k.horizon == s.Horizon {
		for _, x := range at {
			info.LogProbs = append(info.LogProbs, x.LogProb())
		}
	}
	return k, info, nil
}

// logRatio is that of the two weights p^α/q_b of the tokens from the cut on.
// Past an end token there are none.
func (c MCMC) logRatio(x, proposed *draw, cut int) float64 {
	return proposed.logWeightFrom(cut, c.Alpha, c.Proposal) - x.logWeightFrom(cut, c.Alpha, c.Proposal)
}
