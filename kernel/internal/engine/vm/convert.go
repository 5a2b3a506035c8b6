package vm

import (
	"reflect"
	"slices"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// convert compiles T(x) where the value changes.
func (k *compiler) convert(v *ssa.Convert) op {
	z, x := k.slot(v), k.slot(v.X)
	to, from, here := k.typ(v), k.typ(v.X), k.spot(v.Pos())
	switch {
	case to.Kind() == reflect.String:
		return toString(from, z, x, v, here)
	case from.Kind() == reflect.String && to.Kind() == reflect.Slice:
		if to.Elem().Kind() == reflect.Uint8 {
			return func(fr *frame) { *at[[]byte](fr, z) = []byte(roomFor(fr, here, *at[string](fr, x), 1)) }
		}
		return func(fr *frame) { *at[[]rune](fr, z) = []rune(roomFor(fr, here, *at[string](fr, x), 4)) }
	case to.Kind() == from.Kind():
		return copyOp(to, z, x)
	case isPointer(to) || isPointer(from): // unsafe.Pointer, and uintptr
		if to.Size() == 8 && !isPointer(to) {
			return func(fr *frame) { *at[uintptr](fr, z) = uintptr(*at[unsafe.Pointer](fr, x)) }
		}
		return func(fr *frame) { *at[unsafe.Pointer](fr, z) = *at[unsafe.Pointer](fr, x) }
	}
	switch from.Kind() {
	case reflect.Int:
		return numberFrom[int](to, z, x)
	case reflect.Int8:
		return numberFrom[int8](to, z, x)
	case reflect.Int16:
		return numberFrom[int16](to, z, x)
	case reflect.Int32:
		return numberFrom[int32](to, z, x)
	case reflect.Int64:
		return numberFrom[int64](to, z, x)
	case reflect.Uint:
		return numberFrom[uint](to, z, x)
	case reflect.Uint8:
		return numberFrom[uint8](to, z, x)
	case reflect.Uint16:
		return numberFrom[uint16](to, z, x)
	case reflect.Uint32:
		return numberFrom[uint32](to, z, x)
	case reflect.Uint64:
		return numberFrom[uint64](to, z, x)
	case reflect.Uintptr:
		return numberFrom[uintptr](to, z, x)
	case reflect.Float32:
		return numberFrom[float32](to, z, x)
	case reflect.Float64:
		return numberFrom[float64](to, z, x)
	case reflect.Complex64:
		return func(fr *frame) { *at[complex128](fr, z) = complex128(*at[complex64](fr, x)) }
	case reflect.Complex128:
		return func(fr *frame) { *at[complex64](fr, z) = complex64(*at[complex128](fr, x)) }
	}
	refuse("a conversion of %s to %s", v.X.Type(), v.Type())
	return nil
}

func isPointer(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.UnsafePointer
}

func numberFrom[F integer | float](to reflect.Type, z, x uintptr) op {
	switch to.Kind() {
	case reflect.Int:
		return number[int, F](z, x)
	case reflect.Int8:
		return number[int8, F](z, x)
	case reflect.Int16:
		return number[int16, F](z, x)
	case reflect.Int32:
		return number[int32, F](z, x)
	case reflect.Int64:
		return number[int64, F](z, x)
	case reflect.Uint:
		return number[uint, F](z, x)
	case reflect.Uint8:
		return number[uint8, F](z, x)
	case reflect.Uint16:
		return number[uint16, F](z, x)
	case reflect.Uint32:
		return number[uint32, F](z, x)
	case reflect.Uint64:
		return number[uint64, F](z, x)
	case reflect.Uintptr:
		return number[uintptr, F](z, x)
	case reflect.Float32:
		return number[float32, F](z, x)
	case reflect.Float64:
		return number[float64, F](z, x)
	}
	refuse("a conversion to %s", to)
	return nil
}

func number[T, F integer | float](z, x uintptr) op {
	return func(fr *frame) { *at[T](fr, z) = T(*at[F](fr, x)) }
}

// roomFor asks for the memory of a conversion of s, where that is a lot: up to
// times the length. It returns s.
func roomFor[S ~string | []byte | []rune](fr *frame, here int32, s S, times uintptr) S {
	if len(s) >= large/4 {
		fr.at = here
		fr.t.room(uintptr(len(s)) * times)
	}
	return s
}

func toString(from reflect.Type, z, x uintptr, v *ssa.Convert, here int32) op {
	switch from.Kind() {
	case reflect.Slice:
		if from.Elem().Kind() == reflect.Uint8 {
			return func(fr *frame) { *at[string](fr, z) = string(roomFor(fr, here, *at[[]byte](fr, x), 1)) }
		}
		return func(fr *frame) { *at[string](fr, z) = string(roomFor(fr, here, *at[[]rune](fr, x), 4)) }
	case reflect.String:
		return copyOp(from, z, x)
	case reflect.Int, reflect.Int64:
		return runeString[int64](z, x)
	case reflect.Int8:
		return runeString[int8](z, x)
	case reflect.Int16:
		return runeString[int16](z, x)
	case reflect.Int32:
		return runeString[int32](z, x)
	case reflect.Uint8:
		return runeString[uint8](z, x)
	case reflect.Uint16:
		return runeString[uint16](z, x)
	case reflect.Uint32:
		return runeString[uint32](z, x)
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return runeString[uint64](z, x)
	}
	refuse("a conversion of %s to %s", v.X.Type(), v.Type())
	return nil
}

func runeString[T integer](z, x uintptr) op {
	return func(fr *frame) {
		n := *at[T](fr, x)
		r := rune(n)
		if T(r) != n || n < 0 {
			r = '\uFFFD'
		}
		*at[string](fr, z) = string(r)
	}
}

// The words of an interface value.
type words struct {
	typ  unsafe.Pointer // *rtype.Type, or the method table
	data unsafe.Pointer
}

// table is the head of runtime's itab.
type table struct {
	inter, typ *rtype.Type
	hash       uint32
	_          [4]byte
	code       [1]uintptr
}

// dynamic is the type of what an interface value with methods holds.
func dynamic(tab unsafe.Pointer) *rtype.Type {
	if tab == nil {
		return nil
	}
	return (*table)(tab).typ
}

// tableOf returns the first word of values of interface type i that hold an
// x; nil if x's type lacks a method.
func tableOf(i reflect.Type, x *rtype.Type) unsafe.Pointer {
	if i.NumMethod() == 0 {
		return unsafe.Pointer(x)
	}
	if !x.Reflect().Implements(i) {
		return nil
	}
	var w words
	e := words{typ: unsafe.Pointer(x)}
	rtype.Assert(rtype.Of(i), *(*any)(unsafe.Pointer(&e)), unsafe.Pointer(&w))
	return w.typ
}

// makeInterface compiles the conversion of a value to an interface.
func (k *compiler) makeInterface(v *ssa.MakeInterface) op {
	z, x := k.slot(v), k.slot(v.X)
	t, i := k.typ(v.X), k.typ(v)
	rt := rtype.Of(t)
	tab := tableOf(i, rt)
	if tab == nil {
		refuse("a %s as a %s", v.X.Type(), v.Type())
	}
	if rt.Direct() {
		return func(fr *frame) { *at[words](fr, z) = words{tab, *at[unsafe.Pointer](fr, x)} }
	}
	how := kindOf(t)
	if t.Kind() == reflect.Struct || t.Kind() == reflect.Array {
		how = copyTyped
	}
	switch how { // as compiled Go does, which keeps small values
	case copy1:
		return box[uint8](tab, z, x)
	case copy2:
		return box[uint16](tab, z, x)
	case copy4:
		return box[uint32](tab, z, x)
	case copy8:
		return box[uint64](tab, z, x)
	case copyString:
		return box[string](tab, z, x)
	case copySlice:
		return box[[]byte](tab, z, x)
	}
	return func(fr *frame) {
		p := rtype.New(rt)
		rtype.Move(rt, p, slot(fr, x))
		*at[words](fr, z) = words{tab, p}
	}
}

func box[T any](tab unsafe.Pointer, z, x uintptr) op {
	return func(fr *frame) {
		var a any = *at[T](fr, x)
		w := (*words)(unsafe.Pointer(&a))
		w.typ = tab
		*at[words](fr, z) = *w
	}
}

// changeInterface compiles the conversion of an interface value to an
// interface type with a part of its methods.
func (k *compiler) changeInterface(v, of ssa.Value) op {
	z, x := k.slot(v), k.slot(of)
	from, to := k.typ(of), k.typ(v)
	if from == to || from.NumMethod() == 0 {
		return copyOp(to, z, x)
	}
	tabs := k.e.tablesFor(to)
	return func(fr *frame) {
		w := *at[words](fr, x)
		if w.typ != nil {
			w.typ = tabs.get(dynamic(w.typ))
		}
		*at[words](fr, z) = w
	}
}

// ofMethodValue tells the assertion by which go/ssa checks that the x of a
// method value x.M is not nil. Both stand at the selector.
func ofMethodValue(v *ssa.TypeAssert) bool {
	return slices.ContainsFunc(v.Block().Instrs, func(i ssa.Instruction) bool {
		c, ok := i.(*ssa.MakeClosure)
		return ok && c.Pos().IsValid() && c.Pos() == v.Pos()
	})
}

// typeAssert compiles x.(T).
func (k *compiler) typeAssert(v *ssa.TypeAssert) op {
	x, here := k.slot(v.X), k.spot(v.Pos())
	from, to := k.typ(v.X), k.e.types.of(v.AssertedType)
	rt, methods := rtype.Of(to), from.NumMethod() > 0
	z := uintptr(0)
	var ok uintptr
	if v.CommaOk {
		z, ok = k.tuples[v][0].off, k.tuples[v][1].off
	} else {
		z = k.slot(v)
	}
	held := func(fr *frame) (words, *rtype.Type) {
		w := *at[words](fr, x)
		if methods {
			return w, dynamic(w.typ)
		}
		return w, (*rtype.Type)(w.typ)
	}
	if to.Kind() == reflect.Interface {
		tabs, bound := k.e.tablesFor(to), ofMethodValue(v)
		return func(fr *frame) {
			w, t := held(fr)
			if bound && t == nil {
				fr.at = here
				touch(nil)
			}
			var tab unsafe.Pointer
			if t != nil {
				tab = tabs.get(t)
			}
			if v.CommaOk {
				*at[bool](fr, ok) = tab != nil
				if tab == nil {
					w = words{}
				}
			} else if tab == nil {
				fr.at = here
				k.e.failAssert(from, t, to)
			}
			w.typ = tab
			*at[words](fr, z) = w
		}
	}
	direct, how := rt.Direct(), kindOf(to)
	return func(fr *frame) {
		w, t := held(fr)
		if t == rt {
			if direct {
				*at[unsafe.Pointer](fr, z) = w.data
			} else {
				copyValue(how, rt, slot(fr, z), w.data)
			}
			if v.CommaOk {
				*at[bool](fr, ok) = true
			}
			return
		}
		if !v.CommaOk {
			fr.at = here
			k.e.failAssert(from, t, to)
		}
		rtype.Clear(rt, slot(fr, z))
		*at[bool](fr, ok) = false
	}
}
