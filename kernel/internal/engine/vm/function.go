package vm

import (
	"go/types"
	"reflect"
	"sync"
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
// first word is code that compiled callers jump to, which goes on to inner, a
// function of package reflect's making that lies in the closure itself.
// Behind it lie the free variables.
type closure struct {
	entry uintptr
	inner unsafe.Pointer // &made
	code  *code
	made  madeFunc
	hook  hook
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

// hook is the closure of a func literal in hookOf.
type hook struct {
	code uintptr
	self *closure
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
	c := &code{e: e, id: uint(e.codes.Add(1)), name: nameOf(f), fn: f, through: isWrapper(f), source: e.sourceOf(f)}
	m := new(rtype.Memory)
	m.Add(reflect.TypeFor[closure]())
	for _, v := range f.FreeVars {
		t := e.types.of(v.Type())
		c.free = append(c.free, value{m.Add(t), t})
	}
	c.bind = m.Type()
	sig := f.Signature
	if r := sig.Recv(); r != nil { // a method's func value takes the receiver first
		vars := []*types.Var{r}
		for v := range sig.Params().Variables() {
			vars = append(vars, v)
		}
		sig = types.NewSignatureType(nil, nil, nil, types.NewTuple(vars...), sig.Results(), sig.Variadic())
	}
	params, results := e.signature(sig)
	c.sig = newLayout(startFrame(), params, results)
	c.proto = c.newProto(reflect.FuncOf(params, results, sig.Variadic()))
	return c
}

// newProto makes a closure without free variables.
func (c *code) newProto(t reflect.Type) *closure {
	p := (*closure)(rtype.New(c.bind))
	f := reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value { return nil })
	p.made = *(*madeFunc)(rtype.FuncPointer(f))
	p.entry, p.code = rtype.Enter(), c
	p.hook.code = hookCode
	p.tie()
	return p
}

// tie sets the pointers of the closure into itself.
func (p *closure) tie() {
	p.inner = unsafe.Pointer(&p.made)
	p.made.call = unsafe.Pointer(&p.hook)
	p.hook.self = p
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
	return func(fr *frame) {
		p := (*closure)(rtype.New(c.bind))
		proto := c.proto
		p.entry, p.code, p.made, p.hook.code = proto.entry, c, proto.made, proto.hook.code
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

// callback runs the closure for a compiled caller.
func (p *closure) callback(args []reflect.Value) []reflect.Value {
	c := p.code
	t, done := c.e.enter()
	defer done()
	fr := t.frame(c)
	fr.closure = unsafe.Pointer(p)
	for i, v := range c.sig.params {
		reflect.NewAt(v.typ, slot(fr, v.off)).Elem().Set(args[i])
	}
	return t.callback(fr)
}

// callback runs a frame for a compiled caller.
func (t *thread) callback(fr *frame) []reflect.Value {
	caller := t.top
	t.enterFrame(caller, fr)
	fr.code.exec(fr)
	t.top = caller
	r := make([]reflect.Value, len(fr.code.sig.results))
	for i, v := range fr.code.sig.results {
		p := reflect.New(v.typ)
		rtype.Move(rtype.Of(v.typ), p.UnsafePointer(), slot(fr, v.off))
		r[i] = p.Elem()
	}
	t.release(fr)
	return r
}

// methodFunc is a method for compiled callers. Its first argument is the data
// word of an interface, or the receiver.
func (e *Engine) methodFunc(s *types.Selection, sig, recv reflect.Type, word bool) reflect.Value {
	first := recv
	if word {
		first = reflect.TypeFor[unsafe.Pointer]()
	}
	in := []reflect.Type{first}
	for t := range sig.Ins() {
		in = append(in, t)
	}
	var out []reflect.Type
	for t := range sig.Outs() {
		out = append(out, t)
	}
	direct := rtype.Of(recv).Direct()
	rt := rtype.Of(recv)
	find := sync.OnceValue(func() *function { return e.method(s) })
	return reflect.MakeFunc(reflect.FuncOf(in, out, sig.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		t, done := e.enter()
		defer done()
		fr := t.frame(find().code())
		to := slot(fr, fr.code.sig.params[0].off)
		switch {
		case !word:
			reflect.NewAt(recv, to).Elem().Set(args[0])
		case direct:
			*(*unsafe.Pointer)(to) = args[0].UnsafePointer()
		default:
			p := args[0].UnsafePointer()
			touch(p)
			rtype.Move(rt, to, p)
		}
		for i, v := range fr.code.sig.params[1:] {
			reflect.NewAt(v.typ, slot(fr, v.off)).Elem().Set(args[i+1])
		}
		return t.callback(fr)
	})
}
