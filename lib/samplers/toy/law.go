package toy

import (
	"fmt"
	"math"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Full is the look-ahead depth that reaches every completion's end.
const Full = math.MaxInt

// Law holds every completion of one prompt up to a horizon.
type Law struct {
	root        *node
	vocabulary  int
	completions []Completion
}

// Completion is one way to go on from the prompt: Tokens ends in an end token
// or holds as many tokens as the horizon allows.
type Completion struct {
	Tokens  []llm.Token
	LogProb float64 // natural log of p(Tokens | prompt), the end token's included
	Ended   bool    // by an end token
}

// node is a prefix of completions. Its children are by token id; none where a
// completion ends.
type node struct {
	lp       []float64 // log p(v | prefix) by token id
	children []*node   // by token id; nil where a completion ends or p is 0
}

// Enumerate walks every completion of at most horizon tokens. next returns
// log p(v | prompt and prefix) by token id, for each prefix that goes on; the
// prefix is valid during the call only. end reports end tokens.
//
// The number of completions grows as V^horizon.
func Enumerate(horizon int, next func(prefix []llm.Token) ([]float64, error), end func(llm.Token) bool) (*Law, error) {
	if horizon < 1 {
		return nil, fmt.Errorf("toy: enumerate: horizon of %d tokens, need at least 1", horizon)
	}
	l := &Law{}
	var walk func(prefix []llm.Token, lp float64) (*node, error)
	walk = func(prefix []llm.Token, lp float64) (*node, error) {
		lps, err := next(prefix)
		if err != nil {
			return nil, fmt.Errorf("toy: enumerate after %v: %w", prefix, err)
		}
		n := &node{lp: slices.Clone(lps), children: make([]*node, len(lps))}
		l.vocabulary = len(lps)
		for v, p := range n.lp {
			t := llm.Token(v)
			here := append(slices.Clip(prefix), t)
			if end(t) || len(here) == horizon {
				l.completions = append(l.completions, Completion{Tokens: slices.Clone(here), LogProb: lp + p, Ended: end(t)})
				continue
			}
			if n.children[v], err = walk(here, lp+p); err != nil {
				return nil, err
			}
		}
		return n, nil
	}
	root, err := walk(nil, 0)
	if err != nil {
		return nil, err
	}
	l.root = root
	return l, nil
}

// Law enumerates the completions of prompt, which holds at least one token.
func (m *Model) Law(prompt []llm.Token, horizon int) (*Law, error) {
	if len(prompt) == 0 {
		return nil, fmt.Errorf("toy: enumerate: the prompt is empty")
	}
	return Enumerate(horizon, func(prefix []llm.Token) ([]float64, error) {
		last := prompt[len(prompt)-1]
		if len(prefix) > 0 {
			last = prefix[len(prefix)-1]
		}
		return m.states[last].lp, nil
	}, m.IsEnd)
}

// Completions lists all completions in lexical order of their tokens. The
// slice is the Law's own.
func (l *Law) Completions() []Completion { return l.completions }

// Power returns π_α(y) = p(y)^α / Σ p^α for each of Completions, in order.
func (l *Law) Power(alpha float64) []float64 {
	lw := make([]float64, len(l.completions))
	for i, c := range l.completions {
		lw[i] = alpha * c.LogProb
	}
	return normalise(lw)
}

// LogZeta returns log ζ(prefix), the log of Σ p(future | prefix)^α over the
// futures of prefix: to the end of each completion, or to depth tokens where
// that comes first. It is 0 where prefix ends a completion.
func (l *Law) LogZeta(prefix []llm.Token, alpha float64, depth int) float64 {
	return logZeta(l.at(prefix), alpha, depth)
}

func logZeta(n *node, alpha float64, depth int) float64 {
	if n == nil || depth == 0 {
		return 0
	}
	lw := make([]float64, len(n.lp))
	for v, lp := range n.lp {
		lw[v] = alpha*lp + logZeta(n.children[v], alpha, depth-1)
	}
	return logSumExp(lw)
}

// Next returns π_α(v | prefix) ∝ p(v | prefix)^α ζ(prefix·v) by token id,
// with ζ looking depth tokens past v. Depth 0 is p^α alone, which is low
// temperature; [Full] is the power distribution's own conditional.
func (l *Law) Next(prefix []llm.Token, alpha float64, depth int) []float64 {
	n := l.at(prefix)
	lw := make([]float64, len(n.lp))
	for v, lp := range n.lp {
		lw[v] = alpha*lp + logZeta(n.children[v], alpha, depth)
	}
	return normalise(lw)
}

// at finds the node of a prefix; nil where a completion ends.
func (l *Law) at(prefix []llm.Token) *node {
	n := l.root
	for _, t := range prefix {
		n = n.children[t]
	}
	return n
}

// Compose returns the probability of each of Completions under a sampler
// that draws each token from next, its probabilities by token id after a
// prefix. next is called once for each prefix that goes on.
func (l *Law) Compose(next func(prefix []llm.Token) []float64) []float64 {
	var out []float64
	var walk func(n *node, prefix []llm.Token, p float64)
	walk = func(n *node, prefix []llm.Token, p float64) {
		probs := next(prefix)
		for v := range n.lp {
			if n.children[v] == nil {
				out = append(out, p*probs[v])
				continue
			}
			walk(n.children[v], append(slices.Clip(prefix), llm.Token(v)), p*probs[v])
		}
	}
	walk(l.root, nil, 1)
	return out
}

// Vocabulary is the number of tokens.
func (l *Law) Vocabulary() int { return l.vocabulary }

// TotalVariation returns ½ Σ |p − q|, the largest difference in probability
// that two distributions over the same list give to any event. It panics
// when their lengths differ.
func TotalVariation(p, q []float64) float64 {
	if len(p) != len(q) {
		panic(fmt.Sprintf("toy: total variation of %d and %d probabilities", len(p), len(q)))
	}
	var d float64
	for i := range p {
		d += math.Abs(p[i] - q[i])
	}
	return d / 2
}

func normalise(lw []float64) []float64 {
	z := logSumExp(lw)
	p := make([]float64, len(lw))
	for i := range lw {
		p[i] = math.Exp(lw[i] - z)
	}
	return p
}

func logSumExp(lw []float64) float64 {
	hi := slices.Max(lw)
	if math.IsInf(hi, 0) {
		return hi
	}
	var sum float64
	for _, x := range lw {
		sum += math.Exp(x - hi)
	}
	return hi + math.Log(sum)
}
