package vm

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type float interface{ ~float32 | ~float64 }

type ordered interface{ integer | float | ~string }

// binary compiles X op Y.
func (k *compiler) binary(v *ssa.BinOp) op {
	z, x, y := k.slot(v), k.slot(v.X), k.slot(v.Y)
	t := k.typ(v.X)
	switch v.Op {
	case token.SHL, token.SHR:
		return k.shift(v, z, x)
	case token.EQL, token.NEQ:
		eq := k.equal(v, z, x, y, t)
		if v.Op == token.EQL {
			return eq
		}
		return func(fr *frame) {
			eq(fr)
			*at[bool](fr, z) = !*at[bool](fr, z)
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return compare(v.Op, t, z, x, y)
	}
	switch t.Kind() {
	case reflect.Int:
		if n, ok := v.Y.(*ssa.Const); ok {
			if o := intConst(v.Op, z, x, int(n.Int64())); o != nil {
				switch {
				case z == x && v.Op == token.ADD:
					k.adds(z, int(n.Int64()))
				case z == x && v.Op == token.SUB:
					k.adds(z, -int(n.Int64()))
				}
				return o
			}
		}
		return integers[int](k, v, z, x, y)
	case reflect.Int8:
		return integers[int8](k, v, z, x, y)
	case reflect.Int16:
		return integers[int16](k, v, z, x, y)
	case reflect.Int32:
		return integers[int32](k, v, z, x, y)
	case reflect.Int64:
		return integers[int64](k, v, z, x, y)
	case reflect.Uint:
		return integers[uint](k, v, z, x, y)
	case reflect.Uint8:
		return integers[uint8](k, v, z, x, y)
	case reflect.Uint16:
		return integers[uint16](k, v, z, x, y)
	case reflect.Uint32:
		return integers[uint32](k, v, z, x, y)
	case reflect.Uint64:
		return integers[uint64](k, v, z, x, y)
	case reflect.Uintptr:
		return integers[uintptr](k, v, z, x, y)
	case reflect.Float32:
		return numbers[float32](v.Op, z, x, y)
	case reflect.Float64:
		return numbers[float64](v.Op, z, x, y)
	case reflect.Complex64:
		return numbers[complex64](v.Op, z, x, y)
	case reflect.Complex128:
		return numbers[complex128](v.Op, z, x, y)
	case reflect.String:
		here := k.spot(v.Pos())
		return func(fr *frame) {
			a, b := *at[string](fr, x), *at[string](fr, y)
			if len(a)+len(b) >= large {
				fr.at = here
				fr.t.room(uintptr(len(a) + len(b)))
			}
			*at[string](fr, z) = a + b
		}
	}
	refuse("%s of %s", v.Op, v.X.Type())
	return nil
}

func intConst(o token.Token, z, x uintptr, n int) op {
	switch o {
	case token.ADD:
		return func(fr *frame) { *at[int](fr, z) = *at[int](fr, x) + n }
	case token.SUB:
		return func(fr *frame) { *at[int](fr, z) = *at[int](fr, x) - n }
	case token.MUL:
		return func(fr *frame) { *at[int](fr, z) = *at[int](fr, x) * n }
	case token.AND:
		return func(fr *frame) { *at[int](fr, z) = *at[int](fr, x) & n }
	case token.REM:
		if n > 0 {
			return func(fr *frame) { *at[int](fr, z) = *at[int](fr, x) % n }
		}
	case token.QUO:
		if n > 0 {
			return func(fr *frame) { *at[int](fr, z) = *at[int](fr, x) / n }
		}
	}
	return nil
}

func integers[T integer](k *compiler, v *ssa.BinOp, z, x, y uintptr) op {
	switch v.Op {
	case token.ADD:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) + *at[T](fr, y) }
	case token.SUB:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) - *at[T](fr, y) }
	case token.MUL:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) * *at[T](fr, y) }
	case token.QUO:
		here := k.spot(v.Pos())
		return func(fr *frame) { fr.at = here; *at[T](fr, z) = *at[T](fr, x) / *at[T](fr, y) }
	case token.REM:
		here := k.spot(v.Pos())
		return func(fr *frame) { fr.at = here; *at[T](fr, z) = *at[T](fr, x) % *at[T](fr, y) }
	case token.AND:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) & *at[T](fr, y) }
	case token.OR:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) | *at[T](fr, y) }
	case token.XOR:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) ^ *at[T](fr, y) }
	case token.AND_NOT:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) &^ *at[T](fr, y) }
	}
	refuse("%s of %s", v.Op, v.X.Type())
	return nil
}

func numbers[T float | ~complex64 | ~complex128](o token.Token, z, x, y uintptr) op {
	switch o {
	case token.ADD:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) + *at[T](fr, y) }
	case token.SUB:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) - *at[T](fr, y) }
	case token.MUL:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) * *at[T](fr, y) }
	case token.QUO:
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) / *at[T](fr, y) }
	}
	refuse("%s of numbers", o)
	return nil
}

// shift compiles << and >>; the count has a type of its own.
func (k *compiler) shift(v *ssa.BinOp, z, x uintptr) op {
	count := k.count(v)
	switch k.typ(v.X).Kind() {
	case reflect.Int:
		return shifts[int](v.Op, z, x, count)
	case reflect.Int8:
		return shifts[int8](v.Op, z, x, count)
	case reflect.Int16:
		return shifts[int16](v.Op, z, x, count)
	case reflect.Int32:
		return shifts[int32](v.Op, z, x, count)
	case reflect.Int64:
		return shifts[int64](v.Op, z, x, count)
	case reflect.Uint:
		return shifts[uint](v.Op, z, x, count)
	case reflect.Uint8:
		return shifts[uint8](v.Op, z, x, count)
	case reflect.Uint16:
		return shifts[uint16](v.Op, z, x, count)
	case reflect.Uint32:
		return shifts[uint32](v.Op, z, x, count)
	case reflect.Uint64:
		return shifts[uint64](v.Op, z, x, count)
	case reflect.Uintptr:
		return shifts[uintptr](v.Op, z, x, count)
	}
	refuse("%s of %s", v.Op, v.X.Type())
	return nil
}

// count returns what reads the count of a shift; negative ones panic.
func (k *compiler) count(v *ssa.BinOp) func(*frame) uint64 {
	y := k.slot(v.Y)
	if c, ok := v.Y.(*ssa.Const); ok {
		if n, exact := constant.Int64Val(constant.ToInt(c.Value)); !exact || n >= 0 {
			n := c.Uint64()
			return func(*frame) uint64 { return n }
		}
	}
	here := k.spot(v.Pos())
	switch k.typ(v.Y).Kind() {
	case reflect.Int, reflect.Int64:
		return signedCount[int64](y, here)
	case reflect.Int8:
		return signedCount[int8](y, here)
	case reflect.Int16:
		return signedCount[int16](y, here)
	case reflect.Int32:
		return signedCount[int32](y, here)
	case reflect.Uint8:
		return func(fr *frame) uint64 { return uint64(*at[uint8](fr, y)) }
	case reflect.Uint16:
		return func(fr *frame) uint64 { return uint64(*at[uint16](fr, y)) }
	case reflect.Uint32:
		return func(fr *frame) uint64 { return uint64(*at[uint32](fr, y)) }
	}
	return func(fr *frame) uint64 { return *at[uint64](fr, y) }
}

func signedCount[T int8 | int16 | int32 | int64](y uintptr, here int32) func(*frame) uint64 {
	return func(fr *frame) uint64 {
		n := *at[T](fr, y)
		if n < 0 {
			fr.at = here
			return negativeShift(int64(n))
		}
		return uint64(n)
	}
}

// negativeShift panics.
//
//go:noinline
func negativeShift(n int64) uint64 { return 1 << n }

func shifts[T integer](o token.Token, z, x uintptr, count func(*frame) uint64) op {
	if o == token.SHL {
		return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) << count(fr) }
	}
	return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) >> count(fr) }
}

func compare(o token.Token, t reflect.Type, z, x, y uintptr) op {
	switch t.Kind() {
	case reflect.Int:
		return compares[int](o, z, x, y)
	case reflect.Int8:
		return compares[int8](o, z, x, y)
	case reflect.Int16:
		return compares[int16](o, z, x, y)
	case reflect.Int32:
		return compares[int32](o, z, x, y)
	case reflect.Int64:
		return compares[int64](o, z, x, y)
	case reflect.Uint:
		return compares[uint](o, z, x, y)
	case reflect.Uint8:
		return compares[uint8](o, z, x, y)
	case reflect.Uint16:
		return compares[uint16](o, z, x, y)
	case reflect.Uint32:
		return compares[uint32](o, z, x, y)
	case reflect.Uint64:
		return compares[uint64](o, z, x, y)
	case reflect.Uintptr:
		return compares[uintptr](o, z, x, y)
	case reflect.Float32:
		return compares[float32](o, z, x, y)
	case reflect.Float64:
		return compares[float64](o, z, x, y)
	case reflect.String:
		return compares[string](o, z, x, y)
	}
	refuse("%s of %s", o, t)
	return nil
}

func compares[T ordered](o token.Token, z, x, y uintptr) op {
	switch o {
	case token.LSS:
		return func(fr *frame) { *at[bool](fr, z) = *at[T](fr, x) < *at[T](fr, y) }
	case token.LEQ:
		return func(fr *frame) { *at[bool](fr, z) = *at[T](fr, x) <= *at[T](fr, y) }
	case token.GTR:
		return func(fr *frame) { *at[bool](fr, z) = *at[T](fr, x) > *at[T](fr, y) }
	}
	return func(fr *frame) { *at[bool](fr, z) = *at[T](fr, x) >= *at[T](fr, y) }
}

func equals[T comparable](z, x, y uintptr) op {
	return func(fr *frame) { *at[bool](fr, z) = *at[T](fr, x) == *at[T](fr, y) }
}

// equal compiles X == Y.
func (k *compiler) equal(v *ssa.BinOp, z, x, y uintptr, t reflect.Type) op {
	switch t.Kind() {
	case reflect.String:
		return equals[string](z, x, y)
	case reflect.Float32:
		return equals[float32](z, x, y)
	case reflect.Float64:
		return equals[float64](z, x, y)
	case reflect.Complex64:
		return equals[complex64](z, x, y)
	case reflect.Complex128:
		return equals[complex128](z, x, y)
	case reflect.Slice, reflect.Map, reflect.Func, reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		return equals[unsafe.Pointer](z, x, y) // slices only with nil
	case reflect.Interface:
		here := k.spot(v.Pos())
		if vx, vy := narrowed(v.X), narrowed(v.Y); vx != v.X || vy != v.Y {
			a, b := k.loadAny(vx), k.loadAny(vy)
			return func(fr *frame) { fr.at = here; *at[bool](fr, z) = a(fr) == b(fr) }
		}
		if t.NumMethod() == 0 {
			return func(fr *frame) { fr.at = here; *at[bool](fr, z) = *at[any](fr, x) == *at[any](fr, y) }
		}
		return func(fr *frame) { fr.at = here; *at[bool](fr, z) = *at[error](fr, x) == *at[error](fr, y) }
	case reflect.Struct, reflect.Array:
		eq, here := rtype.Of(t).Equal, k.spot(v.Pos())
		return func(fr *frame) { fr.at = here; *at[bool](fr, z) = eq(slot(fr, x), slot(fr, y)) }
	}
	switch t.Size() {
	case 1:
		return equals[uint8](z, x, y)
	case 2:
		return equals[uint16](z, x, y)
	case 4:
		return equals[uint32](z, x, y)
	}
	return equals[uint64](z, x, y)
}

// narrowed is what go/ssa converted to an interface type that it may not have
// the methods of: to compare it with a value of that type.
func narrowed(v ssa.Value) ssa.Value {
	if c, ok := v.(*ssa.ChangeInterface); ok && !types.AssignableTo(c.X.Type(), c.Type()) {
		return c.X
	}
	return v
}

// loadAny compiles the value of an interface type as one of type any.
func (k *compiler) loadAny(v ssa.Value) func(*frame) any {
	x := k.slot(v)
	if k.typ(v).NumMethod() == 0 {
		return func(fr *frame) any { return *at[any](fr, x) }
	}
	return func(fr *frame) any {
		w := *at[words](fr, x)
		if w.typ != nil {
			w.typ = unsafe.Pointer(dynamic(w.typ))
		}
		return *(*any)(unsafe.Pointer(&w))
	}
}

// unary compiles op X for what is no load or receive.
func (k *compiler) unary(v *ssa.UnOp) op {
	z, x, t := k.slot(v), k.slot(v.X), k.typ(v)
	if v.Op == token.NOT {
		return func(fr *frame) { *at[bool](fr, z) = !*at[bool](fr, x) }
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return unaries[int64](v.Op, z, x)
	case reflect.Int8, reflect.Uint8:
		return unaries[int8](v.Op, z, x)
	case reflect.Int16, reflect.Uint16:
		return unaries[int16](v.Op, z, x)
	case reflect.Int32, reflect.Uint32:
		return unaries[int32](v.Op, z, x)
	case reflect.Float32:
		return func(fr *frame) { *at[float32](fr, z) = -*at[float32](fr, x) }
	case reflect.Float64:
		return func(fr *frame) { *at[float64](fr, z) = -*at[float64](fr, x) }
	case reflect.Complex64:
		return func(fr *frame) { *at[complex64](fr, z) = -*at[complex64](fr, x) }
	case reflect.Complex128:
		return func(fr *frame) { *at[complex128](fr, z) = -*at[complex128](fr, x) }
	}
	refuse("%s of %s", v.Op, v.X.Type())
	return nil
}

func unaries[T integer](o token.Token, z, x uintptr) op {
	if o == token.SUB {
		return func(fr *frame) { *at[T](fr, z) = -*at[T](fr, x) }
	}
	return func(fr *frame) { *at[T](fr, z) = ^*at[T](fr, x) }
}
