package vm

import (
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// note keeps the position of an instruction that has one.
func (k *compiler) note(i ssa.Instruction) {
	if p := i.Pos(); p.IsValid() {
		k.near = p
	}
}

// instr compiles one instruction that does not end a block.
func (k *compiler) instr(i ssa.Instruction) {
	k.note(i)
	switch i := i.(type) {
	case *ssa.Phi, *ssa.Extract, *ssa.DebugRef:
		// φ values are copied by the edges; parts of tuples lie in them.
	case *ssa.Alloc:
		k.alloc(i)
	case *ssa.BinOp:
		k.emit(k.binary(i))
	case *ssa.UnOp:
		switch i.Op {
		case token.MUL:
			if k.unneeded(i) {
				return
			}
			if jumpOf(i) {
				k.emit(k.loopEnds(i))
				return
			}
			if off, ok := k.direct(i.X); ok {
				k.emit(copyOp(k.typ(i), k.slot(i), off))
				return
			}
			a := access{way: deref, x: k.slot(i.X), here: k.spot(k.near)}
			k.emit(a.loadOp(k.typ(i), k.slot(i)))
		case token.ARROW:
			k.emit(k.receive(i))
		default:
			k.emit(k.unary(i))
		}
	case *ssa.ChangeType:
		if k.typ(i).Kind() == reflect.Interface {
			k.emit(k.changeInterface(i, i.X))
			return
		}
		k.emit(copyOp(k.typ(i), k.slot(i), k.slot(i.X)))
	case *ssa.Convert:
		k.emit(k.convert(i))
	case *ssa.ChangeInterface:
		if narrowed(i) == ssa.Value(i) {
			k.emit(k.changeInterface(i, i.X))
		}
	case *ssa.MakeInterface:
		k.emit(k.makeInterface(i))
	case *ssa.TypeAssert:
		k.emit(k.typeAssert(i))
	case *ssa.Store:
		if f, ok := i.Addr.(*ssa.FieldAddr); ok && k.typ(f.X).Elem().Field(f.Field).Name == "_" {
			return // a literal's blank field: compiled Go leaves it zero
		}
		if off, ok := k.direct(i.Addr); ok {
			k.emit(copyOp(k.typ(i.Val), off, k.slot(i.Val)))
			return
		}
		a := access{way: deref, x: k.slot(i.Addr), here: k.spot(k.near)}
		k.emit(a.storeOp(k.typ(i.Val), k.slot(i.Val)))
	case *ssa.FieldAddr:
		if _, ok := k.direct(i); !ok {
			k.emit(k.fieldAddr(i))
		}
	case *ssa.Field:
		if _, ok := i.X.(*ssa.Const); ok {
			k.emit(copyOp(k.typ(i), k.slot(i), k.slot(i.X)+k.typ(i.X).Field(i.Field).Offset))
		}
	case *ssa.IndexAddr:
		if _, ok := k.direct(i); !ok {
			k.emit(k.indexAddr(i))
		}
	case *ssa.Index:
		k.emit(k.index(i))
	case *ssa.Slice:
		k.emit(k.slice(i))
	case *ssa.SliceToArrayPointer:
		k.emit(k.arrayPointer(i))
	case *ssa.MakeSlice:
		k.emit(k.makeSlice(i))
	case *ssa.MakeMap:
		k.emit(k.makeMap(i))
	case *ssa.MakeChan:
		k.emit(k.makeChan(i))
	case *ssa.MakeClosure:
		k.emit(k.makeClosure(i))
	case *ssa.Lookup:
		k.emit(k.lookup(i))
	case *ssa.MapUpdate:
		k.emit(k.mapUpdate(i))
	case *ssa.Range:
		k.emit(k.iterate(i))
	case *ssa.Next:
		k.emit(k.next(i))
	case *ssa.Send:
		k.emit(k.send(i))
	case *ssa.Select:
		k.emit(k.choose(i))
	case *ssa.Call:
		k.emit(k.call(i))
	case *ssa.Go:
		k.emit(k.spawn(i))
	case *ssa.Defer:
		k.emit(k.deferCall(i))
	case *ssa.RunDefers:
		end := k.spot(endOf(i))
		k.emit(func(fr *frame) {
			fr.at = end
			fr.runDeferred(nil, false)
		})
	default:
		refuse("%s", i)
	}
}

// unneeded reports whether a load is that of an array which a range clause only
// counts: it is not evaluated, unless it contains a call.
func (k *compiler) unneeded(v *ssa.UnOp) bool {
	if len(*v.Referrers()) > 0 || k.typ(v).Kind() != reflect.Array {
		return false
	}
	if _, call := v.X.(*ssa.Call); call {
		return false
	}
	b := v.Block()
	return len(b.Succs) == 1 && b.Succs[0].Comment == "rangeindex.loop"
}

// makes reports whether an allocation is that of a slice with a constant
// capacity: package ssa slices an array, of a type that nobody else may have.
func (k *compiler) makes(v ssa.Value) (elem reflect.Type, n int, ok bool) {
	a, ok := v.(*ssa.Alloc)
	if !ok || a.Comment != "makeslice" {
		return nil, 0, false
	}
	t := a.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
	return k.e.types.of(t.Elem()), int(t.Len()), true
}

func (k *compiler) alloc(i *ssa.Alloc) {
	if off, ok := k.locals[i]; ok {
		k.allocLocal(i, off)
		return
	}
	z := k.slot(i)
	if elem, n, ok := k.makes(i); ok {
		rt, here := rtype.Of(elem), k.spot(i.Pos())
		k.emit(func(fr *frame) {
			fr.at = here
			if rt.Size > 0 && uintptr(n) > maxAlloc/rt.Size {
				badMake(n, n, rt.Size)
			}
			if rt.Size*uintptr(n) >= large {
				fr.t.room(rt.Size * uintptr(n))
			}
			*at[unsafe.Pointer](fr, z) = rtype.NewArray(rt, n)
		})
		return
	}
	t := k.e.types.of(i.Type().Underlying().(*types.Pointer).Elem())
	rt := rtype.Of(t)
	if t.Size() >= large {
		here := k.spot(i.Pos())
		k.emit(func(fr *frame) {
			fr.at = here
			fr.t.room(t.Size())
			*at[unsafe.Pointer](fr, z) = rtype.New(rt)
		})
		return
	}
	if i.Heap || t.Size() > maxLocal {
		k.emit(func(fr *frame) { *at[unsafe.Pointer](fr, z) = rtype.New(rt) })
		return
	}
	v := k.memory.Add(t)
	k.emit(func(fr *frame) {
		p := slot(fr, v)
		rtype.Clear(rt, p)
		*at[unsafe.Pointer](fr, z) = p
	})
}

func (k *compiler) fieldAddr(i *ssa.FieldAddr) op {
	z, x, here := k.slot(i), k.slot(i.X), k.spot(i.Pos())
	s := k.typ(i.X).Elem()
	off := s.Field(i.Field).Offset
	return func(fr *frame) {
		fr.at = here
		p := *at[unsafe.Pointer](fr, x)
		touch(p)
		*at[unsafe.Pointer](fr, z) = unsafe.Add(p, off)
	}
}

func (k *compiler) indexAddr(i *ssa.IndexAddr) op {
	x, n, here := k.slot(i.X), k.integer(i.Index), k.spot(i.Pos())
	unsigned := k.unsigned(i.Index)
	z := k.slot(i)
	t := k.typ(i.X)
	if t.Kind() == reflect.Pointer { // to an array
		size, length := t.Elem().Elem().Size(), t.Elem().Len()
		return func(fr *frame) {
			fr.at = here
			p := *at[unsafe.Pointer](fr, x)
			touch(p)
			j := *at[int](fr, n)
			if uint(j) >= uint(length) {
				outside(j, length, unsigned)
			}
			*at[unsafe.Pointer](fr, z) = unsafe.Add(p, uintptr(j)*size)
		}
	}
	size := t.Elem().Size()
	return func(fr *frame) {
		s := at[rtype.Slice](fr, x)
		j := *at[int](fr, n)
		if uint(j) >= uint(s.Len) {
			fr.at = here
			outside(j, s.Len, unsigned)
		}
		*at[unsafe.Pointer](fr, z) = unsafe.Add(s.Data, uintptr(j)*size)
	}
}

func (k *compiler) index(i *ssa.Index) op {
	x, n, here := k.slot(i.X), k.integer(i.Index), k.spot(i.Pos())
	unsigned := k.unsigned(i.Index)
	z := k.slot(i)
	t := k.typ(i.X)
	if t.Kind() == reflect.String {
		return func(fr *frame) {
			s, j := *at[string](fr, x), *at[int](fr, n)
			if uint(j) >= uint(len(s)) {
				fr.at = here
				outside(j, len(s), unsigned)
			}
			*at[byte](fr, z) = s[j]
		}
	}
	size, length, m := t.Elem().Size(), t.Len(), newMove(0, 0, t.Elem())
	return func(fr *frame) {
		j := *at[int](fr, n)
		if uint(j) >= uint(length) {
			fr.at = here
			outside(j, length, unsigned)
		}
		m.do(slot(fr, z), slot(fr, x+uintptr(j)*size))
	}
}

// slice compiles x[low:high:max].
func (k *compiler) slice(i *ssa.Slice) op {
	x := k.slot(i.X)
	low, high, top := k.bound(i.Low), k.bound(i.High), k.bound(i.Max)
	here, z := k.spot(k.near), k.slot(i)
	elem, n, made := k.makes(i.X)
	if made {
		size := elem.Size()
		return func(fr *frame) {
			fr.at = here
			h := high.get(fr, n)
			if uint(h) > uint(n) {
				badMake(h, n, size)
			}
			*at[rtype.Slice](fr, z) = rtype.Slice{Data: *at[unsafe.Pointer](fr, x), Len: h, Cap: n}
		}
	}
	t := k.typ(i.X)
	if t.Kind() == reflect.String {
		return func(fr *frame) {
			fr.at = here
			s := *at[string](fr, x)
			l, h := low.get(fr, 0), high.get(fr, len(s))
			checkSlice(l, h, len(s), low, high, arrayHighCode)
			*at[string](fr, z) = s[l:h]
		}
	}
	array, length, highCode, topCode := t.Kind() == reflect.Pointer, 0, uint8(sliceHighCode), uint8(slice3MaxCode)
	if array {
		t = t.Elem()
		length, highCode, topCode = t.Len(), arrayHighCode, array3MaxCode
	}
	size := t.Elem().Size()
	return func(fr *frame) {
		fr.at = here
		var s rtype.Slice
		if array {
			p := *at[unsafe.Pointer](fr, x)
			touch(p)
			s = rtype.Slice{Data: p, Len: length, Cap: length}
		} else {
			s = *at[rtype.Slice](fr, x)
		}
		l, h := low.get(fr, 0), high.get(fr, s.Len)
		if top.given {
			m := top.get(fr, 0)
			if uint(m) > uint(s.Cap) {
				panicBounds(top.error(m, s.Cap, topCode))
			}
			if uint(h) > uint(m) {
				panicBounds(high.error(h, m, slice3HighCode))
			}
			if uint(l) > uint(h) {
				panicBounds(low.error(l, h, slice3LowCode))
			}
			s.Cap = m
		} else {
			checkSlice(l, h, s.Cap, low, high, highCode)
		}
		s.Len, s.Cap = h-l, s.Cap-l
		if s.Cap > 0 { // else the pointer would be that of another object
			s.Data = unsafe.Add(s.Data, uintptr(l)*size)
		}
		*at[rtype.Slice](fr, z) = s
	}
}

func (k *compiler) arrayPointer(i *ssa.SliceToArrayPointer) op {
	x, here, z := k.slot(i.X), k.spot(k.near), k.slot(i)
	n := k.typ(i).Elem().Len()
	return func(fr *frame) {
		s := *at[rtype.Slice](fr, x)
		if s.Len < n {
			fr.at = here
			shortSlice(s.Len, n)
		}
		*at[unsafe.Pointer](fr, z) = s.Data
	}
}

func (k *compiler) makeSlice(i *ssa.MakeSlice) op {
	n, m, here := k.integer(i.Len), k.integer(i.Cap), k.spot(i.Pos())
	z := k.slot(i)
	elem := rtype.Of(k.typ(i).Elem())
	size := elem.Size
	return func(fr *frame) {
		fr.at = here
		l, c := *at[int](fr, n), *at[int](fr, m)
		if l < 0 || l > c || size > 0 && uintptr(c) > maxAlloc/size {
			badMake(l, c, size)
		}
		if size*uintptr(c) >= large {
			fr.t.room(size * uintptr(c))
		}
		*at[rtype.Slice](fr, z) = rtype.Slice{Data: rtype.NewArray(elem, c), Len: l, Cap: c}
	}
}

// maxAlloc is runtime's: more bytes than that nothing can have.
const maxAlloc = 1 << 48

// badMake panics as make does.
func badMake(l, c int, size uintptr) {
	if size == 0 {
		_ = make([]struct{}, l, c)
	}
	if l < 0 || uintptr(l) > maxAlloc/max(size, 1) {
		l = -1
	} else if c >= 0 && c < l || uintptr(c) > maxAlloc/max(size, 1) {
		c = -1
	}
	_ = make([]byte, l, c)
}

func (k *compiler) makeMap(i *ssa.MakeMap) op {
	z, rt := k.slot(i), rtype.Of(k.typ(i))
	if i.Reserve == nil {
		return func(fr *frame) { *at[unsafe.Pointer](fr, z) = rtype.MakeMap(rt, 0) }
	}
	n := k.integer(i.Reserve)
	return func(fr *frame) { *at[unsafe.Pointer](fr, z) = rtype.MakeMap(rt, max(0, *at[int](fr, n))) }
}

func (k *compiler) makeChan(i *ssa.MakeChan) op {
	z, rt, n, here := k.slot(i), rtype.Of(k.typ(i)), k.integer(i.Size), k.spot(i.Pos())
	return func(fr *frame) {
		fr.at = here
		*at[unsafe.Pointer](fr, z) = rtype.MakeChan(rt, *at[int](fr, n))
	}
}
