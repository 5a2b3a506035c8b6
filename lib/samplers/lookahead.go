package samplers

import (
	"context"
	"fmt"

	"github.com/branchbook/branchbook/lib/llm"
)

// lookAhead draws rollouts from each of several next tokens.
//
// A rollout of depth D is D tokens drawn from q ∝ p^power, the first of them
// from the row of the candidate itself, so that it takes D−1 decodes beside
// the candidate's; nothing is decoded past its end token, nor past D. Every
// draw has a key of its own (the candidate's token, the rollout, the depth),
// so the rollouts do not depend on how they are spread over batches, nor on
// whether those that are equal so far are decoded once or each.
type lookAhead struct {
	tokens   []llm.Token // the candidates
	rollouts int
	first    int // number of the first rollout, where others came before
	depth    int // 0 draws none
	power    float64
	apart    bool     // decode equal rollouts each
	reads    llm.Step // what to read after a candidate for the step that follows
}

// view is what a look-ahead saw.
type view struct {
	outlooks []outlook // by candidate
	keeps    bool      // the outlooks' branches and rows are still there
	clipped  bool      // the depth was cut for want of room
	depth    int       // of the rollouts, at most
	// What rollouts took: nodes of their tries that were decoded, and the
	// tokens that this would have been had they shared none.
	tokens, nodes int
}

type outlook struct {
	branch   llm.Branch // the history, extended by the candidate
	row      llm.Row
	rollouts []*draw // nil where ζ is 1
	open     bool    // branch is open
}

// run draws the rollouts. The state's branch stays as it is; after an error
// the branches that were opened are still open.
func (l lookAhead) run(ctx context.Context, m Model, s State) (view, error) {
	v := view{outlooks: make([]outlook, len(l.tokens))}
	if room := m.Room(); room < l.depth {
		l.depth, v.clipped = room, true
	}
	if v.depth = max(l.depth, 0); v.depth == 0 {
		return v, nil
	}
	var ahead []int // the candidates that have a future
	for i, t := range l.tokens {
		if !m.IsEnd(t) {
			ahead = append(ahead, i)
		}
	}
	// Where all candidates fit beside one rollout, all are kept, and the one
	// that is chosen goes on. Where they do not, each group makes way for the
	// next.
	group := l.fit(m, len(ahead))
	if group < 1 && len(ahead) > 0 {
		return v, l.tooSmall(m)
	}
	v.keeps = group == len(ahead)
	for len(ahead) > 0 {
		now := ahead[:min(group, len(ahead))]
		ahead = ahead[len(now):]
		if err := l.extend(ctx, m, s, v.outlooks, now); err != nil {
			return v, err
		}
		if err := l.roll(ctx, m, &v, now); err != nil {
			return v, err
		}
		if !v.keeps {
			if err := v.drop(m); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

func (l lookAhead) tooSmall(m Model) error {
	return fmt.Errorf("%d branches are free, need 2 for a candidate and a rollout: %w", m.Branches(), llm.ErrBranches)
}

// fit is how many of n candidates can be open while one rollout is.
func (l lookAhead) fit(m Model, n int) int {
	branches, room := m.Branches(), m.Room()
	if l.depth > 1 {
		branches, room = branches-1, room-(l.depth-1)
	}
	return min(n, branches, room)
}

// extend opens a branch for each candidate in now and draws from its row the
// first token of every rollout.
func (l lookAhead) extend(ctx context.Context, m Model, s State, outlooks []outlook, now []int) error {
	d := drawing{reads: l.reads}
	steps := make([]llm.Step, len(now))
	for j, i := range now {
		brs, err := m.Fork(s.Branch, 1)
		if err != nil {
			return err
		}
		o := &outlooks[i]
		o.branch, o.open = brs[0], true
		o.rollouts = l.draws(s, i)
		steps[j] = d.step(&node{branch: o.branch, pending: l.tokens[i : i+1], draws: o.rollouts})
	}
	rows, err := m.Extend(ctx, steps)
	if err != nil {
		return err
	}
	for j, i := range now {
		o := &outlooks[i]
		o.row = rows[j]
		for r, dr := range o.rollouts {
			dr.take(m, o.row, r, false)
		}
	}
	return nil
}

// draws are the rollouts of candidate i before their first tokens, with room
// for all tokens.
func (l lookAhead) draws(s State, i int) []*draw {
	all, out := make([]draw, l.rollouts), make([]*draw, l.rollouts)
	d := l.depth
	tokens, numbers := make([]llm.Token, l.rollouts*d), make([]float64, 2*l.rollouts*d)
	for r := range all {
		dr := &all[r]
		dr.power = l.power
		dr.from = stream{s.Seed, Key{Stream: "rollout", Branch: uint64(l.tokens[i])<<32 | uint64(l.first+r), Step: uint64(len(s.Tokens)) << 32}}
		dr.Tokens = tokens[r*d : r*d : (r+1)*d]
		dr.LogProbs = numbers[2*r*d : 2*r*d : (2*r+1)*d]
		dr.LogZs = numbers[(2*r+1)*d : (2*r+1)*d : (2*r+2)*d]
		out[r] = dr
	}
	return out
}

// job is a rollout to go on.
type job struct {
	candidate int
	draw      *draw
}

// roll continues the rollouts of the candidates in now, as many at a time as
// there are branches and room for.
func (l lookAhead) roll(ctx context.Context, m Model, v *view, now []int) error {
	if l.depth < 2 {
		return nil
	}
	var jobs []job
	for _, i := range now {
		for _, dr := range v.outlooks[i].rollouts {
			if !dr.Ended {
				jobs = append(jobs, job{i, dr})
			}
		}
	}
	for len(jobs) > 0 {
		n := min(len(jobs), m.Branches(), m.Room()/(l.depth-1))
		if n < 1 {
			return l.tooSmall(m)
		}
		if err := l.wave(ctx, m, v, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// wave takes its jobs, those of one candidate together, to their ends: one
// token of each in one batch.
func (l lookAhead) wave(ctx context.Context, m Model, v *view, jobs []job) error {
	d := drawing{apart: l.apart}
	var starts []*node
	for i, j := range jobs {
		if i == 0 || jobs[i-1].candidate != j.candidate {
			starts = append(starts, &node{branch: v.outlooks[j.candidate].branch})
		}
		n := starts[len(starts)-1]
		n.draws = append(n.draws, j.draw)
	}
	nodes, err := d.children(m, starts, true)
	for depth := 2; err == nil && len(nodes) > 0; depth++ {
		if err = d.level(ctx, m, nodes); err != nil || depth == l.depth {
			break
		}
		nodes, err = d.children(m, nodes, false)
	}
	v.tokens += d.tokens
	v.nodes += d.nodes
	if err != nil {
		return err
	}
	return d.drop(m)
}

// logWeights returns for each candidate log p^α/q of its rollouts, with
// q ∝ p^b; nil where ζ is 1.
func (v view) logWeights(alpha, b float64) [][]float64 {
	lw := make([][]float64, len(v.outlooks))
	for i, o := range v.outlooks {
		for _, r := range o.rollouts {
			lw[i] = append(lw[i], r.LogWeight(alpha, b))
		}
	}
	return lw
}

// emit emits the chosen candidate: its branch, where it is kept, becomes the
// state's.
func (v view) emit(ctx context.Context, m Model, s State, step llm.StepRecord, chosen int, reads llm.Step) (State, Info, error) {
	o := &v.outlooks[chosen]
	if !o.open {
		if err := v.drop(m); err != nil {
			return s, Info{}, err
		}
		return Emit(ctx, m, s, step, reads)
	}
	next := s.push(m, step.Token)
	next.Branch, next.Row = o.branch, o.row
	o.open = false
	err := v.drop(m)
	if err == nil {
		err = m.Drop(s.Branch)
	}
	return next, Info{Steps: []llm.StepRecord{step}}, err
}

// drop closes the outlooks' branches.
func (v view) drop(m Model) error {
	var brs []llm.Branch
	for i := range v.outlooks {
		if o := &v.outlooks[i]; o.open {
			brs = append(brs, o.branch)
			o.open = false
		}
	}
	return m.Drop(brs...)
}
