package samplers

import (
	"math"
	"math/rand/v2"
)

// MetropolisBranch runs an independence chain over a candidate's futures: each
// future is a proposal, accepted with min(1, w'/w), w = p^α/q_b. With b = 1
// that is (p'/p)^(α−1).
//
// Its estimate of ζ is the mean of w over all proposals, which is unbiased and
// uses every draw; the chain says, by its acceptance, how far the proposals
// are from p^α.
//
// Metropolis-Hastings with independent proposals: Tierney, Ann. Statist. 22
// (1994).
type MetropolisBranch struct {
	Equilibration int // moves before states count for StateAverage; 0 means 5, NoEquilibration none
	Proposals     int // all futures drawn; 0 means 30
	// StateAverage estimates ζ by the mean of p^α over the chain's states past
	// Equilibration, as Metropolis samplers of other programs do, so that
	// their numbers can be reproduced. That tends to S_2α/S_α and not to
	// ζ = S_α: the sampler then has another law than the power distribution.
	StateAverage bool

	o                  Outlook
	lw, lp             []float64
	state              int // index of the chain's state; -1 before the first
	proposed, accepted int
	states             []float64 // α·log p of each state past Equilibration
}

// NoEquilibration as MetropolisBranch's Equilibration counts every state.
const NoEquilibration = -1

const (
	defaultEquilibration = 5
	defaultProposals     = 30
)

// Name is "metropolis", or "metropolis, state average".
func (b *MetropolisBranch) Name() string {
	if b.StateAverage {
		return "metropolis, state average"
	}
	return "metropolis"
}

// Params are equilibration, proposals and state_average (0 or 1).
func (b *MetropolisBranch) Params() map[string]float64 {
	params := map[string]float64{"equilibration": float64(b.equilibration()), "proposals": float64(b.Draws()), "state_average": 0}
	if b.StateAverage {
		params["state_average"] = 1
	}
	return params
}

func (b *MetropolisBranch) equilibration() int {
	return max(or(b.Equilibration, defaultEquilibration), 0)
}

// Check returns a [*ParamError] where no state would be left to average.
func (b *MetropolisBranch) Check() error {
	switch {
	case b.Proposals < 0:
		return &ParamError{"proposals", float64(b.Proposals), "1 or more, or 0 for the default 30"}
	case b.Equilibration < NoEquilibration:
		return &ParamError{"equilibration", float64(b.Equilibration), "1 or more, 0 for the default 5, or NoEquilibration"}
	case b.equilibration() >= b.Draws():
		return &ParamError{"equilibration", float64(b.equilibration()), "fewer than the " + plural(b.Draws(), "proposal") + ", of which none would be left"}
	}
	return nil
}

// Draws is Proposals.
func (b *MetropolisBranch) Draws() int { return or(b.Proposals, defaultProposals) }

// Reset begins a chain.
func (b *MetropolisBranch) Reset(o Outlook) {
	*b = MetropolisBranch{Equilibration: b.Equilibration, Proposals: b.Proposals, StateAverage: b.StateAverage, o: o, state: -1}
}

// ShouldContinue reports whether proposals are left.
func (b *MetropolisBranch) ShouldContinue() bool { return len(b.lw) < b.Draws() }

// Step proposes f.
func (b *MetropolisBranch) Step(f Future) {
	n := len(b.lw)
	b.lw = append(b.lw, f.LogWeight(b.o.Alpha, b.o.Proposal))
	b.lp = append(b.lp, f.LogProb())
	if b.state < 0 {
		b.state = n
	} else {
		b.proposed++
		if accepts(b.lw[n]-b.lw[b.state], uniformOf(b.o.Rand)) {
			b.state = n
			b.accepted++
		}
	}
	if n >= b.equilibration() {
		b.states = append(b.states, b.o.Alpha*b.lp[b.state])
	}
}

func uniformOf(r *rand.Rand) float64 {
	if r == nil {
		return 0.5
	}
	return r.Float64()
}

// FutureLogProb is the log of the mean weight, or the states' average.
func (b *MetropolisBranch) FutureLogProb() float64 {
	if b.StateAverage {
		return LogMeanExp(b.states)
	}
	return LogMeanExp(b.lw)
}

func (b *MetropolisBranch) logWeights() []float64 {
	if b.StateAverage {
		return nil
	}
	return b.lw
}

func (b *MetropolisBranch) caveat() string {
	if b.StateAverage {
		return "the states' average tends to S_2α/S_α and not to ζ: this does not sample the power distribution; no standard errors"
	}
	return ""
}

func (b *MetropolisBranch) moves() (proposed, accepted int) { return b.proposed, b.accepted }

// ImportanceBranch is Importance's estimate without the jackknife, as a branch
// sampler: the mean of the futures' weights.
type ImportanceBranch struct {
	Rollouts int // M; 0 means 8

	o  Outlook
	lw []float64
}

// Name is "importance".
func (b *ImportanceBranch) Name() string { return "importance" }

// Params are rollouts.
func (b *ImportanceBranch) Params() map[string]float64 {
	return map[string]float64{"rollouts": float64(b.Draws())}
}

// Check returns a [*ParamError] for a number without meaning.
func (b *ImportanceBranch) Check() error {
	if b.Rollouts < 0 {
		return &ParamError{"rollouts", float64(b.Rollouts), "1 or more, or 0 for the default 8"}
	}
	return nil
}

// Draws is Rollouts.
func (b *ImportanceBranch) Draws() int { return or(b.Rollouts, defaultRollouts) }

// Reset begins anew.
func (b *ImportanceBranch) Reset(o Outlook) { b.o, b.lw = o, nil }

// ShouldContinue reports whether rollouts are left.
func (b *ImportanceBranch) ShouldContinue() bool { return len(b.lw) < b.Draws() }

// Step takes a rollout.
func (b *ImportanceBranch) Step(f Future) {
	b.lw = append(b.lw, f.LogWeight(b.o.Alpha, b.o.Proposal))
}

// FutureLogProb is the log of the mean weight; -Inf without any.
func (b *ImportanceBranch) FutureLogProb() float64 {
	if len(b.lw) == 0 {
		return math.Inf(-1)
	}
	return LogMeanExp(b.lw)
}

func (b *ImportanceBranch) logWeights() []float64 { return b.lw }
