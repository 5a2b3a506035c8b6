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
		k.queue = append(k.queue, b)
	}
	return r
}

// build compiles b and the blocks that only follow it.
func (k *compiler) build(b *ssa.BasicBlock) {
	r := k.blocks[b]
	k.ops = nil
	for {
		var last ssa.Instruction
		end := k.lostDefers(b)
		for i := 0; i < len(b.Instrs); {
			instr := b.Instrs[i]
			if i == end {
				k.emit(func(fr *frame) { fr.runDeferred(nil, false) })
				defer func(from int) { k.restart = &block{ops: r.ops[from:], next: r.next} }(len(k.ops))
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
			r.next = k.jump(b, s)
		} else {
			r.next = k.end(b, last)
		}
		r.ops = k.ops
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
func (k *compiler) end(b *ssa.BasicBlock, last ssa.Instruction) func(*frame) *block {
	switch i := last.(type) {
	case *ssa.If:
		yes, no := k.edge(b, 0), k.edge(b, 1)
		if c, ok := i.Cond.(*ssa.BinOp); ok && k.fused(c) {
			return k.branch(c, yes, no)
		}
		cond := k.slot(i.Cond)
		return func(fr *frame) *block {
			if *at[bool](fr, cond) {
				return yes
			}
			return no
		}
	case *ssa.Return:
		k.results(i)
	case *ssa.Panic:
		x, here := k.slot(i.X), k.spot(i.Pos())
		k.emit(func(fr *frame) { fr.at = here; panic(*at[any](fr, x)) })
	default:
		k.instr(last)
	}
	return func(*frame) *block { return nil }
}

func (k *compiler) results(r *ssa.Return) {
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
func (k *compiler) jump(b, s *ssa.BasicBlock) func(*frame) *block {
	to := k.blockOf(s)
	if s.Index > b.Index {
		return func(*frame) *block { return to }
	}
	return func(fr *frame) *block {
		if fr.t.run.attend.Load() {
			fr.t.step()
		}
		return to
	}
}

// edge is the block that follows b on its i'th branch.
func (k *compiler) edge(b *ssa.BasicBlock, i int) *block {
	s := b.Succs[i]
	copies := k.phis(b, i)
	if len(copies) == 0 && s.Index > b.Index {
		return k.blockOf(s)
	}
	return &block{ops: copies, next: k.jump(b, s)}
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

// fused reports whether a comparison is made by the branch after it.
func (k *compiler) fused(instr ssa.Instruction) bool {
	c, ok := instr.(*ssa.BinOp)
	if !ok || len(*c.Referrers()) != 1 {
		return false
	}
	i, ok := (*c.Referrers())[0].(*ssa.If)
	if !ok || i.Block() != c.Block() {
		return false
	}
	switch c.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return false
	}
	switch k.typ(c.X).Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint, reflect.Uint64, reflect.Float64, reflect.Int8, reflect.Int16, reflect.Uint16, reflect.Uint32:
		return true
	}
	return false
}

func (k *compiler) branch(c *ssa.BinOp, yes, no *block) func(*frame) *block {
	x, y := k.slot(c.X), k.slot(c.Y)
	switch k.typ(c.X).Kind() {
	case reflect.Int:
		if n, ok := c.Y.(*ssa.Const); ok {
			return branchConst(c.Op, x, int(n.Int64()), yes, no)
		}
		return branch[int](c.Op, x, y, yes, no)
	case reflect.Int8:
		return branch[int8](c.Op, x, y, yes, no)
	case reflect.Int16:
		return branch[int16](c.Op, x, y, yes, no)
	case reflect.Int32:
		return branch[int32](c.Op, x, y, yes, no)
	case reflect.Int64:
		return branch[int64](c.Op, x, y, yes, no)
	case reflect.Uint8:
		return branch[uint8](c.Op, x, y, yes, no)
	case reflect.Uint16:
		return branch[uint16](c.Op, x, y, yes, no)
	case reflect.Uint32:
		return branch[uint32](c.Op, x, y, yes, no)
	case reflect.Uint, reflect.Uint64:
		return branch[uint64](c.Op, x, y, yes, no)
	}
	return branch[float64](c.Op, x, y, yes, no)
}

func branch[T ordered](o token.Token, x, y uintptr, yes, no *block) func(*frame) *block {
	switch o {
	case token.EQL:
		return func(fr *frame) *block {
			if *at[T](fr, x) == *at[T](fr, y) {
				return yes
			}
			return no
		}
	case token.NEQ:
		return func(fr *frame) *block {
			if *at[T](fr, x) != *at[T](fr, y) {
				return yes
			}
			return no
		}
	case token.LSS:
		return func(fr *frame) *block {
			if *at[T](fr, x) < *at[T](fr, y) {
				return yes
			}
			return no
		}
	case token.LEQ:
		return func(fr *frame) *block {
			if *at[T](fr, x) <= *at[T](fr, y) {
				return yes
			}
			return no
		}
	case token.GTR:
		return branch[T](token.LSS, y, x, yes, no)
	}
	return branch[T](token.LEQ, y, x, yes, no)
}

func branchConst(o token.Token, x uintptr, n int, yes, no *block) func(*frame) *block {
	switch o {
	case token.EQL:
		return func(fr *frame) *block {
			if *at[int](fr, x) == n {
				return yes
			}
			return no
		}
	case token.NEQ:
		return func(fr *frame) *block {
			if *at[int](fr, x) != n {
				return yes
			}
			return no
		}
	case token.LSS:
		return func(fr *frame) *block {
			if *at[int](fr, x) < n {
				return yes
			}
			return no
		}
	case token.LEQ:
		return func(fr *frame) *block {
			if *at[int](fr, x) <= n {
				return yes
			}
			return no
		}
	case token.GTR:
		return branchConst(token.LEQ, x, n, no, yes)
	}
	return branchConst(token.LSS, x, n, no, yes)
}
