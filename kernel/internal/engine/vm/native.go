package vm

import (
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// native is a compiled function.
type native struct {
	fn  unsafe.Pointer // the closure behind its func value
	typ reflect.Type   // with the receiver of a method first
}

// call compiles a call.
func (n *native) call(g *target) op {
	c := newNativeCall(n.typ, g)
	return func(fr *frame) {
		fr.at = g.here
		c.call(fr, n.fn)
	}
}

// nativeCall calls compiled functions of one type, with the arguments and
// results of one call site.
//
// Go passes arguments in registers, by their words: a string is a pointer and
// an integer. Functions whose words have the same shape are called alike, as
// functions of words, so that a few shapes serve most functions (shapes.go).
// The others are called by package reflect.
type nativeCall struct {
	g    *target
	typ  reflect.Type
	in   []reflect.Type
	fast direct
	args []uintptr // of words
	out  []part
}

// direct calls the function behind f with words of the frame.
type direct func(fr *frame, f unsafe.Pointer, args []uintptr, results []part)

// part is a word of a result: how much of it belongs to the result.
type part struct{ off, size uintptr }

func (p part) set(fr *frame, x uintptr) {
	switch p.size {
	case 1:
		*at[uint8](fr, p.off) = uint8(x)
	case 2:
		*at[uint16](fr, p.off) = uint16(x)
	case 4:
		*at[uint32](fr, p.off) = uint32(x)
	default:
		*at[uintptr](fr, p.off) = x
	}
}

func (p part) setFloat(fr *frame, x float64) {
	if p.size == 4 {
		*at[uint32](fr, p.off) = uint32(math.Float64bits(x))
	} else {
		*at[float64](fr, p.off) = x
	}
}

//go:generate go run gen.go

func newNativeCall(t reflect.Type, g *target) *nativeCall {
	n := &nativeCall{g: g, typ: t}
	var shape strings.Builder
	ok := true
	for in := range t.Ins() {
		i := len(n.in)
		n.in = append(n.in, in)
		ok = ok && eachWord(in, g.args[i], func(c byte, off, _ uintptr) {
			shape.WriteByte(c)
			n.args = append(n.args, off)
		})
	}
	shape.WriteByte('>')
	for i, r := range g.results {
		ok = ok && eachWord(t.Out(i), r.off, func(c byte, off, size uintptr) {
			shape.WriteByte(c)
			n.out = append(n.out, part{off, size})
		})
	}
	if ok && len(g.results) == t.NumOut() {
		n.fast = shapes[shape.String()]
	}
	return n
}

// eachWord calls f for each word of a value of type t at an offset: its class,
// a pointer, an integer or a floating-point number, its offset and size. It
// returns false if the value is not passed in registers.
func eachWord(t reflect.Type, off uintptr, f func(class byte, off, size uintptr)) bool {
	switch t.Kind() {
	case reflect.String:
		f('P', off, 8)
		f('I', off+8, 8)
	case reflect.Slice:
		f('P', off, 8)
		f('I', off+8, 8)
		f('I', off+16, 8)
	case reflect.Interface:
		f('P', off, 8)
		f('P', off+8, 8)
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		f('P', off, 8)
	case reflect.Float32, reflect.Float64:
		f('F', off, t.Size())
	case reflect.Complex64, reflect.Complex128:
		f('F', off, t.Size()/2)
		f('F', off+t.Size()/2, t.Size()/2)
	case reflect.Struct:
		for i := range t.NumField() {
			if !eachWord(t.Field(i).Type, off+t.Field(i).Offset, f) {
				return false
			}
		}
	case reflect.Array:
		switch t.Len() {
		case 0:
		case 1:
			return eachWord(t.Elem(), off, f)
		default:
			return false
		}
	default:
		f('I', off, t.Size())
	}
	return true
}

// call calls f, the closure of a func value.
func (n *nativeCall) call(fr *frame, f unsafe.Pointer) {
	fr.t.native = *(*uintptr)(f)
	if fr.t.run.stopping.Load() { // behind it: who is not in compiled code when the cell ends never will be
		fr.t.halt()
	}
	if n.fast != nil {
		n.fast(fr, f, n.args, n.out)
	} else {
		n.slow(fr, f)
	}
	fr.t.native = 0
	// Compiled code may have recovered the panic that ends the cell.
	if fr.t.run.stopping.Load() {
		fr.t.halt()
	}
}

func (n *nativeCall) slow(fr *frame, f unsafe.Pointer) {
	args := make([]reflect.Value, len(n.in))
	for i, t := range n.in {
		args[i] = reflect.NewAt(t, slot(fr, n.g.args[i])).Elem()
	}
	fn := reflect.NewAt(n.typ, unsafe.Pointer(&f)).Elem()
	var out []reflect.Value
	if n.typ.IsVariadic() {
		out = fn.CallSlice(args)
	} else {
		out = fn.Call(args)
	}
	for i, r := range n.g.results {
		// The type is not always r's: instances of compiled generic types are
		// others than those of the same name that are made.
		reflect.NewAt(out[i].Type(), slot(fr, r.off)).Elem().Set(out[i])
	}
}
