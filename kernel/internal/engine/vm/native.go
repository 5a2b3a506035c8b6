package vm

import (
	"reflect"
	"unsafe"
)

// native is a compiled function.
type native struct {
	fn  unsafe.Pointer // the closure behind its func value
	typ reflect.Type   // with the receiver of a method first
}

// call compiles a call.
func (n *native) call(g *target) op {
	c := newNativeCall(n.typ)
	return func(fr *frame) {
		fr.at = g.here
		c.call(fr, g, n.fn)
	}
}

// nativeCall calls compiled functions of one type.
type nativeCall struct {
	typ reflect.Type
	in  []reflect.Type
}

func newNativeCall(t reflect.Type) *nativeCall {
	n := &nativeCall{typ: t}
	for in := range t.Ins() {
		n.in = append(n.in, in)
	}
	return n
}

// call calls f, the closure of a func value, with the arguments and results of
// g in the frame.
func (n *nativeCall) call(fr *frame, g *target, f unsafe.Pointer) {
	args := make([]reflect.Value, len(n.in))
	for i, t := range n.in {
		args[i] = reflect.NewAt(t, slot(fr, g.args[i])).Elem()
	}
	n.finish(fr, g, f, args)
}

// callMethod calls a method whose code is that at f, with a receiver as it
// lies in an interface value.
func (n *nativeCall) callMethod(fr *frame, g *target, f, recv unsafe.Pointer) {
	args := make([]reflect.Value, len(n.in))
	args[0] = reflect.ValueOf(recv)
	for i, t := range n.in[1:] {
		args[i+1] = reflect.NewAt(t, slot(fr, g.args[i])).Elem()
	}
	n.finish(fr, g, f, args)
}

func (n *nativeCall) finish(fr *frame, g *target, f unsafe.Pointer, args []reflect.Value) {
	fn := reflect.NewAt(n.typ, unsafe.Pointer(&f)).Elem()
	var out []reflect.Value
	if n.typ.IsVariadic() {
		out = fn.CallSlice(args)
	} else {
		out = fn.Call(args)
	}
	for i, r := range g.results {
		// The type is not always r's: instances of compiled generic types are
		// others than those of the same name that are made.
		reflect.NewAt(out[i].Type(), slot(fr, r.off)).Elem().Set(out[i])
	}
}
