package vm

import (
	"fmt"
	"go/types"
	"maps"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// externs finds what compiled packages hold, in the symbol tables.
type externs struct {
	e       *Engine
	tables  map[string]map[string]reflect.Value
	private map[types.Object]reflect.Type // of unexported types that exported things have
	learned map[string]bool

	instances map[string]reflect.Type // of generic types, by path and name
}

func (x *externs) init(e *Engine) {
	x.e, x.tables = e, map[string]map[string]reflect.Value{}
	x.private, x.learned = map[types.Object]reflect.Type{}, map[string]bool{}
}

func (x *externs) table(path string) map[string]reflect.Value {
	t, ok := x.tables[path]
	if !ok {
		t = x.e.opts.Symbols.Table(path)
		x.tables[path] = t
	}
	return t
}

// typ is a compiled named type, or nil.
func (x *externs) typ(u *universe, o *types.TypeName) reflect.Type {
	if o.Pkg() == nil {
		switch o.Name() {
		case "error":
			return reflect.TypeFor[error]()
		case "comparable":
			return nil
		}
		return u.find(o.Type().Underlying())
	}
	if v, ok := x.table(o.Pkg().Path())[o.Name()]; ok && v.Kind() == reflect.Pointer && o.Exported() {
		return v.Type().Elem()
	}
	if r := x.private[o]; r != nil {
		return r
	}
	x.learn(o.Pkg())
	return x.private[o]
}

// learn finds the unexported types of a package in those of what it exports.
func (x *externs) learn(p *types.Package) {
	if x.learned[p.Path()] {
		return
	}
	x.learned[p.Path()] = true
	seen := map[types.Type]bool{}
	for name, v := range x.table(p.Path()) {
		o := p.Scope().Lookup(name)
		if o == nil {
			continue
		}
		t := v.Type()
		if _, ok := o.(*types.TypeName); ok {
			t = t.Elem()
		}
		x.match(o.Type(), t, seen)
	}
}

// match walks a type and its run-time type side by side.
func (x *externs) match(t types.Type, r reflect.Type, seen map[types.Type]bool) {
	t = types.Unalias(t)
	if seen[t] {
		return
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if n.TypeArgs().Len() > 0 || n.TypeParams().Len() > 0 || n.Obj().Pkg() == nil || n.Obj().Name() != r.Name() || n.Obj().Pkg().Path() != r.PkgPath() {
			return
		}
		if !n.Obj().Exported() {
			x.private[n.Obj()] = r
		}
		for m := range n.Methods() {
			if rm, ok := r.MethodByName(m.Name()); ok && r.Kind() != reflect.Interface {
				x.matchFunc(m.Signature(), rm.Type, 1, seen)
			}
		}
		t = n.Underlying()
	}
	switch t := t.(type) {
	case *types.Pointer:
		x.match(t.Elem(), r.Elem(), seen)
	case *types.Slice:
		x.match(t.Elem(), r.Elem(), seen)
	case *types.Array:
		x.match(t.Elem(), r.Elem(), seen)
	case *types.Chan:
		x.match(t.Elem(), r.Elem(), seen)
	case *types.Map:
		x.match(t.Key(), r.Key(), seen)
		x.match(t.Elem(), r.Elem(), seen)
	case *types.Signature:
		x.matchFunc(t, r, 0, seen)
	case *types.Struct:
		if r.Kind() == reflect.Struct && r.NumField() == t.NumFields() {
			for i := range t.NumFields() {
				x.match(t.Field(i).Type(), r.Field(i).Type, seen)
			}
		}
	}
}

func (x *externs) matchFunc(s *types.Signature, r reflect.Type, skip int, seen map[types.Type]bool) {
	if s.TypeParams().Len() > 0 || s.Params().Len()+skip != r.NumIn() || s.Results().Len() != r.NumOut() {
		return
	}
	for i := range s.Params().Len() {
		x.match(s.Params().At(i).Type(), r.In(i+skip), seen)
	}
	for i := range s.Results().Len() {
		x.match(s.Results().At(i).Type(), r.Out(i), seen)
	}
}

// instance is an instance of a generic type that compiled functions have, as
// iter.Seq[string], by its path and name; nil if none has it.
func (x *externs) instance(path, name string) reflect.Type {
	if x.instances == nil {
		x.instances = map[string]reflect.Type{}
		for _, p := range x.e.opts.Symbols.Paths() {
			for _, v := range x.e.opts.Symbols.Table(p) {
				x.addInstances(v.Type())
			}
		}
	}
	return x.instances[path+"."+name]
}

// addInstances notes the instances among a function's or the methods' types.
func (x *externs) addInstances(t reflect.Type) {
	switch {
	case t.Kind() == reflect.Func:
		for in := range t.Ins() {
			x.addInstance(in)
		}
		for out := range t.Outs() {
			x.addInstance(out)
		}
	case t.Kind() == reflect.Pointer:
		for m := range t.Methods() {
			x.addInstances(m.Type)
		}
	}
}

func (x *externs) addInstance(t reflect.Type) {
	if name := t.Name(); strings.HasSuffix(name, "]") {
		x.instances[t.PkgPath()+"."+name] = t
	}
}

// variable is where a compiled variable lies.
func (x *externs) variable(o types.Object) unsafe.Pointer {
	v, ok := x.table(o.Pkg().Path())[o.Name()]
	if !ok || !v.CanAddr() {
		refuse("the variable %s.%s of a compiled package", o.Pkg().Path(), o.Name())
	}
	return v.Addr().UnsafePointer()
}

// external finds the function of a compiled package. e.mu is held.
func (e *Engine) external(f *ssa.Function, r *function) error {
	if f.Object() == nil && f.Name() == "init" {
		r.native = e.nativeOf(reflect.ValueOf(func() {}))
		return nil
	}
	o, _ := f.Object().(*types.Func)
	if f.Origin() != nil {
		o, _ = f.Origin().Object().(*types.Func)
	}
	if o == nil {
		return unsupported{fmt.Sprintf("%s has no code", f)}
	}
	name := o.FullName()
	if strings.HasPrefix(name, "testing/synctest.") {
		e.bubbles.Store(true)
	}
	if later[name] {
		e.later.Store(true)
	}
	if h, ok := hosted[name]; ok {
		r.native = e.nativeOf(reflect.ValueOf(h(e)))
		return nil
	}
	if f.Origin() != nil {
		return e.library.external(f, o, r)
	}
	if o.Signature().TypeParams().Len() > 0 {
		return unsupported{fmt.Sprintf("the generic %s without type arguments", name)}
	}
	recv := f.Signature.Recv()
	if recv == nil {
		v, ok := e.externs.table(o.Pkg().Path())[o.Name()]
		if !ok || v.Kind() != reflect.Func {
			return unsupported{fmt.Sprintf("the function %s, which has no code here", name)}
		}
		r.native = e.nativeOf(v)
		return nil
	}
	t := e.types.of(recv.Type())
	m, ok := t.MethodByName(o.Name())
	if !ok {
		return unsupported{fmt.Sprintf("the method %s, which has no code here", name)}
	}
	r.native = e.nativeOf(m.Func)
	return nil
}

func (e *Engine) nativeOf(f reflect.Value) *native {
	return &native{fn: rtype.FuncPointer(f), typ: f.Type()}
}

// hosted are compiled functions that mean something else in a cell.
var hosted map[string]func(*Engine) any

func init() {
	hosted = map[string]func(*Engine) any{
		"os.Exit":                 func(e *Engine) any { return e.exit },
		"sort.Slice":              func(*Engine) any { return sortBy(sort.Slice) },
		"sort.SliceStable":        func(*Engine) any { return sortBy(sort.SliceStable) },
		"time.Sleep":              func(e *Engine) any { return e.sleep },
		"(*sync.WaitGroup).Wait":  func(e *Engine) any { return e.waitFor },
		"(*sync.WaitGroup).Add":   func(e *Engine) any { return e.add },
		"(*sync.WaitGroup).Done":  func(e *Engine) any { return e.done },
		"(*sync.WaitGroup).Go":    func(e *Engine) any { return e.goFor },
		"(*sync.Mutex).Lock":      func(e *Engine) any { return e.lockMutex },
		"(*sync.Mutex).Unlock":    func(e *Engine) any { return e.unlockMutex },
		"(*sync.RWMutex).Lock":    func(e *Engine) any { return e.lockWriter },
		"(*sync.RWMutex).Unlock":  func(e *Engine) any { return e.unlockWriter },
		"(*sync.RWMutex).RLock":   func(e *Engine) any { return e.lockReader },
		"(*sync.RWMutex).RUnlock": func(e *Engine) any { return e.unlockReader },
		"(*sync.rlocker).Lock":    func(e *Engine) any { return e.lockReader },
		"(*sync.rlocker).Unlock":  func(e *Engine) any { return e.unlockReader },
		"(*sync.Once).Do":         func(e *Engine) any { return e.once },
		"(*sync.Cond).Wait":       func(e *Engine) any { return e.wait },
		"(*sync.Cond).Signal":     func(e *Engine) any { return e.signal },
		"(*sync.Cond).Broadcast":  func(e *Engine) any { return e.broadcast },
		"(*os.File).Write":        func(*Engine) any { return engine.Write },
		"(*os.File).WriteString":  func(*Engine) any { return engine.WriteString },
		"runtime.Goexit":          func(*Engine) any { return runtime.Goexit },

		"runtime.Caller":                func(e *Engine) any { return e.getCaller },
		"runtime.Callers":               func(e *Engine) any { return e.getCallers },
		"runtime.Stack":                 func(e *Engine) any { return e.stack },
		"runtime/debug.Stack":           func(e *Engine) any { return e.debugStack },
		"runtime/debug.PrintStack":      func(e *Engine) any { return func() { os.Stderr.Write(e.debugStack()) } },
		"(reflect.Value).Pointer":       func(*Engine) any { return valuePointer },
		"(reflect.Value).UnsafePointer": func(*Engine) any { return unsafePointer },
	}
	hostLogging()
	maps.Copy(hosted, logging)
}
