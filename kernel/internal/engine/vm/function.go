package vm

import (
	"go/types"
	"reflect"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// function is what a call site refers to: the code of the name at this time.
type function struct {
	// Declarations that replace each other share it. It is set before code
	// runs that calls the function.
	current  *atomic.Pointer[code]
	native   *native // instead of code: a compiled function
	variable bool    // a function of the notebook: it may be declared again
}

// code is what a call runs.
func (f *function) code() *code { return f.current.Load() }

// value is the function as a Go func value.
func (f *function) value() unsafe.Pointer {
	if f.native != nil {
		return f.native.fn
	}
	return unsafe.Pointer(f.code().proto)
}

// become makes f, and what f replaced, mean g from now on.
func (f *function) become(g *function) {
	c := g.code()
	g.current = f.current
	g.current.Store(c)
}

// closure is a Go func value of ours: what lies behind a func variable. Its
// first word is code that compiled callers jump to, which goes on to inner: that
// is the hook, code for calls of the function's shape (incoming.go), or else a
// function of package reflect's making, which calls the hook. Behind the
// closure lie the free variables.
type closure struct {
	entry uintptr
	inner unsafe.Pointer // &hook, or &reflected.made
	code  *code
	hook  hook
}

// hook is the memory of a func literal that captures a closure.
type hook struct {
	code uintptr
	self *closure
}

// reflected is a closure of a shape that is not common.
type reflected struct {
	closure
	made madeFunc
}

// madeFunc is reflect.makeFuncImpl.
type madeFunc struct {
	code    uintptr
	stack   unsafe.Pointer
	argLen  uintptr
	regPtrs [2]uint8
	typ     unsafe.Pointer
	call    unsafe.Pointer // &hook, a func([]reflect.Value) []reflect.Value
}

func hookOf(c *closure) func([]reflect.Value) []reflect.Value {
	return func(args []reflect.Value) []reflect.Value { return c.callback(args) }
}

var hookCode = func() uintptr {
	f := hookOf(nil)
	return (**(**hook)(unsafe.Pointer(&f))).code
}()

// newCode makes the code of a function with a type for compiled callers.
func (e *Engine) newCode(f *ssa.Function) *code {
	defer e.types.enter(f)()
	c := &code{e: e, id: uint(e.codes.Add(1)), name: nameOf(f), full: e.fullName(f), pos: f.Pos(), fn: f, through: isWrapper(f), source: e.sourceOf(f)}
	e.nameLiterals(f, c.full)
	sig := f.Signature
	if r := sig.Recv(); r != nil { // a method's func value takes the receiver first
		vars := []*types.Var{r}
		for v := range sig.Params().Variables() {
			vars = append(vars, v)
		}
		sig = types.NewSignatureType(nil, nil, nil, types.NewTuple(vars...), sig.Results(), sig.Variadic())
	}
	if small(f) {
		c.small = f
	}
	params, results := e.signature(sig)
	c.sig = newLayout(startFrame(), params, results)
	c.enter = c.sig.entrance(0)
	m := new(rtype.Memory)
	if c.enter.shape == "" {
		m.Add(reflect.TypeFor[reflected]())
	} else {
		m.Add(reflect.TypeFor[closure]())
	}
	for _, v := range f.FreeVars {
		t := e.types.of(v.Type())
		c.free = append(c.free, value{m.Add(t), t})
	}
	c.bind = m.Type()
	c.typ = reflect.FuncOf(params, results, sig.Variadic())
	c.proto = c.newProto()
	return c
}

// newProto makes a closure without free variables.
func (c *code) newProto() *closure {
	p := (*closure)(rtype.New(c.bind))
	p.entry, p.code = rtype.Enter(), c
	if c.enter.shape != "" {
		p.hook.code = *(*uintptr)(incoming[c.enter.shape](nil))
	} else {
		f := reflect.MakeFunc(c.typ, func([]reflect.Value) []reflect.Value { return nil })
		(*reflected)(unsafe.Pointer(p)).made = *(*madeFunc)(rtype.FuncPointer(f))
		p.hook.code = hookCode
	}
	p.tie()
	return p
}

// tie sets the pointers of the closure into itself.
func (p *closure) tie() {
	p.hook.self = p
	p.inner = unsafe.Pointer(&p.hook)
	if p.code.enter.shape == "" {
		r := (*reflected)(unsafe.Pointer(p))
		r.made.call = p.inner
		p.inner = unsafe.Pointer(&r.made)
	}
}

func isWrapper(f *ssa.Function) bool {
	return f.Synthetic != "" && f.Syntax() == nil
}

// makeClosure compiles a func literal that captures variables.
func (k *compiler) makeClosure(v *ssa.MakeClosure) op {
	z := k.slot(v)
	c := k.e.funcOf(v.Fn.(*ssa.Function)).code()
	var moves []move
	for i, b := range v.Bindings {
		moves = append(moves, newMove(c.free[i].off, k.slot(b), c.free[i].typ))
	}
	reflects := c.enter.shape == ""
	return func(fr *frame) {
		p := (*closure)(rtype.New(c.bind))
		proto := c.proto
		p.entry, p.code, p.hook.code = proto.entry, c, proto.hook.code
		if reflects {
			(*reflected)(unsafe.Pointer(p)).made = (*reflected)(unsafe.Pointer(proto)).made
		}
		p.tie()
		for i := range moves {
			moves[i].do(unsafe.Pointer(p), unsafe.Pointer(fr))
		}
		*at[unsafe.Pointer](fr, z) = unsafe.Pointer(p)
	}
}

// ours returns the closure behind a func value, or nil if it is compiled.
func ours(f unsafe.Pointer) *closure {
	if *(*uintptr)(f) == rtype.Enter() {
		return (*closure)(f)
	}
	return nil
}
