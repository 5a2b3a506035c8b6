package vm

import (
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// instr compiles one instruction that does not end a block.
func (k *compiler) instr(i ssa.Instruction) {
	if p := i.Pos(); p.IsValid() {
		k.near = p
	}
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
			k.emit(loadOp(k.typ(i), k.slot(i), k.slot(i.X), k.spot(k.near)))
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
		k.emit(k.changeInterface(i, i.X))
	case *ssa.MakeInterface:
		k.emit(k.makeInterface(i))
	case *ssa.TypeAssert:
		k.emit(k.typeAssert(i))
	case *ssa.Store:
		k.emit(storeOp(k.typ(i.Val), k.slot(i.Addr), k.slot(i.Val), k.spot(k.near)))
	case *ssa.FieldAddr:
		k.emit(k.fieldAddr(i))
	case *ssa.Field:
		if _, ok := i.X.(*ssa.Const); ok {
			k.emit(copyOp(k.typ(i), k.slot(i), k.slot(i.X)+k.typ(i.X).Field(i.Field).Offset))
		}
	case *ssa.IndexAddr:
		k.emit(k.indexAddr(i))
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
		k.emit(func(fr *frame) { fr.runDeferred(nil, false) })
	default:
		refuse("%s", i)
	}
}

func (k *compiler) alloc(i *ssa.Alloc) {
	z := k.slot(i)
	t := k.e.types.of(i.Type().Underlying().(*types.Pointer).Elem())
	rt := rtype.Of(t)
	if i.Heap || t.Size() > maxLocal {
		k.emit(func(fr *frame) { *at[unsafe.Pointer](fr, z) = rtype.New(rt) })
		return
	}
	v := k.memory.Add(t)
	if t.Size() == 8 && rt.PtrBytes == 0 {
		k.emit(func(fr *frame) {
			*at[uint64](fr, v) = 0
			*at[unsafe.Pointer](fr, z) = slot(fr, v)
		})
		return
	}
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

// integer returns where an index, length or capacity lies as an int. Values of
// other types are converted first; what does not fit becomes negative.
func (k *compiler) integer(v ssa.Value) uintptr {
	x, t := k.slot(v), k.typ(v)
	if t.Kind() == reflect.Int || t.Kind() == reflect.Int64 || t.Kind() == reflect.Uint || t.Kind() == reflect.Uint64 || t.Kind() == reflect.Uintptr {
		return x
	}
	z := k.memory.Add(reflect.TypeFor[int]())
	switch t.Kind() {
	case reflect.Int8:
		k.emit(number[int, int8](z, x))
	case reflect.Int16:
		k.emit(number[int, int16](z, x))
	case reflect.Int32:
		k.emit(number[int, int32](z, x))
	case reflect.Uint8:
		k.emit(number[int, uint8](z, x))
	case reflect.Uint16:
		k.emit(number[int, uint16](z, x))
	case reflect.Uint32:
		k.emit(number[int, uint32](z, x))
	default:
		refuse("an index of type %s", v.Type())
	}
	return z
}

// outside panics as an index that is out of range does.
//
//go:noinline
func outside(i, n int) {
	_ = unsafe.Slice((*struct{})(unsafe.Pointer(&zero)), n)[i]
}

var zero uint64

func (k *compiler) indexAddr(i *ssa.IndexAddr) op {
	x, n, here := k.slot(i.X), k.integer(i.Index), k.spot(i.Pos())
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
				outside(j, length)
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
			outside(j, s.Len)
		}
		*at[unsafe.Pointer](fr, z) = unsafe.Add(s.Data, uintptr(j)*size)
	}
}

func (k *compiler) index(i *ssa.Index) op {
	x, n, here := k.slot(i.X), k.integer(i.Index), k.spot(i.Pos())
	z := k.slot(i)
	t := k.typ(i.X)
	if t.Kind() == reflect.String {
		return func(fr *frame) {
			fr.at = here
			*at[byte](fr, z) = (*at[string](fr, x))[*at[int](fr, n)]
		}
	}
	size, length, m := t.Elem().Size(), t.Len(), newMove(0, 0, t.Elem())
	return func(fr *frame) {
		j := *at[int](fr, n)
		if uint(j) >= uint(length) {
			fr.at = here
			outside(j, length)
		}
		m.do(slot(fr, z), slot(fr, x+uintptr(j)*size))
	}
}

// slice compiles x[low:high:max].
func (k *compiler) slice(i *ssa.Slice) op {
	t, x, here := k.typ(i.X), k.slot(i.X), k.spot(i.Pos())
	const none = ^uintptr(0)
	low, high, top := none, none, none
	if i.Low != nil {
		low = k.integer(i.Low)
	}
	if i.High != nil {
		high = k.integer(i.High)
	}
	if i.Max != nil {
		top = k.integer(i.Max)
	}
	z := k.slot(i)
	if t.Kind() == reflect.String {
		return func(fr *frame) {
			fr.at = here
			s := *at[string](fr, x)
			l, h := 0, len(s)
			if low != none {
				l = *at[int](fr, low)
			}
			if high != none {
				*at[string](fr, z) = s[l:*at[int](fr, high)]
				return
			}
			_ = h
			*at[string](fr, z) = s[l:]
		}
	}
	array := t.Kind() == reflect.Pointer
	var elem reflect.Type
	length := 0
	if array {
		elem, length = t.Elem().Elem(), t.Elem().Len()
	} else {
		elem = t.Elem()
	}
	made := false
	if a, ok := i.X.(*ssa.Alloc); ok {
		made = a.Comment == "makeslice"
	}
	size := elem.Size()
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
		l := 0
		if low != none {
			l = *at[int](fr, low)
		}
		if made {
			checkMake(*at[int](fr, high), s.Cap)
		}
		// The bounds are those of a slice of elements without size.
		b := unsafe.Slice((*struct{})(unsafe.Pointer(&zero)), s.Cap)[:s.Len]
		switch {
		case top != none && array:
			a := b
			b = sliceArray3(a, l, *at[int](fr, high), *at[int](fr, top))
		case top != none:
			b = b[l:*at[int](fr, high):*at[int](fr, top)]
		case high != none && array:
			b = sliceArray(b, l, *at[int](fr, high))
		case high != none:
			b = b[l:*at[int](fr, high)]
		default:
			b = b[l:]
		}
		if cap(b) > 0 { // else the pointer would be that of another object
			s.Data = unsafe.Add(s.Data, uintptr(l)*size)
		}
		s.Len, s.Cap = len(b), cap(b)
		*at[rtype.Slice](fr, z) = s
	}
}

// sliceArray slices an array, whose panics speak of its length.
func sliceArray(b []struct{}, low, high int) []struct{} {
	if uint(high) > uint(len(b)) {
		s := string(make([]byte, len(b)))
		_ = s[low:high] // panics
	}
	return b[low:high]
}

func sliceArray3(b []struct{}, low, high, top int) []struct{} {
	return b[low:high:top]
}

func checkMake(n, m int) {
	if n < 0 {
		_ = make([]struct{}, n)
	}
	if n > m {
		_ = make([]struct{}, n, m)
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
		if l < 0 || l > c || size > 0 && uintptr(c) > (1<<47)/size {
			badMake(l, c, size)
		}
		*at[rtype.Slice](fr, z) = rtype.Slice{Data: rtype.NewArray(elem, c), Len: l, Cap: c}
	}
}

// badMake panics as make does.
func badMake(l, c int, size uintptr) {
	if size == 0 {
		_ = make([]struct{}, l, c)
	}
	if l < 0 || uintptr(l) > (1<<47)/max(size, 1) {
		l = -1
	} else if c >= 0 && c < l || uintptr(c) > (1<<47)/max(size, 1) {
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
