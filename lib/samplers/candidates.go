package samplers

import (
	"errors"
	"math"

	"github.com/branchbook/branchbook/lib/llm"
)

// Candidates says which next tokens are weighed at all: the model's
// distribution is tempered, then cut to the TopK most probable tokens, then
// to the smallest set of those whose share of their mass exceeds TopP
// (nucleus: Holtzman et al., arXiv 1904.09751), then to those with at least
// MinP of the most probable one's probability (arXiv 2407.01082). The zero
// value keeps every token.
type Candidates struct {
	Temperature float64 // 0 means 1
	TopK        int     // 0 means all, except where a sampler says otherwise
	// TopP is in (0, 1]; 0 means 1, which keeps all. Without TopK it takes
	// the whole vocabulary from the model at each step, which is slower.
	TopP float64
	// MinP is in [0, 1]; 0 keeps all. Without TopK it is slower, like TopP.
	MinP float64
}

// NewCandidates is the candidate factory of those who give every number: there
// are no defaults, so that a top_k of 0 and a top_p of 0 are errors,
// [*ParamError]. The temperature is 1/alpha.
func NewCandidates(topK int, topP, alpha float64) (Candidates, error) {
	switch {
	case topK < 1:
		return Candidates{}, &ParamError{"top_k", float64(topK), "1 or more"}
	case !(topP > 0 && topP <= 1):
		return Candidates{}, &ParamError{"top_p", topP, "a number above 0 and at most 1"}
	}
	if err := checkAlpha(alpha); err != nil {
		return Candidates{}, err
	}
	c := Candidates{Temperature: 1 / alpha, TopK: topK, TopP: topP}
	return c, c.Check()
}

// ErrNoToken is the error for a step at which no token has any probability.
var ErrNoToken = errors.New("no token left: every candidate has probability 0")

// Check returns a [*ParamError] for a setting without meaning.
func (c Candidates) Check() error {
	switch {
	case !(c.Temperature >= 0) || math.IsInf(c.Temperature, 1):
		return &ParamError{"temperature", c.Temperature, "a finite number above 0, or 0 for the default 1"}
	case c.TopK < 0:
		return &ParamError{"top_k", float64(c.TopK), "1 or more, or 0 for the default"}
	case !(c.TopP >= 0 && c.TopP <= 1):
		return &ParamError{"top_p", c.TopP, "a number above 0 and at most 1, or 0 for the default 1"}
	case !(c.MinP >= 0 && c.MinP <= 1):
		return &ParamError{"min_p", c.MinP, "a number from 0 to 1"}
	}
	return nil
}

func (c Candidates) withDefaults() Candidates {
	if c.Temperature == 0 {
		c.Temperature = 1
	}
	if c.TopP == 0 {
		c.TopP = 1
	}
	return c
}

// cuts reports whether any token may be left out.
func (c Candidates) cuts() bool { return c.TopK > 0 || c.TopP > 0 && c.TopP < 1 || c.MinP > 0 }

// top is how many of the most probable tokens of a vocabulary Choose must
// see.
func (c Candidates) top(vocabulary int) int {
	if c.TopK > 0 {
		return min(c.TopK, vocabulary)
	}
	return vocabulary
}

// Choose returns the candidates among top, which holds the most probable
// tokens by falling probability: TopK of them, or the whole vocabulary.
// Tokens of probability 0 are no candidates; where none is left the error is
// [ErrNoToken].
//
// The result shares top's memory; its log-probabilities are the model's own.
func (c Candidates) Choose(top []llm.TokenLogProb) ([]llm.TokenLogProb, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.TopK > 0 && c.TopK < len(top) {
		top = top[:c.TopK]
	}
	for len(top) > 0 && math.IsInf(top[len(top)-1].LogProb, -1) {
		top = top[:len(top)-1]
	}
	lw := make([]float64, len(top))
	for i, t := range top {
		lw[i] = (t.LogProb - top[0].LogProb) / c.Temperature // first, so that none overflows
	}
	probs, err := Normalise(lw)
	if err != nil {
		return nil, err
	}
	n := len(top)
	if c.TopP < 1 {
		var mass float64
		for i, p := range probs {
			if mass += p; mass > c.TopP {
				n = i + 1
				break
			}
		}
	}
	for n > 1 && probs[n-1] < c.MinP*probs[0] {
		n--
	}
	return top[:n], nil
}

func (c Candidates) params(into map[string]float64) {
	c = c.withDefaults()
	into["temperature"] = c.Temperature
	into["top_k"] = float64(c.TopK)
	into["top_p"] = c.TopP
	if c.MinP > 0 {
		into["min_p"] = c.MinP
	}
}
