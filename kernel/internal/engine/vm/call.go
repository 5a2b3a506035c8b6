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

// exec runs a frame to the end of its call.
func (c *code) exec(fr *frame) {
	b := c.body.Load()
	if b.guarded {
		guard(fr, b)
		return
	}
	execute(fr, b.entry)
}

func execute(fr *frame, b *block) {
	for b != nil {
		for _, o := range b.ops {
			o(fr)
		}
		b = b.next(fr)
	}
}

// target is where a call goes and how its arguments and results move. The
// slots are those of the frame that calls.
type target struct {
	k       *compiler
	here    int32
	through bool // the frame that calls is a wrapper's
	args    []uintptr
	results []value
	sig     layout // of the callee, receiver included
	in, out []move
}

// call compiles a call.
func (k *compiler) call(v *ssa.Call) op {
	if show := k.e.shows(v); show != nil {
		return k.show(v, show)
	}
	return k.callWith(&v.Call, k.arguments(&v.Call), k.resultsOf(v), k.spot(v.Pos()), k.c.through)
}

// arguments are the slots of what callWith takes.
func (k *compiler) arguments(c *ssa.CallCommon) []uintptr {
	args := k.callee(c)
	for _, a := range c.Args {
		args = append(args, k.slot(a))
	}
	return args
}

// callee is the slot of the value that is called, if there is one.
func (k *compiler) callee(c *ssa.CallCommon) []uintptr {
	if hasCallee(c) {
		return []uintptr{k.slot(c.Value)}
	}
	return nil
}

// hasCallee reports whether what is called is a value: the receiver of an
// interface method, or a func value.
func hasCallee(c *ssa.CallCommon) bool {
	switch c.Value.(type) {
	case *ssa.Builtin:
		return false
	case *ssa.MakeClosure:
		return true
	}
	return c.IsInvoke() || c.StaticCallee() == nil
}

func (k *compiler) resultsOf(v *ssa.Call) []value {
	if t, ok := v.Type().(*types.Tuple); ok {
		if t.Len() == 0 {
			return nil
		}
		return k.tuples[v]
	}
	return []value{{k.slot(v), k.typ(v)}}
}

// callWith compiles a call of what c calls. The value called, unless it is a
// function known now, and the arguments lie in args.
func (k *compiler) callWith(c *ssa.CallCommon, args []uintptr, results []value, here int32, through bool) op {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return k.builtin(b, c, args, results, here)
	}
	sig := c.Signature()
	g := target{k: k, here: here, through: through, args: args, results: results}
	switch {
	case c.IsInvoke():
		return k.invoke(&g, c)
	case !hasCallee(c):
		g.sig = k.e.layoutOf(sig)
		f := k.e.funcOf(c.StaticCallee())
		if f.native != nil {
			return f.native.call(&g)
		}
		ordinary := g.static(f)
		if o := k.inline(f, args, results, here, ordinary); o != nil {
			return o
		}
		return ordinary
	}
	g.sig = k.e.layoutOf(sig)
	g.args = args[1:]
	return g.dynamic(args[0], k.e.types.of(c.Value.Type()))
}

// moves prepares the copies of arguments and results.
func (g *target) moves() {
	for i, p := range g.sig.params {
		g.in = append(g.in, newMove(p.off, g.args[i], p.typ))
	}
	for i, r := range g.results {
		g.out = append(g.out, newMove(r.off, g.sig.results[i].off, r.typ))
	}
}

// static calls a function that is known.
func (g *target) static(f *function) op {
	g.moves()
	return func(fr *frame) {
		g.run(fr, fr.t.frame(f.code()))
	}
}

// run calls the code of a frame, which has what the arguments do not set.
func (g *target) run(fr, nf *frame) {
	t := fr.t
	moveAll(g.in, unsafe.Pointer(nf), unsafe.Pointer(fr))
	fr.at = g.here
	t.enterFrame(fr, nf)
	if g.through {
		nf.pan = fr.pan
	}
	if body := nf.code.body.Load(); body.guarded {
		guard(nf, body)
	} else {
		for b := body.entry; b != nil; b = b.next(nf) {
			for _, o := range b.ops {
				o(nf)
			}
		}
	}
	t.top = fr
	if g.through {
		nf.pan = nil
	}
	moveAll(g.out, unsafe.Pointer(fr), unsafe.Pointer(nf))
	t.release(nf)
}

// moveAll copies arguments or results.
func moveAll(ms []move, to, from unsafe.Pointer) {
	for i := range ms {
		switch m := &ms[i]; m.how {
		case copy8:
			*(*uint64)(unsafe.Add(to, m.dst)) = *(*uint64)(unsafe.Add(from, m.src))
		case copyPointer:
			*(*unsafe.Pointer)(unsafe.Add(to, m.dst)) = *(*unsafe.Pointer)(unsafe.Add(from, m.src))
		default:
			m.do(to, from)
		}
	}
}

// dynamic calls the func value in slot f.
func (g *target) dynamic(f uintptr, t reflect.Type) op {
	g.moves()
	n := newNativeCall(t, g)
	return func(fr *frame) {
		fr.at = g.here
		p := *at[unsafe.Pointer](fr, f)
		touch(p)
		if c := ours(p); c != nil {
			nf := fr.t.frame(c.code)
			nf.closure = p
			g.run(fr, nf)
			return
		}
		n.call(fr, p)
	}
}

// invoke calls a method of an interface value.
func (k *compiler) invoke(g *target, c *ssa.CallCommon) op {
	recv := g.args[0]
	g.args = g.args[1:]
	params, results := k.e.signature(withoutReceiver(c.Method.Signature()))
	// The receiver is not known before the call: its offset depends on its
	// type, and so do those of the other parameters.
	cache := &methodCache{data: k.memory.Add(reflect.TypeFor[unsafe.Pointer]()), e: k.e, method: c.Method, inter: k.typ(c.Value), g: g, params: params, results: results}
	return func(fr *frame) {
		fr.at = g.here
		w := *at[words](fr, recv)
		touch(w.typ)
		m := cache.last.Load()
		if m == nil || m.tab != w.typ {
			m = cache.find(w.typ)
		}
		m.call(fr, w.data)
	}
}

// methodCache remembers what a call site of an interface method calls.
type methodCache struct {
	data            uintptr // a slot for the receiver of compiled methods
	e               *Engine
	method          *types.Func
	inter           reflect.Type
	g               *target
	params, results []reflect.Type
	last            atomic.Pointer[boundMethod]
	all             sync.Map // method table to *boundMethod
}

// boundMethod is an interface method of one dynamic type.
type boundMethod struct {
	tab  unsafe.Pointer
	call func(fr *frame, data unsafe.Pointer)
}

func (m *methodCache) find(tab unsafe.Pointer) *boundMethod {
	if b, ok := m.all.Load(tab); ok {
		m.last.Store(b.(*boundMethod))
		return b.(*boundMethod)
	}
	b := &boundMethod{tab: tab, call: m.bind(tab)}
	m.all.Store(tab, b)
	m.last.Store(b)
	return b
}

func (m *methodCache) bind(tab unsafe.Pointer) func(*frame, unsafe.Pointer) {
	rt := dynamic(tab)
	g := *m.g
	if t, ok := m.e.types.back.Load(rt); ok {
		f := m.e.methodNamed(t.(types.Type), m.method)
		recv := m.e.types.of(t.(types.Type))
		g.sig = newLayout(startFrame(), append([]reflect.Type{recv}, m.params...), m.results)
		first := g.sig.params[0]
		g.sig.params = g.sig.params[1:]
		g.moves()
		how, direct := kindOf(recv), rt.Direct()
		return func(fr *frame, data unsafe.Pointer) {
			c := f.code()
			nf := fr.t.frame(c)
			if direct {
				*at[unsafe.Pointer](nf, first.off) = data
			} else {
				copyValue(how, rt, slot(nf, first.off), data)
			}
			g.run(fr, nf)
		}
	}
	// A compiled type: its method table has the code.
	i := 0
	for n := range m.inter.NumMethod() {
		if x := m.inter.Method(n); x.Name == m.method.Name() && (x.PkgPath == "" || x.PkgPath == m.method.Pkg().Path()) {
			i = n
		}
	}
	code := unsafe.Add(tab, unsafe.Offsetof(table{}.code)+uintptr(i)*unsafe.Sizeof(uintptr(0)))
	if h, ok := hosted["("+rt.Reflect().String()+")."+m.method.Name()]; ok {
		code = rtype.FuncPointer(reflect.ValueOf(h(m.e)))
	}
	g.args = append([]uintptr{m.data}, g.args...)
	n := newNativeCall(reflect.FuncOf(append([]reflect.Type{reflect.TypeFor[unsafe.Pointer]()}, m.params...), m.results, m.method.Signature().Variadic()), &g)
	return func(fr *frame, data unsafe.Pointer) {
		*at[unsafe.Pointer](fr, m.data) = data
		n.call(fr, code)
	}
}

// methodNamed is the method of a type of ours that an interface method calls.
func (e *Engine) methodNamed(t types.Type, m *types.Func) *function {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.coded(e.prog.LookupMethod(t, m.Pkg(), m.Name()))
}

func (e *Engine) method(s *types.Selection) *function {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.coded(e.prog.MethodValue(s))
}

// coded is funcLocked with code for what is compiled, too: a method of an
// instance of a generic type of the standard library.
func (e *Engine) coded(f *ssa.Function) *function {
	r := e.funcLocked(f)
	if r.native == nil || r.code() != nil {
		return r
	}
	c := e.newCode(f)
	c.fn, c.through, c.spots = nil, true, []spot{{}}
	g := target{results: c.sig.results}
	for _, p := range c.sig.params {
		g.args = append(g.args, p.off)
	}
	c.finish(startOf(c), nil)
	c.body.Store(&body{entry: &block{ops: []op{r.native.call(&g)}, next: func(*frame) *block { return nil }}})
	r.current.Store(c)
	return r
}
