package samplers

import (
	"fmt"
	"math"

	"github.com/branchbook/branchbook/lib/llm"
)

// Bounds past which a result deserves a second look.
const (
	adequateRHat       = 1.1  // more: chains have not forgotten where they began
	adequateAcceptance = 0.05 // less: a chain hardly moved
	adequateDraws      = 10   // fewer independent draws: the start still shows
	adequateAncestors  = 0.1  // fewer distinct ones by particle: nearly one lineage
	adequateESS        = 2    // fewer: one rollout is the whole estimate
	adequateTopK       = 30   // fewer: rare words cannot be chosen
	adequateTopP       = 0.8  // less: nearly greedy
	adequateClamped    = 0.05 // more: what the jackknife corrects is noise
	noticed            = 1e-3 // share of the probability whose loss is worth a line
)

// diagnose returns one line for each thing that may mislead a reader of rec,
// however many of its steps it concerns.
func diagnose(rec *llm.Record) []string {
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	n := len(rec.Steps)
	if n == 0 {
		return nil
	}

	var low int
	least, lost := math.Inf(1), 0.0
	rollouts := false
	for _, s := range rec.Steps {
		lost += s.Truncated / float64(n)
		if s.ESS == 0 {
			continue
		}
		rollouts = true
		least = min(least, s.ESS)
		if s.ESS < adequateESS {
			low++
		}
	}
	switch {
	case rollouts && rec.Params["rollouts"] == 1:
		warn("one rollout for each candidate: no standard errors and no jackknife; set Rollouts to 2 or more")
	case low > 0:
		warn("effective sample size of the look-ahead under %d at %d of %d tokens (least %.2f): raise Rollouts, raise Proposal towards alpha, or shorten LookAhead", adequateESS, low, n, least)
	case rec.Diagnostics.Clamped > adequateClamped:
		warn("the jackknife set %.2g of the probability to zero on average: its estimates are noise there; raise Rollouts or Proposal", rec.Diagnostics.Clamped)
	}
	if k := rec.Params["top_k"]; k > 0 && k < adequateTopK && lost > noticed {
		warn("top_k %.0f is under %d: rare tokens cannot be chosen; %.2g of the model's probability was left out on average", k, adequateTopK, lost)
	}
	if p, ok := rec.Params["top_p"]; ok && p < adequateTopP && lost > noticed {
		warn("top_p %v is under %v: nearly greedy; %.2g of the model's probability was left out on average", p, adequateTopP, lost)
	}
	d := rec.Diagnostics
	if d.Proposed > 0 && d.Acceptance < adequateAcceptance && rec.Params["moves"] > 0 {
		warn("%.0f %% of %s were accepted: the chain hardly moved; raise Moves, or lower alpha", 100*d.Acceptance, plural(d.Proposed, "move"))
	}
	switch {
	case d.RHat > adequateRHat:
		warn("R-hat %.2f is above %v: the chains have not settled; raise Moves", d.RHat, adequateRHat)
	case len(d.Chains) > 0 && d.Autocorrelation > 0 && float64(len(d.Chains[0])) < adequateDraws*d.Autocorrelation:
		warn("%s of a chain with autocorrelation %.1f count as %.1f independent ones: the completion may depend on where it began; raise Moves", plural(len(d.Chains[0]), "move"), d.Autocorrelation, float64(len(d.Chains[0]))/d.Autocorrelation)
	}
	if n := rec.Params["particles"]; n > 1 && rec.End != "" {
		if d.ESS > 0 && d.ESS < adequateESS {
			warn("effective sample size of the particles fell to %.2f of %.0f: raise Particles, or set Ramp", d.ESS, n)
		}
		if from := distinct(d.Ancestors); len(d.Ancestors) > 0 && float64(from) < adequateAncestors*n {
			warn("the %.0f particles descend from %d at the first token: the completion's beginning was chosen among few; raise Particles", n, from)
		}
	}
	return warnings
}

// summary gathers what steps tell into a record's diagnostics.
type summary struct {
	swaps, swapped     int
	proposed, accepted int
	chains             [][]float64
	errors             []llm.ErrorAt
	errorSteps         int
	d                  llm.Diagnostics
}

func (s *summary) add(info Info, rec *llm.Record) {
	s.proposed, s.accepted = s.proposed+info.Proposed, s.accepted+info.Accepted
	s.swaps, s.swapped = s.swaps+info.Swaps, s.swapped+info.Swapped
	for i, lp := range info.LogProbs {
		if i >= len(s.chains) {
			s.chains = append(s.chains, nil)
		}
		s.chains[i] = append(s.chains[i], lp)
	}
	s.ess(info.ESS)
	for _, step := range info.Steps {
		s.ess(step.ESS)
	}
	if len(info.Errors) >= len(s.errors) && len(info.Errors) > 0 {
		for i, e := range info.Errors {
			if i >= len(s.errors) {
				s.errors = append(s.errors, llm.ErrorAt{Rollouts: e.Rollouts})
			}
			s.errors[i].SE += e.SE
		}
		s.errorSteps++
	}
	s.d.Ancestors = append(s.d.Ancestors, info.Resampled...)
	if info.Scores != nil {
		s.d.Scores = info.Scores
	}
	rec.Cost.RolloutTokens += info.RolloutTokens
	rec.Cost.RolloutNodes += info.RolloutNodes
}

func (s *summary) ess(ess float64) {
	if ess > 0 && (s.d.ESS == 0 || ess < s.d.ESS) {
		s.d.ESS = ess
	}
}

func (s *summary) record(rec *llm.Record) {
	for _, step := range rec.Steps {
		s.d.Clamped += step.Clamped / float64(len(rec.Steps))
		s.d.Truncated += step.Truncated / float64(len(rec.Steps))
	}
	for _, e := range s.errors {
		s.d.Errors = append(s.d.Errors, llm.ErrorAt{Rollouts: e.Rollouts, SE: e.SE / float64(s.errorSteps)})
	}
	if s.d.Proposed = s.proposed; s.proposed > 0 {
		s.d.Acceptance = float64(s.accepted) / float64(s.proposed)
	}
	if s.swaps > 0 {
		s.d.Swaps = float64(s.swapped) / float64(s.swaps)
	}
	s.d.Chains = s.chains
	s.d.RHat, s.d.Autocorrelation = finite(RHat(s.chains)), Autocorrelation(s.chains)
	rec.Diagnostics = s.d
}

// finite keeps a number that JSON can hold: chains that each stand still at a
// place of their own have an infinite R-hat.
func finite(x float64) float64 { return min(x, math.MaxFloat64) }
