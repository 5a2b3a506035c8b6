package samplers

import (
	"context"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Future is a sequence of tokens drawn from q_b(v|h) = p(v|h)^b / Z_b(h): a
// rollout, a block or a whole completion. It ends with an end token, whose
// log-probability counts like any other, or where its depth is reached.
type Future struct {
	Tokens   []llm.Token
	LogProbs []float64 // of each token, of the model itself
	LogZs    []float64 // log Z_b of the distribution it was drawn from; 0 where b = 1
	Ended    bool      // by an end token
}

// LogProb is the log-probability of all tokens, Σ log p.
func (f Future) LogProb() float64 { return sum(f.LogProbs) }

// LogWeight is log p^α/q_b of the future, b being the exponent that it was
// drawn with: (α−b)·Σ log p + Σ log Z_b. The mean of exp(LogWeight) over
// futures is an unbiased estimate of ζ at their depth.
func (f Future) LogWeight(alpha, b float64) float64 { return f.logWeightFrom(0, alpha, b) }

// logWeightFrom is the weight of the tokens from a position on.
func (f Future) logWeightFrom(at int, alpha, b float64) float64 {
	if at >= len(f.Tokens) {
		return 0
	}
	return (alpha-b)*sum(f.LogProbs[at:]) + sum(f.LogZs[at:])
}

func sum(xs []float64) (total float64) {
	for _, x := range xs {
		total += x
	}
	return total
}

// draw is a future under way.
type draw struct {
	Future
	power float64 // b, of q_b that it is drawn from
	from  stream  // its uniforms
	// given, where set, is what to follow in place of drawing: so a future
	// that was drawn by one power gets its normalisers by another.
	given *Future
	rows  []llm.Row // what each token was chosen from, where that is kept
}

// stream names the uniforms of one draw: that of its token at, counted from 1,
// has the key's Step or-ed with at.
type stream struct {
	seed uint64
	key  Key
}

func (s stream) uniform(at int) float64 {
	s.key.Step |= uint64(at)
	return Uniform(s.seed, s.key)
}

// take appends the i-th token that was drawn from row.
func (d *draw) take(m Model, row llm.Row, i int, keep bool) {
	t := row.Drawn[i]
	if n := len(d.Tokens); d.given != nil {
		t = llm.TokenLogProb{Token: d.given.Tokens[n], LogProb: d.given.LogProbs[n]}
	}
	d.Tokens = append(d.Tokens, t.Token)
	d.LogProbs = append(d.LogProbs, t.LogProb)
	d.LogZs = append(d.LogZs, row.LogZ)
	d.Ended = m.IsEnd(t.Token)
	if keep {
		row.Drawn = []llm.TokenLogProb{t}
		d.rows = append(d.rows, row)
	}
}

// cut is a copy of the first n tokens of d, to go on otherwise.
func (d *draw) cut(n int, power float64, from stream) *draw {
	n = min(n, len(d.Tokens))
	c := &draw{power: power, from: from}
	c.Tokens = append(c.Tokens, d.Tokens[:n]...)
	c.LogProbs = append(c.LogProbs, d.LogProbs[:n]...)
	c.LogZs = append(c.LogZs, d.LogZs[:n]...)
	c.rows = append(c.rows, d.rows[:min(n, len(d.rows))]...)
	c.Ended = d.Ended && n == len(d.Tokens)
	return c
}

// node is a branch that all draws share which have drawn the same tokens from
// the same start: a node of their trie, with a multiplicity.
type node struct {
	branch  llm.Branch
	pending []llm.Token // drawn or given, not yet in branch
	draws   []*draw
}

// again is d, to be drawn once more just as it is, for its normalisers by
// another power.
func (d *draw) again(power float64) *draw {
	return &draw{power: power, given: &d.Future}
}

// drawing draws futures, all in step. Draws of one start and one power that
// are equal so far share a node and so are decoded once. Each has uniforms of
// its own, so they stay independent, and every one is the same as if it had a
// branch to itself.
type drawing struct {
	reads  llm.Step // what else to read at each token
	keep   bool     // keep the rows
	apart  bool     // share nothing
	opened []llm.Branch
	// What was decoded: tokens counts each draw's, nodes the distinct ones.
	tokens, nodes int
}

// step is what to decode for n, and to read for the token that follows.
func (d *drawing) step(n *node) llm.Step {
	s := d.reads
	s.Branch, s.Tokens = n.branch, n.pending
	if len(n.draws) == 0 {
		return s
	}
	s.Power = n.draws[0].power
	s.Draws = make([]float64, len(n.draws))
	for i, dr := range n.draws {
		s.Draws[i] = dr.from.uniform(len(dr.Tokens) + 1)
	}
	return s
}

// level draws one more token for every draw of nodes.
func (d *drawing) level(ctx context.Context, m Model, nodes []*node) error {
	steps := make([]llm.Step, len(nodes))
	for i, n := range nodes {
		steps[i] = d.step(n)
	}
	rows, err := m.Extend(ctx, steps)
	if err != nil {
		return err
	}
	for i, n := range nodes {
		d.nodes++
		d.tokens += len(n.draws)
		n.pending = nil
		for j, dr := range n.draws {
			dr.take(m, rows[i], j, d.keep)
		}
	}
	return nil
}

// children parts the draws of nodes by the token that each drew last. Those
// that ended have no child. The first child takes over its parent's branch,
// unless that is held.
func (d *drawing) children(m Model, nodes []*node, held bool) ([]*node, error) {
	var all []*node
	for _, n := range nodes {
		kids := d.groups(n)
		need := len(kids)
		if !held {
			need--
		}
		if need > 0 {
			brs, err := m.Fork(n.branch, need)
			if err != nil {
				return nil, err
			}
			d.opened = append(d.opened, brs...)
			for i, br := range brs {
				kids[len(kids)-need+i].branch = br
			}
		}
		if !held && len(kids) > 0 {
			kids[0].branch = n.branch
		}
		all = append(all, kids...)
	}
	return all, nil
}

func (d *drawing) groups(n *node) []*node {
	var kids []*node
next:
	for _, dr := range n.draws {
		if dr.Ended {
			continue
		}
		last := dr.Tokens[len(dr.Tokens)-1:]
		if !d.apart {
			for _, kid := range kids { // few
				if kid.pending[0] == last[0] {
					kid.draws = append(kid.draws, dr)
					continue next
				}
			}
		}
		kids = append(kids, &node{pending: last, draws: []*draw{dr}})
	}
	return kids
}

// drop closes every branch that was opened.
//
// Branches that have ended are dropped with all others: a cell that is freed
// on the way would be used again for a later token of another branch, and
// llama.cpp's attention sums a branch's tokens, in half precision, by the
// order of their cells. As it is they are in the same order in waves of any
// size, merged or not.
func (d *drawing) drop(m Model) error {
	brs := d.opened
	d.opened = nil
	return m.Drop(brs...)
}

// origin is where whole completions begin: a branch that holds the prompt but
// for its last token, which is decoded again whenever a first token is drawn.
type origin struct {
	branch llm.Branch
	last   llm.Token
}

// roots opens a branch for each draw, or for those that agree so far, with
// what they hold already pending.
func (d *drawing) roots(m Model, o origin, draws []*draw) ([]*node, error) {
	var nodes []*node
next:
	for _, dr := range draws {
		if !d.apart {
			for _, n := range nodes {
				if n.draws[0].power == dr.power && slices.Equal(n.draws[0].Tokens, dr.Tokens) {
					n.draws = append(n.draws, dr)
					continue next
				}
			}
		}
		nodes = append(nodes, &node{pending: append([]llm.Token{o.last}, dr.Tokens...), draws: []*draw{dr}})
	}
	brs, err := m.Fork(o.branch, len(nodes))
	if err != nil {
		return nil, err
	}
	d.opened = append(d.opened, brs...)
	for i, n := range nodes {
		n.branch = brs[i]
	}
	return nodes, nil
}

// complete takes every draw to its end token or to horizon tokens, in waves as
// large as there are branches and room for.
func (d *drawing) complete(ctx context.Context, m Model, o origin, draws []*draw, horizon int) error {
	draws = slices.DeleteFunc(slices.Clone(draws), func(dr *draw) bool { return dr.Ended || len(dr.Tokens) >= horizon })
	for len(draws) > 0 {
		n := min(len(draws), m.Branches(), m.Room()/horizon)
		if n < 1 {
			return tooSmall(m, horizon)
		}
		if err := d.wave(ctx, m, o, draws[:n], horizon); err != nil {
			return err
		}
		draws = draws[n:]
	}
	return nil
}

func tooSmall(m Model, tokens int) error {
	if m.Branches() < 1 {
		return llm.ErrBranches
	}
	return &llm.FitError{Need: tokens, Have: m.Room(), Of: "KV cache"}
}

func (d *drawing) wave(ctx context.Context, m Model, o origin, draws []*draw, horizon int) error {
	nodes, err := d.roots(m, o, draws)
	if err != nil {
		return err
	}
	for len(nodes) > 0 {
		if err := d.level(ctx, m, nodes); err != nil {
			return err
		}
		for _, n := range nodes { // those that are done
			n.draws = slices.DeleteFunc(n.draws, func(dr *draw) bool { return len(dr.Tokens) >= horizon })
		}
		if nodes, err = d.children(m, nodes, false); err != nil {
			return err
		}
	}
	return d.drop(m)
}
