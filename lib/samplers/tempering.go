package samplers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Tempering draws a whole completion from the power distribution by parallel
// tempering: replicas whose powers go from 1 to α in equal ratios, each a
// chain that moves as MCMC does with b its own power, over one horizon. After
// each move neighbours exchange their completions with
//
//	min(1, exp((α_k − α_{k+1})·(log p(x_{k+1}) − log p(x_k)))),
//
// which costs nothing. The replica of power 1 moves freely, and what it finds
// comes down the ladder to the last, whose completion is emitted.
//
// A step is one move of all replicas and one round of exchanges, of even and
// odd pairs in turn.
//
// Geyer, Interface 23 (1991), for chains in general.
type Tempering struct {
	Alpha    float64 // α > 0, no default
	Replicas int     // 0 means 4; at least 2
	Moves    int     // 0 means 50
}

const (
	defaultReplicas       = 4
	defaultTemperingMoves = 50
)

// Name is "tempering".
func (t Tempering) Name() string { return "tempering" }

// Params are alpha, replicas and moves.
func (t Tempering) Params() map[string]float64 {
	t = t.withDefaults()
	return map[string]float64{"alpha": t.Alpha, "replicas": float64(t.Replicas), "moves": float64(t.Moves)}
}

func (t Tempering) withDefaults() Tempering {
	t.Replicas = or(t.Replicas, defaultReplicas)
	t.Moves = or(t.Moves, defaultTemperingMoves)
	return t
}

func (t Tempering) check() error {
	if err := checkAlpha(t.Alpha); err != nil {
		return err
	}
	switch {
	case t.Replicas < 0 || t.Replicas == 1:
		return &ParamError{"replicas", float64(t.Replicas), "2 or more, or 0 for the default 4"}
	case t.Moves < 0:
		return &ParamError{"moves", float64(t.Moves), "1 or more, or 0 for the default 50"}
	}
	return nil
}

// power is that of replica k: α^(k/(K−1)).
func (t Tempering) power(k int) float64 {
	return math.Pow(t.Alpha, float64(k)/float64(t.Replicas-1))
}

// ladder is what Tempering carries.
type ladder struct {
	origin
	at   []*draw
	step int
}

// Init decodes the prompt, but for its last token.
func (t Tempering) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	if err := t.check(); err != nil {
		return State{}, fmt.Errorf("samplers: tempering: %w", err)
	}
	s, o, err := beginWhole(ctx, m, prompt, opt)
	at := make([]*draw, t.withDefaults().Replicas)
	for k := range at {
		at[k] = &draw{}
	}
	return s.With(ladder{origin: o, at: at}), err
}

// Forecast is the most tokens that are decoded.
func (t Tempering) Forecast(_, horizon, _ int) int {
	t = t.withDefaults()
	return t.Replicas * horizon * (1 + 2*t.Moves) // after an exchange twice
}

// Step moves every replica and exchanges neighbours; the first step draws
// them.
func (t Tempering) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	t = t.withDefaults()
	l := s.Carried().(ladder)
	l.at = slices.Clone(l.at)
	var info Info
	if err := t.move(ctx, m, s, l, &info); err != nil {
		return s, info, fmt.Errorf("samplers: tempering: step %d: %w", l.step+1, err)
	}
	l.step++
	cold := l.at[len(l.at)-1]
	info.Draft, info.LogProbs = cold.Tokens, []float64{cold.LogProb()}
	if l.step > t.Moves {
		last, emitted := emitWhole(m, s, cold, always(t.Alpha), t.Alpha)
		return last.With(l), Info{Steps: emitted.Steps, Draft: info.Draft, LogProbs: info.LogProbs, Proposed: info.Proposed, Accepted: info.Accepted}, nil
	}
	t.exchange(s, l, &info)
	return s.With(l), info, nil
}

// move draws a new rest for every replica from a cut on, all in one batch, and
// accepts by the weights p^a/q_a from there. What a replica was handed by an
// exchange was drawn by another power, and is decoded once more for the
// normalisers of its own.
func (t Tempering) move(ctx context.Context, m Model, s State, l ladder, info *Info) error {
	key := func(stream string, k int) float64 {
		return Uniform(s.Seed, Key{Stream: stream, Chain: uint64(k), Step: uint64(l.step)})
	}
	cuts, proposed := make([]int, len(l.at)), make([]*draw, len(l.at))
	var draws []*draw
	for k, x := range l.at {
		power := t.power(k)
		cuts[k] = int(key("cut", k) * float64(s.Horizon))
		proposed[k] = x.cut(cuts[k], power, stream{s.Seed, Key{Stream: "replica", Chain: uint64(k), Branch: uint64(l.step)}})
		if l.step > 0 && x.power != power {
			l.at[k] = x.again(power)
			draws = append(draws, l.at[k])
		}
		draws = append(draws, proposed[k])
	}
	d := whole(m)
	if err := d.complete(ctx, m, l.origin, draws, s.Horizon); err != nil {
		return err
	}
	for k, x := range l.at {
		if l.step == 0 {
			l.at[k] = proposed[k]
			continue
		}
		if cuts[k] >= len(x.Tokens) {
			continue // past the end, where there is nothing to draw
		}
		info.Proposed++
		power := t.power(k)
		ratio := proposed[k].logWeightFrom(cuts[k], power, power) - x.logWeightFrom(cuts[k], power, power)
		if accepts(ratio, key("accept", k)) {
			n := min(cuts[k], len(x.Tokens))
			copy(proposed[k].LogZs[:n], x.LogZs[:n]) // by its own power
			copy(proposed[k].rows[:n], x.rows[:n])
			l.at[k] = proposed[k]
			info.Accepted++
		}
	}
	return nil
}

func (t Tempering) exchange(s State, l ladder, info *Info) {
	for k := l.step % 2; k+1 < len(l.at); k += 2 {
		info.Swaps++
		ratio := (t.power(k) - t.power(k+1)) * (l.at[k+1].LogProb() - l.at[k].LogProb())
		if accepts(ratio, Uniform(s.Seed, Key{Stream: "exchange", Chain: uint64(k), Step: uint64(l.step)})) {
			l.at[k], l.at[k+1] = l.at[k+1], l.at[k]
			info.Swapped++
		}
	}
}
