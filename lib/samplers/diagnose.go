package samplers

import (
	"fmt"
	"math"

	"github.com/branchbook/branchbook/lib/llm"
)

// Bounds under which a result deserves a second look.
const (
	adequateESS  = 2    // fewer: one rollout is the whole estimate
	adequateTopK = 30   // fewer: rare words cannot be chosen
	adequateTopP = 0.8  // less: nearly greedy
	noticed      = 1e-3 // share of the probability whose loss is worth a line
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
	}
	if k := rec.Params["top_k"]; k > 0 && k < adequateTopK && lost > noticed {
		warn("top_k %.0f is under %d: rare tokens cannot be chosen; %.2g of the model's probability was left out on average", k, adequateTopK, lost)
	}
	if p, ok := rec.Params["top_p"]; ok && p < adequateTopP && lost > noticed {
		warn("top_p %v is under %v: nearly greedy; %.2g of the model's probability was left out on average", p, adequateTopP, lost)
	}
	return warnings
}
