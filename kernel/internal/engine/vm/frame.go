package vm

import (
	"go/token"
	"go/types"
	"reflect"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// frame is the head of a call's memory. Behind it lie, at offsets that the
// code knows, the results, the parameters, free variables, constants and
// registers, each as compiled Go lays out a value of its type.
type frame struct {
	t       *thread
	code    *code
	caller  *frame
	closure unsafe.Pointer // *closure that is running, for its free variables
	defers  *deferred
	pan     *panicking // what a recover in this frame ends
	at      int32      // index in code.spots of the instruction that may panic
	depth   int32

	deferred bool // the call is a deferred one
}

// at is a slot of a frame.
func at[T any](fr *frame, off uintptr) *T { return (*T)(unsafe.Add(unsafe.Pointer(fr), off)) }

func slot(fr *frame, off uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(fr), off) }

// op is one compiled instruction, or several.
type op func(*frame)

// block is a sequence of instructions; next chooses the one that follows, nil
// at the end of the call.
type block struct {
	ops  []op
	next func(*frame) *block
}

// body is what code runs.
type body struct {
	entry   *block
	recover *block // loads the results after a recovered panic; may be nil
	guarded bool   // there are deferred calls
}

// code is a compiled function.
type code struct {
	e    *Engine
	id   uint
	name string
	fn   *ssa.Function // until it is compiled; nil for code that is not a function's
	free []value       // the free variables, where closures have them
	sig  layout
	body atomic.Pointer[body]

	memory   *rtype.Type
	template unsafe.Pointer // *frame: a new frame's contents
	bind     *rtype.Type    // of closures of this code
	proto    *closure       // a closure of this code but for its free variables
	spots    []spot
	through  bool    // a wrapper: a deferred call of it is one of what it calls
	source   *source // the module's package that it comes from; nil for none
}

type spot struct{ pos token.Pos }

// layout is where results and parameters lie in a frame: it depends on their
// types alone, so that callers need not know the code.
type layout struct {
	results, params []value
}

// value is a slot with its type.
type value struct {
	off uintptr
	typ reflect.Type
}

// startFrame returns memory with a frame's head.
func startFrame() *rtype.Memory {
	m := new(rtype.Memory)
	m.Add(reflect.TypeFor[frame]())
	return m
}

func newLayout(m *rtype.Memory, params, results []reflect.Type) layout {
	add := func(ts []reflect.Type) []value {
		vs := make([]value, len(ts))
		for i, t := range ts {
			vs[i] = value{m.Add(t), t}
		}
		return vs
	}
	r := add(results)
	return layout{results: r, params: add(params)}
}

// layoutOf is the layout of calls of a function of type s, whose receiver, if
// any, is the first parameter.
func (e *Engine) layoutOf(s *types.Signature) layout {
	params, results := e.signature(s)
	return newLayout(startFrame(), params, results)
}

func (e *Engine) signature(s *types.Signature) (params, results []reflect.Type) {
	if r := s.Recv(); r != nil {
		params = append(params, e.types.of(r.Type()))
	}
	for v := range s.Params().Variables() {
		params = append(params, e.types.of(v.Type()))
	}
	for v := range s.Results().Variables() {
		results = append(results, e.types.of(v.Type()))
	}
	return params, results
}

// A move copies one value between frames.
type move struct {
	dst, src uintptr
	how      kind
	typ      *rtype.Type
}

// kind says how a value is copied.
type kind uint8

const (
	copyNone kind = iota
	copy1
	copy2
	copy4
	copy8
	copyPointer
	copyString
	copySlice
	copyInterface
	copyTyped
)

func kindOf(t reflect.Type) kind {
	switch t.Kind() {
	case reflect.String:
		return copyString
	case reflect.Slice:
		return copySlice
	case reflect.Interface:
		return copyInterface
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return copyPointer
	case reflect.Struct, reflect.Array:
		if t.Size() == 0 {
			return copyNone
		}
		return copyTyped
	}
	switch t.Size() {
	case 1:
		return copy1
	case 2:
		return copy2
	case 4:
		return copy4
	case 8:
		return copy8
	}
	return copyTyped
}

func newMove(dst, src uintptr, t reflect.Type) move {
	return move{dst, src, kindOf(t), rtype.Of(t)}
}

// do copies from one piece of memory to another.
func (m *move) do(to, from unsafe.Pointer) {
	copyValue(m.how, m.typ, unsafe.Add(to, m.dst), unsafe.Add(from, m.src))
}

func copyValue(how kind, t *rtype.Type, dst, src unsafe.Pointer) {
	switch how {
	case copy8:
		*(*uint64)(dst) = *(*uint64)(src)
	case copyPointer:
		*(*unsafe.Pointer)(dst) = *(*unsafe.Pointer)(src)
	case copyString:
		*(*string)(dst) = *(*string)(src)
	case copySlice:
		*(*[]byte)(dst) = *(*[]byte)(src)
	case copyInterface:
		*(*[2]unsafe.Pointer)(dst) = *(*[2]unsafe.Pointer)(src)
	case copy4:
		*(*uint32)(dst) = *(*uint32)(src)
	case copy2:
		*(*uint16)(dst) = *(*uint16)(src)
	case copy1:
		*(*uint8)(dst) = *(*uint8)(src)
	case copyTyped:
		rtype.Move(t, dst, src)
	}
}

// copyOp copies between slots of a frame.
func copyOp(t reflect.Type, z, x uintptr) op {
	switch kindOf(t) {
	case copyNone:
		return nil
	case copy1:
		return func(fr *frame) { *at[uint8](fr, z) = *at[uint8](fr, x) }
	case copy2:
		return func(fr *frame) { *at[uint16](fr, z) = *at[uint16](fr, x) }
	case copy4:
		return func(fr *frame) { *at[uint32](fr, z) = *at[uint32](fr, x) }
	case copy8:
		return func(fr *frame) { *at[uint64](fr, z) = *at[uint64](fr, x) }
	case copyPointer:
		return func(fr *frame) { *at[unsafe.Pointer](fr, z) = *at[unsafe.Pointer](fr, x) }
	case copyString:
		return func(fr *frame) { *at[string](fr, z) = *at[string](fr, x) }
	case copySlice:
		return func(fr *frame) { *at[[]byte](fr, z) = *at[[]byte](fr, x) }
	case copyInterface:
		return func(fr *frame) { *at[[2]unsafe.Pointer](fr, z) = *at[[2]unsafe.Pointer](fr, x) }
	}
	rt := rtype.Of(t)
	return func(fr *frame) { rtype.Move(rt, slot(fr, z), slot(fr, x)) }
}

// loadOp copies from where the pointer in slot p points; the copy faults as
// compiled Go's does when it is nil.
func loadOp(t reflect.Type, z, p uintptr, here int32) op {
	switch kindOf(t) {
	case copy1:
		return func(fr *frame) { fr.at = here; *at[uint8](fr, z) = **at[*uint8](fr, p) }
	case copy2:
		return func(fr *frame) { fr.at = here; *at[uint16](fr, z) = **at[*uint16](fr, p) }
	case copy4:
		return func(fr *frame) { fr.at = here; *at[uint32](fr, z) = **at[*uint32](fr, p) }
	case copy8:
		return func(fr *frame) { fr.at = here; *at[uint64](fr, z) = **at[*uint64](fr, p) }
	case copyPointer:
		return func(fr *frame) { fr.at = here; *at[unsafe.Pointer](fr, z) = **at[*unsafe.Pointer](fr, p) }
	case copyString:
		return func(fr *frame) { fr.at = here; *at[string](fr, z) = **at[*string](fr, p) }
	case copySlice:
		return func(fr *frame) { fr.at = here; *at[[]byte](fr, z) = **at[*[]byte](fr, p) }
	case copyInterface:
		return func(fr *frame) { fr.at = here; *at[[2]unsafe.Pointer](fr, z) = **at[*[2]unsafe.Pointer](fr, p) }
	case copyNone:
		return func(fr *frame) { fr.at = here; touch(*at[unsafe.Pointer](fr, p)) }
	}
	rt := rtype.Of(t)
	return func(fr *frame) {
		fr.at = here
		q := *at[unsafe.Pointer](fr, p)
		touch(q)
		rtype.Move(rt, slot(fr, z), q)
	}
}

// storeOp copies to where the pointer in slot p points.
func storeOp(t reflect.Type, p, x uintptr, here int32) op {
	switch kindOf(t) {
	case copy1:
		return func(fr *frame) { fr.at = here; **at[*uint8](fr, p) = *at[uint8](fr, x) }
	case copy2:
		return func(fr *frame) { fr.at = here; **at[*uint16](fr, p) = *at[uint16](fr, x) }
	case copy4:
		return func(fr *frame) { fr.at = here; **at[*uint32](fr, p) = *at[uint32](fr, x) }
	case copy8:
		return func(fr *frame) { fr.at = here; **at[*uint64](fr, p) = *at[uint64](fr, x) }
	case copyPointer:
		return func(fr *frame) { fr.at = here; **at[*unsafe.Pointer](fr, p) = *at[unsafe.Pointer](fr, x) }
	case copyString:
		return func(fr *frame) { fr.at = here; **at[*string](fr, p) = *at[string](fr, x) }
	case copySlice:
		return func(fr *frame) { fr.at = here; **at[*[]byte](fr, p) = *at[[]byte](fr, x) }
	case copyInterface:
		return func(fr *frame) { fr.at = here; **at[*[2]unsafe.Pointer](fr, p) = *at[[2]unsafe.Pointer](fr, x) }
	case copyNone:
		return func(fr *frame) { fr.at = here; touch(*at[unsafe.Pointer](fr, p)) }
	}
	rt := rtype.Of(t)
	return func(fr *frame) {
		fr.at = here
		q := *at[unsafe.Pointer](fr, p)
		touch(q)
		rtype.Move(rt, q, slot(fr, x))
	}
}

// touch faults if p is nil, as a use of *p does.
func touch(p unsafe.Pointer) { _ = *(*byte)(p) }
