package samplers

import (
	"math"

	"github.com/branchbook/branchbook/lib/llm"
)

// emitWhole ends a generation with a completion whose token i was drawn from
// q_b, b = power(i). Its steps list the 20 most probable tokens beside each of
// its own; Prob is that of q_b.
func emitWhole(m Model, s State, d *draw, power func(i int) float64, alpha float64) (State, Info) {
	var info Info
	for i, t := range d.Tokens {
		info.Steps = append(info.Steps, drawnStep(m, d.rows[i], power(i), alpha))
		s = s.push(m, t)
	}
	if s.End == "" { // cut where the cache was full
		s.End = llm.EndContext
	}
	return s, info
}

// always is one power for every token.
func always(power float64) func(int) float64 { return func(int) float64 { return power } }

// whole is what the samplers of whole completions draw with.
func whole(m Model) drawing {
	return drawing{reads: llm.Step{Top: min(listed, vocabulary(m))}, keep: true}
}

// accepts is Metropolis' rule for the log of the ratio of a move. A ratio that
// is not a number (both weights zero) accepts: nothing holds a chain at a
// completion of probability 0.
func accepts(logRatio, u float64) bool {
	return logRatio >= 0 || math.IsNaN(logRatio) || u < math.Exp(logRatio)
}
