package vm

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// boundsError is runtime's, whose fields are its own.
type boundsError struct {
	x      int64
	y      int
	signed bool
	code   uint8
}

// conversion is the panic of a slice that is too short for an array.
var conversion = caught(func() {
	s := make([]int, 0)
	sink.Store((*int)(unsafe.Pointer((*[1]int)(s))))
})

var sink atomic.Pointer[int]

func caught(f func()) (x any) {
	defer func() { x = recover() }()
	f()
	return nil
}

// shortSlice panics as the conversion of a slice to a longer array does.
func shortSlice(have, want int) {
	panicBounds(boundsError{x: int64(want), y: have, code: conversionCode})
}

// panicBounds panics with a runtime error.
func panicBounds(e boundsError) {
	x := conversion
	(*words)(unsafe.Pointer(&x)).data = unsafe.Pointer(&e)
	panic(x)
}

// The codes of package internal/abi.
const (
	indexCode      = 0 // s[x]
	arrayHighCode  = 1 // a[?:x], of a string or an array
	sliceHighCode  = 2 // s[?:x]
	lowCode        = 3 // s[x:y]
	array3MaxCode  = 4 // a[::x], of an array
	slice3MaxCode  = 5 // s[::x]
	slice3HighCode = 6 // s[:x:y]
	slice3LowCode  = 7 // s[x:y:]
	conversionCode = 8 // [x]T(s)
)

// outside panics as an index that is out of range does.
func outside(i, n int, unsigned bool) {
	panicBounds(boundsError{x: int64(i), y: n, signed: !unsigned, code: indexCode})
}

// bound is a bound of a slice expression.
type bound struct {
	off             uintptr
	given, unsigned bool
}

func (k *compiler) bound(v ssa.Value) bound {
	if v == nil {
		return bound{}
	}
	return bound{k.integer(v), true, k.unsigned(v)}
}

// get reads the bound, or returns what is meant where it is left out.
func (b *bound) get(fr *frame, absent int) int {
	if !b.given {
		return absent
	}
	return *at[int](fr, b.off)
}

func (b *bound) error(x, y int, code uint8) boundsError {
	return boundsError{x: int64(x), y: y, signed: !b.unsigned, code: code}
}

// checkSlice checks the bounds of s[low:high].
func checkSlice(l, h, limit int, low, high bound, code uint8) {
	if high.given && uint(h) > uint(limit) {
		panicBounds(high.error(h, limit, code))
	}
	if uint(l) > uint(h) {
		panicBounds(low.error(l, h, lowCode))
	}
}

// integer returns where an index, length or capacity lies as an int; what does
// not fit becomes negative.
func (k *compiler) integer(v ssa.Value) uintptr {
	x, t := k.slot(v), k.typ(v)
	if t.Size() == 8 {
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

// unsigned reports whether an index is of an unsigned type.
func (k *compiler) unsigned(v ssa.Value) bool {
	switch k.typ(v).Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}
