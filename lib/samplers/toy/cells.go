package toy

import "github.com/branchbook/branchbook/lib/llm"

// pool is the KV cache of the toy: one cell for each token, in a tree, shared
// by the branches that pass through it and freed with the last of them.
type pool struct {
	cells []cell
	freed []int32
	used  int
	room  int
}

type cell struct {
	parent int32 // emptyTip at the first token
	refs   int32 // branches that end here, and children
	depth  int32
	token  llm.Token
}

// add appends a cell to the tip of a branch, which then holds the new cell in
// place of the old one.
func (p *pool) add(tip int32, t llm.Token) int32 {
	// The branch's own hold on tip becomes the child's.
	c := cell{parent: tip, refs: 1, depth: int32(p.depth(tip)) + 1, token: t}
	p.used++
	if n := len(p.freed); n > 0 {
		i := p.freed[n-1]
		p.freed = p.freed[:n-1]
		p.cells[i] = c
		return i
	}
	p.cells = append(p.cells, c)
	return int32(len(p.cells) - 1)
}

func (p *pool) hold(tip int32) {
	if tip >= 0 {
		p.cells[tip].refs++
	}
}

func (p *pool) release(tip int32) {
	for tip >= 0 {
		c := &p.cells[tip]
		if c.refs--; c.refs > 0 {
			return
		}
		p.used--
		p.freed = append(p.freed, tip)
		tip = c.parent
	}
}

func (p *pool) depth(tip int32) int {
	if tip < 0 {
		return 0
	}
	return int(p.cells[tip].depth)
}
