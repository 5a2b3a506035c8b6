package vm

import (
	"go/token"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// blockOf is the compiled block that b begins; it is built later.
func (k *compiler) blockOf(b *ssa.BasicBlock) *block {
	r := k.blocks[b]
	if r == nil {
		r = new(block)
		k.blocks[b] = r
		k.made = append(k.made, r)
		k.queue = append(k.queue, b)
	}
	return r
}

// build compiles b and the blocks that only follow it.
func (k *compiler) build(b *ssa.BasicBlock) {
	r := k.blocks[b]
	k.ops, k.addedAt = nil, 0
	for {
		var last ssa.Instruction
		end := k.lostDefers(b)
		for i := 0; i < len(b.Instrs); {
			instr := b.Instrs[i]
			if i == end {
				k.emit(func(fr *frame) { fr.runDeferred(nil, false) })
				defer func(from int) { k.restart = &block{ops: r.ops[from:], next: returns} }(len(k.ops))
			}
			if i == len(b.Instrs)-1 {
				last = instr
				break
			}
			rest := b.Instrs[i:]
			if end > i {
				rest = b.Instrs[i:end]
			}
			if n := k.combine(rest); n > 0 {
				i += n
				continue
			}
			if !k.fused(instr) {
				k.instr(instr)
			}
			i++
		}
		if _, ok := last.(*ssa.Jump); ok {
			s := b.Succs[0]
			k.ops = append(k.ops, k.phis(b, 0)...)
			if len(s.Preds) == 1 && k.blocks[s] == nil {
				b = s
				continue
			}
			k.jump(r, b, s)
		} else {
			k.end(r, b, last)
		}
		r.ops, r.add = k.ops, k.lastAdd()
		return
	}
}

// lostDefers is where the deferred calls run in a block that returns, if
// package ssa has lost the instruction: it does so in functions whose only
// defer statements are in the bodies of range loops over functions. It is
// before the named results are loaded, or else the return.
func (k *compiler) lostDefers(b *ssa.BasicBlock) int {
	n := len(b.Instrs) - 1
	if _, ok := b.Instrs[n].(*ssa.Return); !ok || !k.lost {
		return -1
	}
	if r := k.fn.Signature.Results(); r.Len() == 0 || r.At(0).Name() == "" {
		return n
	}
	for n > 0 {
		if u, ok := b.Instrs[n-1].(*ssa.UnOp); !ok || u.Op != token.MUL {
			break
		}
		n--
	}
	return n
}

// end compiles the last instruction of a block.
func (k *compiler) end(r *block, b *ssa.BasicBlock, last ssa.Instruction) {
	switch i := last.(type) {
	case *ssa.If:
		yes, no := k.edge(b, 0), k.edge(b, 1)
		if c, ok := i.Cond.(*ssa.BinOp); ok && k.fused(c) {
			r.cond = k.condition(c, yes, no)
			return
		}
		r.cond = &condition{op: token.NEQ, kind: reflect.Uint8, x: k.slot(i.Cond), constant: true, yes: yes, no: no}
		return
	case *ssa.Return:
		k.results(i)
	case *ssa.Panic:
		if o := k.rangePanic(i); o != nil {
			k.emit(o)
			break
		}
		x, here := k.slot(i.X), k.spot(i.Pos())
		k.emit(func(fr *frame) { fr.at = here; panic(*at[any](fr, x)) })
	default:
		k.instr(last)
	}
	r.next = returns
}

func returns(*frame) *block { return nil }

func (k *compiler) results(r *ssa.Return) {
	if k.within != nil {
		k.returnTo(r)
		return
	}
	if len(r.Results) == 1 {
		k.emit(copyOp(k.c.sig.results[0].typ, k.c.sig.results[0].off, k.slot(r.Results[0])))
		return
	}
	for i, v := range r.Results {
		k.emit(copyOp(k.c.sig.results[i].typ, k.c.sig.results[i].off, k.slot(v)))
	}
}

// jump goes on with s. A jump back looks whether the cell is to end: each
// loop has one.
func (k *compiler) jump(r *block, b, s *ssa.BasicBlock) {
	r.jump, r.back = k.blockOf(s), s.Index <= b.Index
}

// edge is the block that follows b on its i'th branch.
func (k *compiler) edge(b *ssa.BasicBlock, i int) *block {
	s := b.Succs[i]
	copies := k.phis(b, i)
	if len(copies) == 0 && s.Index > b.Index {
		return k.blockOf(s)
	}
	r := &block{ops: copies}
	k.jump(r, b, s)
	k.made = append(k.made, r)
	return r
}

// phis are the copies to the φ values of a successor.
func (k *compiler) phis(b *ssa.BasicBlock, i int) []op {
	s := b.Succs[i]
	nth := 0
	for _, t := range b.Succs[:i] {
		if t == s {
			nth++
		}
	}
	pred := -1
	for j, p := range s.Preds {
		if p == b {
			if nth == 0 {
				pred = j
				break
			}
			nth--
		}
	}
	var todo []pair
	for _, instr := range s.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		dst, src := k.slot(phi), k.slot(phi.Edges[pred])
		if t := k.typ(phi); dst != src && t.Size() > 0 {
			todo = append(todo, pair{dst, src, t})
		}
	}
	return k.parallel(todo)
}

type pair struct {
	dst, src uintptr
	typ      reflect.Type
}

// parallel orders copies that happen at once.
func (k *compiler) parallel(todo []pair) []op {
	var ops []op
	for len(todo) > 0 {
		free := -1 // a copy whose destination no other one reads
		for i, p := range todo {
			read := false
			for j, q := range todo {
				read = read || i != j && overlaps(p.dst, p.typ, q.src, q.typ)
			}
			if !read {
				free = i
				break
			}
		}
		if free < 0 {
			p := &todo[0]
			tmp := k.memory.Add(p.typ)
			ops = append(ops, copyOp(p.typ, tmp, p.src))
			p.src = tmp
			continue
		}
		p := todo[free]
		ops = append(ops, copyOp(p.typ, p.dst, p.src))
		todo = append(todo[:free:free], todo[free+1:]...)
	}
	return ops
}

func overlaps(a uintptr, at reflect.Type, b uintptr, bt reflect.Type) bool {
	return a < b+bt.Size() && b < a+at.Size()
}
