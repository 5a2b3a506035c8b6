package vm

import (
	"go/token"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// Instructions that become one.

// combine compiles the first instructions of a block's rest that become one. It
// returns how many they are, or 0.
func (k *compiler) combine(is []ssa.Instruction) int {
	switch i := is[0].(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr:
		return k.use(is)
	case *ssa.UnOp:
		return k.usePointer(i, is)
	case *ssa.Alloc:
		return k.appendValues(i, is)
	case *ssa.BinOp:
		return k.pair(i, is)
	}
	return 0
}

// use compiles an access.
func (k *compiler) use(is []ssa.Instruction) int {
	p, ok := k.pathOf(is)
	if !ok || !only(p.last) {
		return 0
	}
	if s, ok := instrAt(is, p.n).(*ssa.Store); ok && s.Addr == p.last && !p.blank {
		a := k.access(p, is)
		k.emit(a.storeOp(k.typ(s.Val), k.slot(s.Val)))
		return p.n + 1
	}
	load := loadAt(is, p.n)
	if load == nil || load.X != p.last || len(*load.Referrers()) == 0 {
		return 0
	}
	if n := k.update(p, load, is); n > 0 {
		return n
	}
	a := k.access(p, is)
	if a.way == element2 || a.way == fieldElement {
		k.note(load)
	}
	k.emit(a.loadOp(k.typ(load), k.slot(load)))
	return p.n + 1
}

// update compiles v op= y, which package ssa does as v = v op y.
func (k *compiler) update(p path, load *ssa.UnOp, is []ssa.Instruction) int {
	b, ok := instrAt(is, p.n+1).(*ssa.BinOp)
	if !ok || b.X != ssa.Value(load) || b.Y == ssa.Value(load) || !only(load) || !only(b) || p.n+2 >= len(is) {
		return 0
	}
	q, ok := k.pathOf(is[p.n+2:])
	if !ok || !only(q.last) || !p.same(q) {
		return 0
	}
	n := p.n + 2 + q.n
	if s, ok := instrAt(is, n).(*ssa.Store); !ok || s.Addr != q.last || s.Val != ssa.Value(b) || p.blank {
		return 0
	}
	a := k.access(p, is)
	o := a.updateOp(b.Op, k.typ(b), k.slot(b.Y))
	if o == nil {
		return 0
	}
	k.emit(o)
	return n + 1
}

// usePointer compiles *p op= y.
func (k *compiler) usePointer(load *ssa.UnOp, is []ssa.Instruction) int {
	if load.Op != token.MUL || !only(load) {
		return 0
	}
	if _, direct := k.direct(load.X); direct {
		return 0
	}
	b, ok1 := instrAt(is, 1).(*ssa.BinOp)
	s, ok2 := instrAt(is, 2).(*ssa.Store)
	if !ok1 || !ok2 || b.X != ssa.Value(load) || b.Y == ssa.Value(load) || s.Addr != load.X || s.Val != ssa.Value(b) || !only(b) {
		return 0
	}
	k.note(load)
	a := access{way: deref, x: k.slot(load.X), here: k.spot(k.near)}
	o := a.updateOp(b.Op, k.typ(b), k.slot(b.Y))
	if o == nil {
		return 0
	}
	k.emit(o)
	return 3
}

// appendValues compiles append(s, x, y...), for which package ssa makes an
// array of the values.
func (k *compiler) appendValues(array *ssa.Alloc, is []ssa.Instruction) int {
	if array.Comment != "varargs" {
		return 0
	}
	var values []ssa.Value
	n := 1
	for ; ; n += 2 {
		a, ok1 := instrAt(is, n).(*ssa.IndexAddr)
		s, ok2 := instrAt(is, n+1).(*ssa.Store)
		if !ok1 || !ok2 || a.X != ssa.Value(array) || s.Addr != ssa.Value(a) {
			break
		}
		values = append(values, s.Val)
	}
	slice, ok := instrAt(is, n).(*ssa.Slice)
	if !ok || slice.X != ssa.Value(array) || !only(slice) || len(values) == 0 || len(*array.Referrers()) != len(values)+1 {
		return 0
	}
	call, ok := instrAt(is, n+1).(*ssa.Call)
	if !ok || k.e.shows(call) != nil {
		return 0
	}
	if b, ok := call.Call.Value.(*ssa.Builtin); !ok || b.Name() != "append" || call.Call.Args[1] != ssa.Value(slice) {
		return 0
	}
	k.note(call)
	t := k.typ(call)
	slots := make([]uintptr, len(values))
	for i, v := range values {
		slots[i] = k.slot(v)
	}
	k.emit(appendOp(t.Elem(), k.slot(call), k.slot(call.Call.Args[0]), slots, k.spot(call.Pos())))
	return n + 2
}

func appendOp(t reflect.Type, z, x uintptr, values []uintptr, here int32) op {
	if len(values) == 1 {
		switch kindOf(t) {
		case copy1:
			return appendOne[uint8](z, x, values[0], here)
		case copy4:
			return appendOne[uint32](z, x, values[0], here)
		case copy8:
			return appendOne[uint64](z, x, values[0], here)
		case copyPointer:
			return appendOne[unsafe.Pointer](z, x, values[0], here)
		case copyString:
			return appendOne[string](z, x, values[0], here)
		}
	}
	elem, how := rtype.Of(t), kindOf(t)
	return func(fr *frame) {
		fr.at = here
		s := *at[rtype.Slice](fr, x)
		n := s.Len
		if uint(n+len(values)) > uint(s.Cap) {
			s = rtype.Grow(elem, s, len(values))
		}
		for i, v := range values {
			copyValue(how, elem, unsafe.Add(s.Data, uintptr(n+i)*elem.Size), slot(fr, v))
		}
		s.Len = n + len(values)
		*at[rtype.Slice](fr, z) = s
	}
}

// appendOne is append of one value. What lies behind a slice of pointers is seen
// by the garbage collector as what T says.
func appendOne[T any](z, x, v uintptr, here int32) op {
	return func(fr *frame) {
		fr.at = here
		*at[[]T](fr, z) = append(*at[[]T](fr, x), *at[T](fr, v))
	}
}

// pair compiles two operations on float64 of which the second is all that uses
// the first one's result.
func (k *compiler) pair(a *ssa.BinOp, is []ssa.Instruction) int {
	b, ok := instrAt(is, 1).(*ssa.BinOp)
	if !ok || !only(a) || b.X == b.Y || b.X != ssa.Value(a) && b.Y != ssa.Value(a) || k.typ(a).Kind() != reflect.Float64 || k.typ(b).Kind() != reflect.Float64 {
		return 0
	}
	first := b.X == ssa.Value(a)
	w := b.Y
	if !first {
		w = b.X
	}
	o := floatPair(a.Op, b.Op, first, k.slot(b), k.slot(a.X), k.slot(a.Y), k.slot(w))
	if o == nil {
		return 0
	}
	k.emit(o)
	return 2
}

// floatPair is z = (x a y) b w, or z = w b (x a y). Each result is rounded.
func floatPair(a, b token.Token, first bool, z, x, y, w uintptr) op {
	type f = float64
	switch {
	case a == token.ADD && b == token.ADD:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)+*at[f](fr, y)) + *at[f](fr, w) }
	case a == token.ADD && b == token.MUL:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)+*at[f](fr, y)) * *at[f](fr, w) }
	case a == token.ADD && b == token.SUB && first:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)+*at[f](fr, y)) - *at[f](fr, w) }
	case a == token.ADD && b == token.SUB:
		return func(fr *frame) { *at[f](fr, z) = *at[f](fr, w) - f(*at[f](fr, x)+*at[f](fr, y)) }
	case a == token.SUB && b == token.ADD:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)-*at[f](fr, y)) + *at[f](fr, w) }
	case a == token.SUB && b == token.MUL:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)-*at[f](fr, y)) * *at[f](fr, w) }
	case a == token.MUL && b == token.ADD:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)**at[f](fr, y)) + *at[f](fr, w) }
	case a == token.MUL && b == token.MUL:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)**at[f](fr, y)) * *at[f](fr, w) }
	case a == token.MUL && b == token.SUB && first:
		return func(fr *frame) { *at[f](fr, z) = f(*at[f](fr, x)**at[f](fr, y)) - *at[f](fr, w) }
	case a == token.MUL && b == token.SUB:
		return func(fr *frame) { *at[f](fr, z) = *at[f](fr, w) - f(*at[f](fr, x)**at[f](fr, y)) }
	}
	return nil
}
