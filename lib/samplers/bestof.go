package samplers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/branchbook/branchbook/lib/llm"
)

// Scores by which BestOf chooses.
const (
	// ScoreSum is Σ log p, the completion's log-probability. It prefers short
	// completions, each token being one more factor under 1.
	ScoreSum = "sum"
	// ScoreMean is Σ log p divided by the number of tokens, the end token
	// among them.
	ScoreMean = "mean"
	// ScorePerByte is Σ log p divided by the number of bytes of the text,
	// which does not depend on how text is cut into tokens; for an empty text
	// it is the sum.
	ScorePerByte = "per byte"
)

// BestOf draws N completions from the model and emits the one with the best
// score. It is a baseline: as N grows it tends to the most probable completion
// among those of usual length, whatever their number.
type BestOf struct {
	N           int     // 0 means 8
	Score       string  // ScoreSum, which "" means; ScoreMean or ScorePerByte
	Temperature float64 // of the draws; 0 means 1
}

// Majority draws N completions from the model and emits the first that gives
// the answer which most give; of answers with as many, the one that came
// first. It is a baseline for questions whose answers can be compared, and
// known as self-consistency: Wang et al., arXiv 2203.11171.
type Majority struct {
	N           int     // 0 means 8
	Temperature float64 // of the draws; 0 means 1
	// Answer takes the answer out of a completion's text. nil means all of
	// it, without spaces around it.
	Answer func(text string) string
}

const defaultN = 8

// Name tells the score: "best of n by sum".
func (b BestOf) Name() string {
	if b.Score == "" {
		b.Score = ScoreSum
	}
	return "best of n by " + b.Score
}

// Params are n and temperature.
func (b BestOf) Params() map[string]float64 { return several{b.N, b.Temperature}.params() }

// Init decodes the prompt, but for its last token.
func (b BestOf) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	switch b.Score {
	case "", ScoreSum, ScoreMean, ScorePerByte:
	default:
		return State{}, fmt.Errorf("samplers: best of n: score is %q, want %q, %q or %q", b.Score, ScoreSum, ScoreMean, ScorePerByte)
	}
	return several{b.N, b.Temperature}.init(ctx, m, prompt, opt, b.Name())
}

// Forecast is the most tokens that are decoded.
func (b BestOf) Forecast(_, horizon, _ int) int { return several{b.N, b.Temperature}.forecast(horizon) }

// Step draws all completions and emits one.
func (b BestOf) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	return several{b.N, b.Temperature}.step(ctx, m, s, b.Name(), func(draws []*draw) (int, []float64) {
		scores, best := make([]float64, len(draws)), 0
		for i, d := range draws {
			scores[i] = Score(b.Score, d.Future, len(textOf(m, d.Tokens)))
			if scores[i] > scores[best] {
				best = i
			}
		}
		return best, scores
	})
}

// Score is what a future whose text has so many bytes is worth by one of
// ScoreSum (which "" means), ScoreMean and ScorePerByte.
func Score(by string, f Future, bytes int) float64 {
	sum := f.LogProb()
	switch {
	case by == ScoreMean && len(f.Tokens) > 0:
		return sum / float64(len(f.Tokens))
	case by == ScorePerByte && bytes > 0:
		return sum / float64(bytes)
	}
	return sum
}

// textOf joins tokens, without an end token.
func textOf(m Model, tokens []llm.Token) string {
	var b []byte
	for _, t := range tokens {
		if !m.IsEnd(t) {
			b = append(b, m.Piece(t)...)
		}
	}
	return string(b)
}

// Name is "majority".
func (v Majority) Name() string { return "majority" }

// Params are n and temperature.
func (v Majority) Params() map[string]float64 { return several{v.N, v.Temperature}.params() }

// Init decodes the prompt, but for its last token.
func (v Majority) Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error) {
	return several{v.N, v.Temperature}.init(ctx, m, prompt, opt, v.Name())
}

// Forecast is the most tokens that are decoded.
func (v Majority) Forecast(_, horizon, _ int) int {
	return several{v.N, v.Temperature}.forecast(horizon)
}

// Step draws all completions and emits one.
func (v Majority) Step(ctx context.Context, m Model, s State) (State, Info, error) {
	answer := v.Answer
	if answer == nil {
		answer = strings.TrimSpace
	}
	return several{v.N, v.Temperature}.step(ctx, m, s, v.Name(), func(draws []*draw) (int, []float64) {
		votes := map[string]int{}
		answers := make([]string, len(draws))
		for i, d := range draws {
			answers[i] = answer(textOf(m, d.Tokens))
			votes[answers[i]]++
		}
		shares, best := make([]float64, len(draws)), 0
		for i, a := range answers {
			shares[i] = float64(votes[a]) / float64(len(draws))
			if votes[a] > votes[answers[best]] {
				best = i
			}
		}
		return best, shares
	})
}

// several draws n completions at a temperature.
type several struct {
	n           int
	temperature float64
}

func (v several) withDefaults() several {
	v.n = or(v.n, defaultN)
	if v.temperature == 0 {
		v.temperature = 1
	}
	return v
}

func (v several) params() map[string]float64 {
	v = v.withDefaults()
	return map[string]float64{"n": float64(v.n), "temperature": v.temperature}
}

func (v several) forecast(horizon int) int { return v.withDefaults().n * horizon }

func (v several) init(ctx context.Context, m Model, prompt []llm.Token, opt Options, name string) (State, error) {
	err := Candidates{Temperature: v.temperature}.Check()
	if v.n < 0 {
		err = &ParamError{"n", float64(v.n), "1 or more, or 0 for the default 8"}
	}
	if err == nil && math.IsInf(1/v.withDefaults().temperature, 0) {
		err = &ParamError{"temperature", v.temperature, "a number whose inverse is finite"}
	}
	if err != nil {
		return State{}, fmt.Errorf("samplers: %s: %w", name, err)
	}
	s, o, err := beginWhole(ctx, m, prompt, opt)
	return s.With(o), err
}

func (v several) step(ctx context.Context, m Model, s State, name string, choose func([]*draw) (int, []float64)) (State, Info, error) {
	v = v.withDefaults()
	o := s.Carried().(origin)
	draws := make([]*draw, v.n)
	for i := range draws {
		draws[i] = &draw{power: 1 / v.temperature, from: stream{s.Seed, Key{Stream: "sample", Chain: uint64(i)}}}
	}
	d := whole(m)
	if err := d.complete(ctx, m, o, draws, s.Horizon); err != nil {
		return s, Info{}, fmt.Errorf("samplers: %s: %w", name, err)
	}
	best, scores := choose(draws)
	next, info := emitWhole(m, s, draws[best], always(1/v.temperature), 1)
	info.Scores = scores
	return next, info, nil
}
