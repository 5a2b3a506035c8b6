package samplers

import (
	"context"
	"fmt"

	"github.com/branchbook/branchbook/lib/llm"
)

// Block draws from the power distribution several tokens at a time: L blocks
// of B tokens from q_b, each weighed by p^α·ζ̂/q, of which one is chosen. ζ̂ is
// the mean weight of M rollouts of at most H tokens after each block; it is 1
// after an end token and at the horizon, so that the last block needs none.
// The bias is O(1/L).
//
// Blocks and rollouts that are equal so far are decoded once. The candidates
// of a step are the 20 most probable tokens, and Prob is that of q_b, from
// which the blocks were drawn.
//
// Scalable Power Sampling, arXiv 2601.21590. The proposal exponent b is ours.
type Block struct {
	Alpha     float64 // α > 0, no default
	Tokens    int     // B of a block; 0 means 8
	Blocks    int     // L to choose from; 0 means 8
	Rollouts  int     // M for each block; 0 means 8
	LookAhead int     // H; 0 means 16, NoLookAhead none
	Proposal  float64 // b; 0 means (1+α)/2 for B+H up to 16 and α past it
	NoMerge   bool    // decode equal blocks and rollouts each
}

const (
	defaultBlocks      = 8
	defaultBlockTokens = 8
)

// Name is "block".
func (b Block) Name() string { return "block" }

// Params are alpha, tokens, blocks, rollouts, look_ahead and proposal.
func (b Block) Params() map[string]float64 {
	b = b.withDefaults()
	return map[string]float64{
		"alpha": b.Alpha, "tokens": float64(b.Tokens), "blocks": float64(b.Blocks),
		"rollouts": float64(b.Rollouts), "look_ahead": float64(max(b.LookAhead, 0)), "proposal": b.Proposal,
	}
}

func (b Block) withDefaults() Block {
	b.Tokens = or(b.Tokens, defaultBlockTokens)
	b.Blocks = or(b.Blocks, defaultBlocks)
	b.Rollouts = or(b.Rollouts, defaultRollouts)
	b.LookAhead = or(b.LookAhead, defaultLookAhead)
	b.Proposal = proposal(b.Proposal, b.Alpha, b.Tokens+b.LookAhead)
	return b
}

// or is n, or what it is where it was left 0.
func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func (b Block) check() error {
	if err := checkAlpha(b.Alpha); err != nil {
		return err
	}
	switch {
	case b.Tokens < 0:
		return &ParamError{"tokens", float64(b.Tokens), "1 or more, or 0 for the default 8"}
	case b.Blocks < 0:
		return &ParamError{"blocks", float64(b.Blocks), "1 or more, or 0 for the default 8"}
	case b.Rollouts < 0:
		return &ParamError{"rollouts", float64(b.Rollouts), "1 or more, or 0 for the default 8"}
	case b.LookAhead < NoLookAhead:
		return &ParamError{"look-ahead", float64(b.LookAhead), "1 or more, 0 for the default 16, or NoLookAhead"}
	}
	return checkProposal(b.Proposal)
}

// Init decodes the prompt, but for its last token.
func (b Block) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	if err := b.check(); err != nil {
		return State{}, fmt.Errorf("samplers: block: %w", err)
	}
	s, o, err := beginWhole(ctx, m, prompt, opt)
	return s.With(o), err
}

// Forecast is the most tokens that are decoded.
func (b Block) Forecast(_, horizon, _ int) int {
	if b.check() != nil {
		return 0
	}
	b = b.withDefaults()
	n := 0
	for at := 0; at < horizon; at += b.Tokens {
		tokens := min(b.Tokens, horizon-at)
		n += b.Blocks * tokens
		if depth := min(b.LookAhead, horizon-at-tokens); depth > 0 {
			n += b.Blocks * (1 + tokens + b.Rollouts*(depth-1))
		}
		n += min(tokens, horizon-at-tokens) // the chosen block
	}
	return n
}

// Step emits one block.
func (b Block) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	next, info, err := b.withDefaults().step(ctx, m, s)
	if err != nil {
		err = fmt.Errorf("samplers: block at token %d: %w", len(s.Tokens)+1, err)
	}
	return next, info, err
}

func (b Block) step(ctx context.Context, m Model, s State) (State, Info, error) {
	o := s.Carried().(origin)
	length := min(b.Tokens, s.Left())
	if room := m.Room(); room < length { // what was emitted fills the cache
		if room < 1 {
			s.End = llm.EndContext
			return s, Info{}, nil
		}
		length = room
	}
	blocks := make([]*draw, b.Blocks)
	for i := range blocks {
		blocks[i] = &draw{power: b.Proposal, from: stream{s.Seed, Key{Stream: "block", Branch: uint64(i), Step: uint64(len(s.Tokens)) << 32}}}
	}
	d := drawing{reads: llm.Step{Top: min(listed, vocabulary(m))}, keep: true, apart: b.NoMerge}
	if err := d.complete(ctx, m, o, blocks, length); err != nil {
		return s, Info{}, err
	}
	ahead, err := b.lookAhead(ctx, m, s, o, blocks)
	if err != nil {
		return s, Info{}, err
	}
	lw := make([]float64, len(blocks))
	for i, block := range blocks {
		lw[i] = block.LogWeight(b.Alpha, b.Proposal) + ahead.zeta(i)
	}
	probs, err := Normalise(lw)
	if err != nil {
		return s, Info{}, err
	}
	chosen := blocks[pick(probs, s.Uniform("choose"))]
	s, info, err := emitBlock(ctx, m, s, o, chosen, b.Proposal, b.Alpha)
	info.ESS, info.Scores = ESS(lw), probs
	info.RolloutTokens, info.RolloutNodes = ahead.tokens, ahead.nodes
	return s, info, err
}

// blockView is what was seen after each block; equal blocks share it.
type blockView struct {
	rollouts      map[int][]*draw // by block
	alpha, power  float64
	tokens, nodes int
}

func (v blockView) zeta(block int) float64 {
	var lw []float64
	for _, r := range v.rollouts[block] {
		lw = append(lw, r.LogWeight(v.alpha, v.power))
	}
	if len(lw) == 0 {
		return 0
	}
	return LogMeanExp(lw)
}

// lookAhead draws the rollouts after each block that goes on.
func (b Block) lookAhead(ctx context.Context, m Model, s State, o origin, blocks []*draw) (blockView, error) {
	v := blockView{rollouts: map[int][]*draw{}, alpha: b.Alpha, power: b.Proposal}
	depth := min(b.LookAhead, s.Left()-len(blocks[0].Tokens))
	for _, block := range blocks {
		depth = min(depth, s.Left()-len(block.Tokens))
	}
	if depth < 1 || b.Alpha == 1 {
		return v, nil
	}
	var draws []*draw
	for i, block := range blocks {
		if block.Ended {
			continue
		}
		for r := range b.Rollouts {
			dr := block.cut(len(block.Tokens), b.Proposal, stream{s.Seed, Key{Stream: "rollout", Chain: uint64(i), Branch: uint64(r), Step: uint64(len(s.Tokens)) << 32}})
			v.rollouts[i] = append(v.rollouts[i], dr)
			draws = append(draws, dr)
		}
	}
	length := len(blocks[0].Tokens)
	for _, block := range blocks {
		length = max(length, len(block.Tokens))
	}
	if room := m.Room(); room < length+depth {
		depth = room - length
	}
	d := drawing{apart: b.NoMerge}
	if err := d.complete(ctx, m, o, draws, length+depth); err != nil {
		return v, err
	}
	v.tokens, v.nodes = d.tokens, d.nodes
	for _, dr := range draws { // what follows the block
		dr.Tokens, dr.LogProbs, dr.LogZs = dr.Tokens[length:], dr.LogProbs[length:], dr.LogZs[length:]
	}
	return v, nil
}

// emitBlock emits a block and makes it part of the state's branch.
func emitBlock(ctx context.Context, m Model, s State, o origin, block *draw, power, alpha float64) (State, Info, error) {
	var info Info
	for i, t := range block.Tokens {
		info.Steps = append(info.Steps, drawnStep(m, block.rows[i], power, alpha))
		s = s.push(m, t)
	}
	if s.End != "" {
		return s, info, nil
	}
	if m.Room() < len(block.Tokens) {
		s.End = llm.EndContext
		return s, info, nil
	}
	held := append([]llm.Token{o.last}, block.Tokens[:len(block.Tokens)-1]...)
	_, err := m.Extend(ctx, []llm.Step{{Branch: s.Branch, Tokens: held}})
	return s.With(origin{s.Branch, block.Tokens[len(block.Tokens)-1]}), info, err
}
