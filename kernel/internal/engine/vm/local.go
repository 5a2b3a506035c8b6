package vm

import (
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// Variables that never leave the frame: package ssa keeps a struct or array in
// memory, whose parts it takes the addresses of, and some others. Where each
// address is only loaded from and stored to, no address is made: the variable
// is its slot.

// findLocals gives such variables their slots.
func (k *compiler) findLocals() {
	for _, b := range k.fn.Blocks {
		for n, i := range b.Instrs {
			a, ok := i.(*ssa.Alloc)
			if !ok || a.Heap {
				continue
			}
			if _, _, makes := k.makes(a); makes {
				continue
			}
			t := k.e.types.of(a.Type().Underlying().(*types.Pointer).Elem())
			if t.Size() > maxLocal || !k.stays(a) {
				continue
			}
			if p := spilled(b, n); p != nil && (k.within == nil || unchanged(a)) {
				k.locals[a] = k.slots[p]
				continue
			}
			k.locals[a] = k.memory.Add(t)
		}
	}
}

// stays reports whether an address is only loaded from and stored to.
func (k *compiler) stays(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Val == v {
				return false
			}
		case *ssa.UnOp:
			if r.Op != token.MUL {
				return false
			}
		case *ssa.FieldAddr:
			if !k.stays(r) {
				return false
			}
		case *ssa.IndexAddr:
			if _, ok := k.constIndex(r); !ok || !k.stays(r) {
				return false
			}
		case *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

// constIndex is the offset of an array's element whose index is a constant.
func (k *compiler) constIndex(a *ssa.IndexAddr) (uintptr, bool) {
	c, ok := a.Index.(*ssa.Const)
	t := k.typ(a.X)
	if !ok || t.Kind() != reflect.Pointer {
		return 0, false
	}
	i := c.Int64()
	return uintptr(i) * t.Elem().Elem().Size(), i >= 0 && i < int64(t.Elem().Len())
}

// spilled is the parameter that the nth instruction of the first block makes a
// variable for, if nothing else uses the parameter: it lies where it is.
func spilled(b *ssa.BasicBlock, n int) *ssa.Parameter {
	if b.Index != 0 || len(b.Preds) > 0 || n+1 >= len(b.Instrs) {
		return nil
	}
	s, ok := b.Instrs[n+1].(*ssa.Store)
	if !ok || s.Addr != b.Instrs[n].(ssa.Value) {
		return nil
	}
	p, ok := s.Val.(*ssa.Parameter)
	if !ok || !only(p) {
		return nil
	}
	return p
}

// direct is the slot of a variable, or a part of one, that stays in the frame.
func (k *compiler) direct(v ssa.Value) (off uintptr, ok bool) {
	switch v := v.(type) {
	case *ssa.Alloc:
		off, ok = k.locals[v]
	case *ssa.FieldAddr:
		if off, ok = k.direct(v.X); ok {
			off += k.typ(v.X).Elem().Field(v.Field).Offset
		}
	case *ssa.IndexAddr:
		if off, ok = k.direct(v.X); ok {
			i, _ := k.constIndex(v)
			off += i
		}
	}
	return off, ok
}

// root is the variable that an address leads into.
func root(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return root(v.X)
	case *ssa.IndexAddr:
		return root(v.X)
	}
	return v
}

// lent is the slot of a variable that a load of it can share: all uses are in
// the block, before the variable changes.
func (k *compiler) lent(load *ssa.UnOp) (off uintptr, ok bool) {
	off, ok = k.direct(load.X)
	if !ok || load.Op != token.MUL || k.typ(load).Size() == 0 {
		return 0, false
	}
	b, variable, left := load.Block(), root(load.X), 0
	for _, r := range *load.Referrers() {
		switch r := r.(type) {
		case *ssa.Phi, *ssa.Field:
			return 0, false
		case *ssa.DebugRef:
			continue
		case *ssa.BinOp:
			if k.fused(r) { // at the block's end
				return 0, false
			}
		}
		if r.Block() != b {
			return 0, false
		}
		left++
	}
	after := false
	for _, i := range b.Instrs {
		if !after {
			after = i == ssa.Instruction(load)
			continue
		}
		for _, o := range i.Operands(nil) {
			if *o == ssa.Value(load) {
				left--
			}
		}
		if left <= 0 {
			return off, true
		}
		switch i := i.(type) {
		case *ssa.Alloc:
			if ssa.Value(i) == variable {
				return 0, false
			}
		case *ssa.Store:
			if root(i.Addr) == variable {
				return 0, false
			}
		}
	}
	return 0, false
}

// placed is the slot of the variable that a value is computed for: all that is
// done with it is to store it, at once.
func (k *compiler) placed(v ssa.Value) (off uintptr, ok bool) {
	switch v := v.(type) {
	case *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.ChangeType, *ssa.MakeInterface:
	case *ssa.Call:
		if _, builtin := v.Call.Value.(*ssa.Builtin); builtin {
			return 0, false
		}
	default:
		return 0, false
	}
	if !only(v) {
		return 0, false
	}
	s, ok := (*v.Referrers())[0].(*ssa.Store)
	if !ok || s.Val != v || s.Block() != v.(ssa.Instruction).Block() {
		return 0, false
	}
	is := s.Block().Instrs
	for i := range is {
		if is[i] == v.(ssa.Instruction) && i+1 < len(is) && is[i+1] == ssa.Instruction(s) {
			return k.direct(s.Addr)
		}
	}
	return 0, false
}

// allocLocal makes a variable that stays in the frame zero, unless all of it is
// set before it is read.
func (k *compiler) allocLocal(a *ssa.Alloc, off uintptr) {
	t := k.e.types.of(a.Type().Underlying().(*types.Pointer).Elem())
	if !k.setFirst(a, off, t) {
		k.emit(zeroOp(t, off))
	}
}

func (k *compiler) setFirst(a *ssa.Alloc, off uintptr, t reflect.Type) bool {
	is := a.Block().Instrs
	for n, i := range is {
		if i == ssa.Instruction(a) {
			is = is[n+1:]
			break
		}
	}
	if s, ok := is[0].(*ssa.Store); ok && s.Addr == ssa.Value(a) {
		return true // perhaps a parameter, which lies there already
	}
	const most = 128 // bytes, and instructions that are looked at
	if t.Size() > most {
		return false
	}
	var set [most]bool
	left := t.Size()
	for _, i := range is[:min(len(is), most)] {
		switch i := i.(type) {
		case *ssa.UnOp:
			if i.Op == token.MUL && root(i.X) == ssa.Value(a) {
				return false
			}
		case *ssa.Store:
			if root(i.Addr) != ssa.Value(a) {
				continue
			}
			at, _ := k.direct(i.Addr)
			for j := range k.typ(i.Val).Size() {
				if !set[at-off+j] {
					set[at-off+j] = true
					left--
				}
			}
			if left == 0 {
				return true
			}
		}
	}
	return false
}
