package samplers

import (
	"cmp"
	"context"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// BeamBranch estimates ζ by a beam search: of the beams that go on it keeps
// the Width most probable, and every one that has ended. The sum of p^α over
// them is a lower bound of ζ at that depth, since beams are different futures
// and others are left out; it is ζ itself where none is. So it is biased
// against candidates whose futures are many, the more the wider they spread.
type BeamBranch struct {
	Width    int // 0 means 3
	Branches int // next tokens followed from each beam; 0 means 5

	o Outlook
}

const (
	defaultWidth    = 3
	defaultBranches = 5
)

// Name is "beam".
func (b *BeamBranch) Name() string { return "beam" }

// Params are width and beam_top_k.
func (b *BeamBranch) Params() map[string]float64 {
	return map[string]float64{"width": float64(b.width()), "beam_top_k": float64(b.TopK())}
}

// Check returns a [*ParamError] for a number without meaning.
func (b *BeamBranch) Check() error {
	switch {
	case b.Width < 0:
		return &ParamError{"width", float64(b.Width), "1 or more, or 0 for the default 3"}
	case b.Branches < 0:
		return &ParamError{"beam top_k", float64(b.Branches), "1 or more, or 0 for the default 5"}
	}
	return nil
}

func (b *BeamBranch) width() int { return or(b.Width, defaultWidth) }

// TopK is Branches.
func (b *BeamBranch) TopK() int { return or(b.Branches, defaultBranches) }

// Reset begins anew.
func (b *BeamBranch) Reset(o Outlook) { b.o = o }

// Keep keeps all that have ended and the Width most probable others.
func (b *BeamBranch) Keep(beams []Beam) []int {
	var keep []int
	going := 0
	for i, beam := range beams {
		if !beam.Ended {
			if going++; going > b.width() {
				continue
			}
		}
		keep = append(keep, i)
	}
	return keep
}

// FutureLogProb is log Σ p^α of the beams, a lower bound of log ζ.
func (b *BeamBranch) FutureLogProb(beams []Beam) float64 {
	lw := make([]float64, len(beams))
	for i, beam := range beams {
		lw[i] = b.o.Alpha * beam.LogProb
	}
	return LogSumExp(lw)
}

func (*BeamBranch) caveat() string {
	return "ζ of a beam is a bound from below: candidates with many futures count for too little; no standard errors"
}

// path is a beam with the branch that holds it but for its last token.
type path struct {
	Beam
	branch llm.Branch
}

// search runs the beams of all candidates together, a token at a time.
func (p branching) search(ctx context.Context, m Model, s State, l lookAhead, zeta []float64, info *Info) (view, error) {
	v := view{outlooks: make([]outlook, len(l.tokens))}
	if room := m.Room(); room < l.depth {
		l.depth, v.clipped = room, true
	}
	if v.depth = max(l.depth, 0); v.depth == 0 {
		return v, nil
	}
	for i, t := range l.tokens { // one candidate after the other, where they do not fit together
		if m.IsEnd(t) {
			continue
		}
		if m.Branches() < 2 {
			return v, l.tooSmall(m)
		}
		if err := l.extend(ctx, m, s, v.outlooks, []int{i}); err != nil {
			return v, err
		}
		p.beam.Reset(p.outlook(s, l, t))
		beams, err := p.grow(ctx, m, l, &v, i, info)
		if err != nil {
			return v, err
		}
		zeta[i] = p.beam.FutureLogProb(beams)
		if err := checkZeta(p.beam.Name(), t, zeta[i]); err != nil {
			return v, err
		}
		if err := v.drop(m); err != nil {
			return v, err
		}
	}
	return v, nil
}

// grow searches from candidate c.
func (p branching) grow(ctx context.Context, m Model, l lookAhead, v *view, c int, info *Info) ([]Beam, error) {
	o := v.outlooks[c]
	k := min(p.beam.TopK(), vocabulary(m))
	var held, opened []llm.Branch // of this depth and the one before
	paths := follow(m, path{branch: o.branch}, o.row.Top[:min(k, len(o.row.Top))])
	for depth := 1; ; depth++ {
		paths = p.keep(paths)
		going := 0
		for _, b := range paths {
			if !b.Ended {
				going++
			}
		}
		if going > 0 && depth < l.depth && m.Room() < going {
			v.clipped = true
			break
		}
		if depth == l.depth || going == 0 {
			break
		}
		var steps []llm.Step
		var next, at []path
		for _, b := range paths {
			if b.Ended {
				next = append(next, b)
				continue
			}
			brs, err := m.Fork(b.branch, 1)
			if err != nil {
				return nil, err
			}
			opened = append(opened, brs...)
			b.branch = brs[0]
			at = append(at, b)
			steps = append(steps, llm.Step{Branch: b.branch, Tokens: b.Tokens[len(b.Tokens)-1:], Top: k})
		}
		if err := m.Drop(held...); err != nil {
			return nil, err
		}
		held, opened = opened, nil
		rows, err := m.Extend(ctx, steps)
		if err != nil {
			return nil, err
		}
		info.RolloutTokens += len(steps)
		info.RolloutNodes += len(steps)
		for i, b := range at {
			next = append(next, follow(m, b, rows[i].Top)...)
		}
		paths = next
	}
	beams := make([]Beam, len(paths))
	for i, b := range paths {
		beams[i] = b.Beam
	}
	return beams, m.Drop(held...)
}

// follow goes on from b with each of the tokens.
func follow(m Model, b path, tokens []llm.TokenLogProb) []path {
	out := make([]path, len(tokens))
	for i, t := range tokens {
		out[i] = path{branch: b.branch, Beam: Beam{
			Tokens: append(slices.Clip(b.Tokens), t.Token), LogProb: b.LogProb + t.LogProb, Ended: m.IsEnd(t.Token),
		}}
	}
	return out
}

// keep leaves the paths that the beam sampler wants.
func (p branching) keep(paths []path) []path {
	slices.SortStableFunc(paths, func(a, b path) int { return cmp.Compare(b.LogProb, a.LogProb) })
	beams := make([]Beam, len(paths))
	for i, b := range paths {
		beams[i] = b.Beam
	}
	var kept []path
	seen := map[int]bool{}
	for _, i := range p.beam.Keep(beams) {
		if i >= 0 && i < len(paths) && !seen[i] {
			seen[i] = true
			kept = append(kept, paths[i])
		}
	}
	return kept
}
