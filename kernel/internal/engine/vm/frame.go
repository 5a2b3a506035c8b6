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

	// What next is made from, see branch.go.
	jump *block
	back bool
	cond *condition
	add  *increment // the last instruction
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
	full string // for compiled code
	pos  token.Pos
	fn   *ssa.Function // until it is compiled; nil for code that is not a function's
	free []value       // the free variables, where closures have them
	sig  layout
	body atomic.Pointer[body]

	memory   *rtype.Type
	template unsafe.Pointer // *frame: a new frame's contents
	bind     *rtype.Type    // of closures of this code
	proto    *closure       // a closure of this code but for its free variables
	typ      reflect.Type   // of its func values
	enter    entrance
	spots    []spot
	through  bool          // a wrapper: a deferred call of it is one of what it calls
	small    *ssa.Function // kept for calls that are inlined; nil if they are not
	source   *source       // the module's package that it comes from; nil for none
}

// spot is a place that may panic.
type spot struct {
	pos    token.Pos
	within *inlining // the call that it is in, if that is inlined
}

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
