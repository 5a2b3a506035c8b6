package vm

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// A call of a small function that calls nothing itself is made without a frame:
// the function is compiled once more, with registers in the frame that calls
// and with the arguments where they lie. Traces show its place all the same.
// The copy is of the function as it was: once the name is declared again, the
// call is an ordinary one.

// inlining is a call whose function has no frame of its own.
type inlining struct {
	name string
	full string
	pos  token.Pos
	call int32 // index in code.spots of the call
}

const (
	maxInline      = 40 // instructions of a function
	maxInlineTotal = 1 << 11
)

// small reports whether calls of a function are inlined. Its instructions are
// kept for that.
func small(f *ssa.Function) bool {
	if f.Recover != nil || len(f.FreeVars) > 0 || len(f.Blocks) > 10 || f.Synthetic != "" && f.Origin() == nil {
		return false
	}
	n := 0
	for _, b := range f.Blocks {
		for _, s := range b.Succs {
			if s.Index <= b.Index {
				return false
			}
		}
		for _, i := range b.Instrs {
			if n++; n > maxInline || !simple(i) {
				return false
			}
		}
	}
	return n > 0
}

// simple reports whether an instruction calls nothing, and keeps nothing but
// registers in the frame.
func simple(i ssa.Instruction) bool {
	for _, o := range i.Operands(nil) {
		switch (*o).(type) {
		case *ssa.Function, *ssa.Builtin:
			if c, ok := i.(*ssa.Call); !ok || *o != c.Call.Value {
				return false
			}
		}
	}
	switch i := i.(type) {
	case *ssa.Alloc:
		return !i.Heap
	case *ssa.UnOp:
		return i.Op != token.ARROW
	case *ssa.Phi, *ssa.BinOp, *ssa.ChangeType, *ssa.Convert, *ssa.Store, *ssa.FieldAddr, *ssa.Field, *ssa.IndexAddr, *ssa.Index, *ssa.Slice,
		*ssa.If, *ssa.Jump, *ssa.Return, *ssa.DebugRef:
		return true
	case *ssa.Lookup:
		return !i.CommaOk
	case *ssa.Call:
		switch f := i.Call.Value.(type) {
		case *ssa.Builtin:
			switch f.Name() {
			case "len", "cap", "min", "max", "real", "imag", "complex", "append", "copy":
				return true
			}
		case *ssa.Function:
			if f.Blocks == nil && f.Pkg != nil {
				switch f.Pkg.Pkg.Path() {
				case "math", "math/bits", "math/cmplx":
					return true
				}
			}
		}
	}
	return false
}

// inline compiles a call of f; nil if it is to be an ordinary one. The call
// ordinary is made once f is declared again.
func (k *compiler) inline(f *function, args []uintptr, results []value, here int32, ordinary op) op {
	c := f.code()
	if k.within != nil || k.c.through || c.small == nil || c.source != k.c.source || c == k.c || k.inlined > maxInlineTotal {
		return nil
	}
	callee := c.small // of our source, where a function of the standard library is generic
	in := &compiler{
		e: k.e, fn: callee, c: k.c, memory: k.memory, slots: map[ssa.Value]uintptr{}, tuples: map[ssa.Value][]value{},
		consts: k.consts, inits: k.inits, blocks: map[*ssa.BasicBlock]*block{}, locals: map[*ssa.Alloc]uintptr{},
		within: &inlining{name: c.name, full: c.full, pos: c.pos, call: here}, returned: results,
	}
	for i, p := range callee.Params {
		in.slots[p] = args[i]
	}
	in.findLocals()
	for _, b := range callee.Blocks {
		k.inlined += len(b.Instrs)
		for _, i := range b.Instrs {
			if a, ok := i.(*ssa.Alloc); ok {
				if _, local := in.locals[a]; !local {
					return nil
				}
			}
			for _, o := range i.Operands(nil) {
				if g, ok := (*o).(*ssa.Global); ok && k.e.forgotten(g) {
					return nil
				}
			}
		}
	}
	entry := in.body()
	k.inits = in.inits
	ops := entry.ops
	if entry.cond == nil && entry.jump == nil {
		return func(fr *frame) {
			if f.code() != c {
				ordinary(fr)
				return
			}
			for _, o := range ops {
				o(fr)
			}
		}
	}
	return func(fr *frame) {
		if f.code() != c {
			ordinary(fr)
			return
		}
		execute(fr, entry)
	}
}

// returnTo compiles the end of an inlined call.
func (k *compiler) returnTo(r *ssa.Return) {
	var todo []pair
	for i, v := range k.returned {
		x := k.slot(r.Results[i])
		if v.typ != nil && v.typ.Size() > 0 && v.off != x {
			todo = append(todo, pair{v.off, x, v.typ})
		}
	}
	for _, o := range k.parallel(todo) {
		k.emit(o)
	}
}

// unchanged reports whether a variable has the value of a parameter throughout:
// nothing but its first instruction sets it.
func unchanged(a *ssa.Alloc) bool {
	stores := 0
	var count func(v ssa.Value)
	count = func(v ssa.Value) {
		for _, r := range *v.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				stores++
			case *ssa.FieldAddr:
				count(r)
			case *ssa.IndexAddr:
				count(r)
			}
		}
	}
	count(a)
	return stores == 1
}
