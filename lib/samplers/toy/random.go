package toy

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Options describe a random chain; the zero value is a chain of five tokens.
type Options struct {
	Seed       uint64
	Vocabulary int         // 0 means 5
	Ends       []llm.Token // nil means the last token alone
	Limits     Limits
}

// Limits bound a model as a KV cache bounds a real one; 0 means plenty.
type Limits struct {
	Context  int // tokens in one branch; 0 means 4096
	Branches int // open at a time; 0 means 1024
	Room     int // tokens in all branches; 0 means 65536
}

func (l Limits) withDefaults() Limits {
	if l.Context == 0 {
		l.Context = 4096
	}
	if l.Branches == 0 {
		l.Branches = 1024
	}
	if l.Room == 0 {
		l.Room = 1 << 16
	}
	return l
}

// endWeight makes completions a little longer than a fair share would.
const endWeight = 0.6

// New returns a random chain. Its next-token probabilities are drawn from
// Dirichlet(½, ..., ½), after each token anew, and then the end tokens' are
// multiplied by 0.6: most mass on one or two tokens, as in language, and
// completions of all lengths up to five or so.
func New(opt Options) (*Model, error) {
	v := opt.Vocabulary
	if v == 0 {
		v = 5
	}
	if v < 2 {
		return nil, fmt.Errorf("toy: make model: vocabulary of %d, need at least 2", v)
	}
	ends := opt.Ends
	if ends == nil {
		ends = []llm.Token{llm.Token(v - 1)}
	}
	rng := rand.New(rand.NewPCG(opt.Seed, 0x746f79)) // "toy"
	table := make([][]float64, v+1)
	for i := range table {
		table[i] = make([]float64, v)
		for j := range table[i] {
			x := rng.NormFloat64()
			table[i][j] = x * x // Gamma(½), up to scale
			if slices.Contains(ends, llm.Token(j)) {
				table[i][j] *= endWeight
			}
		}
	}
	return FromTable(table, ends, opt.Limits)
}
