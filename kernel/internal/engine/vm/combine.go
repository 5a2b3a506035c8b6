package vm

import (
	"go/token"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// Instructions that become one.

// phiOf returns the φ value whose slot v can be written to when it is
// computed, which saves the copy on the edge: v is arithmetic that only the φ
// uses, and nobody reads the φ's old value between v and the edge.
func phiOf(v *ssa.BinOp) *ssa.Phi {
	if len(*v.Referrers()) != 1 {
		return nil
	}
	p, ok := (*v.Referrers())[0].(*ssa.Phi)
	if !ok {
		return nil
	}
	edge := -1
	for i, e := range p.Edges {
		if e == ssa.Value(v) {
			if edge >= 0 {
				return nil
			}
			edge = i
		}
	}
	from := p.Block().Preds[edge]
	b, after := v.Block(), false
	for {
		for _, i := range b.Instrs {
			if after && uses(i, p) {
				return nil
			}
			after = after || i == ssa.Instruction(v)
		}
		if len(b.Succs) != 1 {
			return nil
		}
		if b == from {
			break
		}
		if b = b.Succs[0]; len(b.Preds) != 1 {
			return nil
		}
	}
	for _, i := range p.Block().Instrs { // the other copies of the edge
		q, ok := i.(*ssa.Phi)
		if !ok {
			break
		}
		if q != p && q.Edges[edge] == ssa.Value(p) {
			return nil
		}
	}
	return p
}

func uses(i ssa.Instruction, v ssa.Value) bool {
	for _, o := range i.Operands(nil) {
		if *o == v {
			return true
		}
	}
	return false
}

// indexLoad compiles x[i] where package ssa takes the element's address and
// then loads it; nil if the address is needed otherwise.
func (k *compiler) indexLoad(a *ssa.IndexAddr) op {
	load := loadOf(a)
	if load == nil || k.typ(a.X).Kind() != reflect.Slice {
		return nil
	}
	t := k.typ(load)
	x, n, here := k.slot(a.X), k.integer(a.Index), k.spot(k.near)
	unsigned, z := k.unsigned(a.Index), k.slot(load)
	switch kindOf(t) {
	case copy1:
		return elementLoad[uint8](z, x, n, here, unsigned)
	case copy4:
		return elementLoad[uint32](z, x, n, here, unsigned)
	case copy8:
		return elementLoad[uint64](z, x, n, here, unsigned)
	case copyPointer:
		return elementLoad[unsafe.Pointer](z, x, n, here, unsigned)
	case copyString:
		return elementLoad[string](z, x, n, here, unsigned)
	}
	size, m := t.Size(), newMove(0, 0, t)
	return func(fr *frame) {
		s, j := at[rtype.Slice](fr, x), *at[int](fr, n)
		if uint(j) >= uint(s.Len) {
			fr.at = here
			outside(j, s.Len, unsigned)
		}
		m.do(slot(fr, z), unsafe.Add(s.Data, uintptr(j)*size))
	}
}

func elementLoad[T any](z, x, n uintptr, here int32, unsigned bool) op {
	return func(fr *frame) {
		s, j := *at[[]T](fr, x), *at[int](fr, n)
		if uint(j) >= uint(len(s)) {
			fr.at = here
			outside(j, len(s), unsigned)
		}
		*at[T](fr, z) = s[j]
	}
}

// fieldLoad compiles p.f in the same way.
func (k *compiler) fieldLoad(a *ssa.FieldAddr) op {
	load := loadOf(a)
	if load == nil {
		return nil
	}
	off := k.typ(a.X).Elem().Field(a.Field).Offset
	x, z, here := k.slot(a.X), k.slot(load), k.spot(k.near)
	if off >= 4096 { // beyond what a nil pointer faults for
		return nil
	}
	switch kindOf(k.typ(load)) {
	case copy1:
		return partLoad[uint8](z, x, off, here)
	case copy4:
		return partLoad[uint32](z, x, off, here)
	case copy8:
		return partLoad[uint64](z, x, off, here)
	case copyPointer:
		return partLoad[unsafe.Pointer](z, x, off, here)
	case copyString:
		return partLoad[string](z, x, off, here)
	case copySlice:
		return partLoad[[]byte](z, x, off, here)
	}
	return nil
}

func partLoad[T any](z, x, off uintptr, here int32) op {
	return func(fr *frame) {
		fr.at = here
		p := *at[unsafe.Pointer](fr, x)
		touch(p)
		*at[T](fr, z) = *(*T)(unsafe.Add(p, off))
	}
}

// loadOf returns the load that follows an address and is all that uses it.
func loadOf(a ssa.Value) *ssa.UnOp {
	if len(*a.Referrers()) != 1 {
		return nil
	}
	u, ok := (*a.Referrers())[0].(*ssa.UnOp)
	if !ok || u.Op != token.MUL || len(*u.Referrers()) == 0 {
		return nil
	}
	b := u.Block()
	for i, instr := range b.Instrs {
		if instr == ssa.Instruction(u) {
			if i > 0 && b.Instrs[i-1] == a.(ssa.Instruction) {
				return u
			}
			return nil
		}
	}
	return nil
}

// combined reports whether a load was made with the address before it.
func (k *compiler) combined(u *ssa.UnOp) bool { return k.done[u] }
