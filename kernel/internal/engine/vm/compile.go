package vm

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// compiler turns one function's instructions into closures.
type compiler struct {
	e  *Engine
	fn *ssa.Function
	c  *code

	memory *rtype.Memory
	slots  map[ssa.Value]uintptr
	shared map[ssa.Value]ssa.Value // whose slot a value has, see coalesce.go
	tuples map[ssa.Value][]value
	consts map[constKey]uintptr
	inits  []func(*frame) // write the template
	start  []op           // run at the start of each call

	locals  map[*ssa.Alloc]uintptr // variables that stay in the frame
	blocks  map[*ssa.BasicBlock]*block
	queue   []*ssa.BasicBlock
	ops     []op // of the block that is being compiled
	made    []*block
	added   increment // the last one of the block, and its number
	addedAt int

	within   *inlining // the call that is inlined
	returned []value   // where its results go
	inlined  int       // instructions of inlined calls

	begins  map[token.Pos]token.Pos // see begin
	near    token.Pos               // of the last instruction that has a position
	lost    bool                    // see lostDefers
	restart *block                  // loads the results and returns, where package ssa does not
}

type constKey struct {
	typ reflect.Type
	val any
}

// maxLocal is the largest variable that lies in a frame and not on the heap.
const maxLocal = 1024

// compile makes the body of a function.
func (e *Engine) compile(c *code) *body {
	k := &compiler{
		e: e, fn: c.fn, c: c, memory: startFrame(), slots: map[ssa.Value]uintptr{}, tuples: map[ssa.Value][]value{},
		consts: map[constKey]uintptr{}, blocks: map[*ssa.BasicBlock]*block{}, locals: map[*ssa.Alloc]uintptr{},
	}
	k.parameters()
	k.findLocals()
	r := &body{guarded: k.defers(), entry: k.body()}
	if c.fn.Recover != nil {
		r.recover = k.blocks[c.fn.Recover]
	} else {
		r.recover = k.restart
	}
	if len(k.start) > 0 {
		first := r.entry
		r.entry = &block{ops: k.start, next: func(*frame) *block { return first }}
	}
	c.finish(k.memory, k.inits)
	return r
}

// body compiles the blocks of the function and returns the first.
func (k *compiler) body() *block {
	k.shared = k.share()
	for _, b := range k.fn.Blocks {
		for _, i := range b.Instrs {
			if v, ok := i.(ssa.Value); ok {
				k.assign(v)
			}
		}
	}
	entry := k.blockOf(k.fn.Blocks[0])
	if k.fn.Recover != nil {
		k.blockOf(k.fn.Recover)
	}
	for len(k.queue) > 0 {
		b := k.queue[0]
		k.queue = k.queue[1:]
		k.build(b)
	}
	k.link()
	return entry
}

// defers reports whether deferred calls may run at the function's end.
func (k *compiler) defers() bool {
	var run, own, stack bool
	for _, b := range k.fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.RunDefers:
				run = true
			case *ssa.Defer:
				own = own || i.DeferStack == nil
			case *ssa.Call:
				f, ok := i.Call.Value.(*ssa.Builtin)
				stack = stack || ok && f.Name() == "ssa:deferstack"
			}
		}
	}
	k.lost = stack && !run
	return run || own || stack
}

// finish makes the template of the code's frames.
func (c *code) finish(m *rtype.Memory, inits []func(*frame)) {
	c.memory = m.Type()
	c.template = rtype.New(c.memory)
	fr := (*frame)(c.template)
	fr.code = c
	for _, f := range inits {
		f(fr)
	}
}

// parameters puts the code's results, parameters and free variables first.
func (k *compiler) parameters() {
	params, results := k.e.signature(k.fn.Signature)
	k.c.sig = newLayout(k.memory, params, results)
	for i, p := range k.fn.Params {
		k.slots[p] = k.c.sig.params[i].off
	}
	for i, v := range k.fn.FreeVars {
		f := k.c.free[i]
		off := k.memory.Add(f.typ)
		k.slots[v] = off
		k.start = append(k.start, loadFree(newMove(off, f.off, f.typ)))
	}
}

func loadFree(m move) op {
	if m.how == copyPointer {
		return func(fr *frame) { *at[unsafe.Pointer](fr, m.dst) = *(*unsafe.Pointer)(unsafe.Add(fr.closure, m.src)) }
	}
	return func(fr *frame) { m.do(unsafe.Pointer(fr), fr.closure) }
}

// assign gives a value its slot.
func (k *compiler) assign(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.UnOp:
		if off, ok := k.lent(v); ok {
			k.slots[v] = off
			return
		}
	case *ssa.FieldAddr, *ssa.IndexAddr:
		if _, ok := k.direct(v); ok {
			return
		}
	case *ssa.Extract:
		k.assign(v.Tuple)
		k.slots[v] = k.tuples[v.Tuple][v.Index].off
		return
	case *ssa.Range:
		k.slots[v] = k.memory.Add(reflect.TypeFor[unsafe.Pointer]())
		return
	case *ssa.Alloc:
		if _, ok := k.locals[v]; ok {
			return
		}
		if _, _, ok := k.makes(v); ok {
			k.slots[v] = k.memory.Add(reflect.TypeFor[unsafe.Pointer]())
			return
		}
	case *ssa.Field:
		if _, ok := v.X.(*ssa.Const); !ok {
			k.assign(v.X)
			k.slots[v] = k.slot(v.X) + k.e.types.of(v.X.Type()).Field(v.Field).Offset
			return
		}
	}
	if _, ok := k.slots[v]; ok {
		return
	}
	if w, ok := k.shared[v]; ok {
		k.assign(w)
		k.slots[v] = k.slots[w]
		return
	}
	if t, ok := v.Type().(*types.Tuple); ok {
		if _, ok := k.tuples[v]; ok {
			return
		}
		vs := make([]value, t.Len())
		for i := range vs {
			if b, ok := t.At(i).Type().(*types.Basic); ok && b.Kind() == types.Invalid {
				continue // of a range clause that does not want it
			}
			typ := k.e.types.of(t.At(i).Type())
			vs[i] = value{k.memory.Add(typ), typ}
		}
		k.tuples[v] = vs
		return
	}
	if off, ok := k.placed(v); ok {
		k.slots[v] = off
		return
	}
	k.slots[v] = k.memory.Add(k.typ(v))
}

func (k *compiler) typ(v ssa.Value) reflect.Type { return k.e.types.of(v.Type()) }

// slot is where a value lies.
func (k *compiler) slot(v ssa.Value) uintptr {
	switch v := v.(type) {
	case *ssa.Const:
		return k.constant(v)
	case *ssa.Global:
		p := k.e.global(v)
		return k.pointer(constKey{nil, v}, p)
	case *ssa.Function:
		return k.function(v)
	case *ssa.Builtin:
		refuse("the builtin %s as a value", v.Name())
	}
	if off, ok := k.slots[v]; ok {
		return off
	}
	k.assign(v)
	off, ok := k.slots[v]
	if !ok {
		panic(fmt.Sprintf("%s has no slot", v))
	}
	return off
}

// pointer is a constant pointer.
func (k *compiler) pointer(key constKey, p unsafe.Pointer) uintptr {
	off, ok := k.consts[key]
	if !ok {
		off = k.memory.Add(reflect.TypeFor[unsafe.Pointer]())
		k.consts[key] = off
		k.inits = append(k.inits, func(fr *frame) { *at[unsafe.Pointer](fr, off) = p })
	}
	return off
}

// function is a function as a value.
func (k *compiler) function(f *ssa.Function) uintptr {
	key := constKey{nil, f}
	if off, ok := k.consts[key]; ok {
		return off
	}
	t := k.e.funcOf(f)
	if !t.variable {
		return k.pointer(key, t.value())
	}
	// A function of the notebook may be declared again: its value is taken
	// when the call begins.
	off := k.memory.Add(reflect.TypeFor[unsafe.Pointer]())
	k.consts[key] = off
	k.start = append(k.start, func(fr *frame) { *at[unsafe.Pointer](fr, off) = t.value() })
	return off
}

func (k *compiler) constant(v *ssa.Const) uintptr {
	t := k.typ(v)
	key := constKey{typ: t}
	if v.Value != nil {
		key.val = v.Value.ExactString()
	}
	if off, ok := k.consts[key]; ok {
		return off
	}
	off := k.memory.Add(t)
	k.consts[key] = off
	if v.Value != nil {
		x := constantValue(v, t)
		k.inits = append(k.inits, func(fr *frame) { reflect.NewAt(t, slot(fr, off)).Elem().Set(x) })
	}
	return off
}

func constantValue(c *ssa.Const, t reflect.Type) reflect.Value {
	x := reflect.New(t).Elem()
	switch v := c.Value; t.Kind() {
	case reflect.Bool:
		x.SetBool(constant.BoolVal(v))
	case reflect.String:
		if v.Kind() == constant.String {
			x.SetString(constant.StringVal(v))
		} else {
			x.SetString(string(rune(c.Int64())))
		}
	case reflect.Float32, reflect.Float64:
		f, _ := constant.Float64Val(v)
		if t.Kind() == reflect.Float32 {
			g, _ := constant.Float32Val(v)
			f = float64(g)
		}
		x.SetFloat(f)
	case reflect.Complex64, reflect.Complex128:
		x.SetComplex(c.Complex128())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		x.SetUint(c.Uint64())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x.SetInt(c.Int64())
	case reflect.UnsafePointer, reflect.Pointer:
		refuse("a constant of type %s", c.Type())
	default:
		refuse("a constant of type %s", c.Type())
	}
	return x
}

// spot numbers a place that may panic.
func (k *compiler) spot(pos token.Pos) int32 {
	k.c.spots = append(k.c.spots, spot{k.begin(pos), k.within})
	return int32(len(k.c.spots) - 1)
}

func (k *compiler) emit(o op) {
	if o != nil {
		k.ops = append(k.ops, o)
	}
}
