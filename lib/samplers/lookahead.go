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
// so the rollouts do not depend on how they are spread over batches.
type lookAhead struct {
	tokens   []llm.Token // the candidates
	rollouts int
	depth    int // 0 draws none
	power    float64
	reads    llm.Step // what to read after a candidate for the step that follows
}

// rollout is one future of a candidate.
type rollout struct {
	tokens  int
	logProb float64 // Σ log p of its tokens, an end token's included
	logZ    float64 // Σ log Z_b of the distributions they were drawn from
}

// view is what a look-ahead saw.
type view struct {
	outlooks []outlook // by candidate
	keeps    bool      // the outlooks' branches and rows are still there
	clipped  bool      // the depth was cut for want of room
}

type outlook struct {
	branch   llm.Branch // the state's, extended by the candidate
	row      llm.Row
	rollouts []rollout // nil where ζ is 1
	open     bool      // branch is open
}

// run draws the rollouts. The state's branch stays as it is; after an error
// the branches that were opened are still open.
func (l lookAhead) run(ctx context.Context, m Model, s State) (view, error) {
	v := view{outlooks: make([]outlook, len(l.tokens))}
	if room := m.Room(); room < l.depth {
		l.depth, v.clipped = room, true
	}
	if l.depth < 1 {
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
		if err := l.roll(ctx, m, s, v.outlooks, now); err != nil {
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
	brs, err := m.Fork(s.Branch, len(now))
	if err != nil {
		return err
	}
	steps := make([]llm.Step, len(now))
	for j, i := range now {
		outlooks[i].branch, outlooks[i].open = brs[j], true
		draws := make([]float64, l.rollouts)
		for r := range draws {
			draws[r] = l.uniform(s, i, r, 1)
		}
		step := l.reads
		step.Branch, step.Tokens, step.Power, step.Draws = brs[j], []llm.Token{l.tokens[i]}, l.power, draws
		steps[j] = step
	}
	rows, err := m.Extend(ctx, steps)
	if err != nil {
		return err
	}
	for j, i := range now {
		o := &outlooks[i]
		o.row = rows[j]
		o.rollouts = make([]rollout, l.rollouts)
		for r := range o.rollouts {
			o.rollouts[r].add(o.row, r)
		}
	}
	return nil
}

func (r *rollout) add(row llm.Row, draw int) {
	r.tokens++
	r.logProb += row.Drawn[draw].LogProb
	r.logZ += row.LogZ
}

func (l lookAhead) uniform(s State, candidate, rollout, depth int) float64 {
	return Uniform(s.Seed, Key{
		Stream: "rollout",
		Branch: uint64(l.tokens[candidate])<<32 | uint64(rollout),
		Step:   uint64(len(s.Tokens))<<32 | uint64(depth),
	})
}

// job is a rollout under way.
type job struct {
	candidate, rollout int
	branch             llm.Branch
	last               llm.Token // drawn, not decoded
}

// roll continues the rollouts of the candidates in now, as many at a time as
// there are branches and room for.
func (l lookAhead) roll(ctx context.Context, m Model, s State, outlooks []outlook, now []int) error {
	if l.depth < 2 {
		return nil
	}
	var jobs []job
	for _, i := range now {
		for r, t := range outlooks[i].row.Drawn {
			if !m.IsEnd(t.Token) {
				jobs = append(jobs, job{candidate: i, rollout: r, last: t.Token})
			}
		}
	}
	for len(jobs) > 0 {
		n := min(len(jobs), m.Branches(), m.Room()/(l.depth-1))
		if n < 1 {
			return l.tooSmall(m)
		}
		if err := l.wave(ctx, m, s, outlooks, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// wave takes its jobs to their ends, one token of each in one batch.
//
// Branches that have ended are dropped with all others, when the wave is over:
// a cell that is freed on the way would be used again for a later token of
// another branch, and llama.cpp's attention sums a branch's tokens, in half
// precision, by the order of their cells. As it is they are in the same order
// in waves of any size.
func (l lookAhead) wave(ctx context.Context, m Model, s State, outlooks []outlook, jobs []job) error {
	if err := fork(m, outlooks, jobs); err != nil {
		return err
	}
	opened := make([]llm.Branch, len(jobs))
	for i, j := range jobs {
		opened[i] = j.branch
	}
	for depth := 2; depth <= l.depth && len(jobs) > 0; depth++ {
		steps := make([]llm.Step, len(jobs))
		for i, j := range jobs {
			steps[i] = llm.Step{
				Branch: j.branch,
				Tokens: []llm.Token{j.last},
				Power:  l.power,
				Draws:  []float64{l.uniform(s, j.candidate, j.rollout, depth)},
			}
		}
		rows, err := m.Extend(ctx, steps)
		if err != nil {
			return err
		}
		going := jobs[:0]
		for i, j := range jobs {
			outlooks[j.candidate].rollouts[j.rollout].add(rows[i], 0)
			j.last = rows[i].Drawn[0].Token
			if !m.IsEnd(j.last) {
				going = append(going, j)
			}
		}
		jobs = going
	}
	return m.Drop(opened...)
}

// fork gives each job a branch of its candidate. Jobs of one candidate stand
// together.
func fork(m Model, outlooks []outlook, jobs []job) error {
	for start := 0; start < len(jobs); {
		end := start + 1
		for end < len(jobs) && jobs[end].candidate == jobs[start].candidate {
			end++
		}
		brs, err := m.Fork(outlooks[jobs[start].candidate].branch, end-start)
		if err != nil {
			return err
		}
		for i, br := range brs {
			jobs[start+i].branch = br
		}
		start = end
	}
	return nil
}

// logWeights returns for each candidate log p^α/q of its rollouts, with
// q ∝ p^b; nil where ζ is 1.
func (v view) logWeights(alpha, b float64) [][]float64 {
	lw := make([][]float64, len(v.outlooks))
	for i, o := range v.outlooks {
		for _, r := range o.rollouts {
			lw[i] = append(lw[i], (alpha-b)*r.logProb+r.logZ)
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
