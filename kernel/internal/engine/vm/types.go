package vm

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// universe maps types to run-time types, one to one: two types are identical
// in Go if and only if their run-time types are the same.
//
// Types of compiled packages are those of the symbol tables; every other named
// type is made by package rtype, with its methods.
type universe struct {
	e *Engine

	mu      sync.Mutex
	types   typeutil.Map                // of named, struct and interface types to reflect.Type
	found   map[types.Type]reflect.Type // the same objects again
	pending []func()                    // completes declared types
	made    sync.Map                    // *rtype.Type of a named type that is ours to its token.Pos
	locals  map[token.Pos]local         // types that are declared in functions
	within  *ssa.Function               // whose types are asked for
	back    sync.Map                    // *rtype.Type of a type with methods that is ours to types.Type
}

// unsupported is the panic of something that this engine cannot run.
type unsupported struct{ what string }

func (u unsupported) Error() string { return "cannot run this: " + u.what }

func refuse(format string, a ...any) { panic(unsupported{fmt.Sprintf(format, a...)}) }

// of returns the run-time type of t. It panics with an unsupported.
func (u *universe) of(t types.Type) reflect.Type {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.settle(t)
}

// settle maps t and completes the types that it needs.
func (u *universe) settle(t types.Type) reflect.Type {
	r := u.find(t)
	for len(u.pending) > 0 {
		f := u.pending[0]
		u.pending = u.pending[1:]
		f()
	}
	return r
}

func (u *universe) find(t types.Type) reflect.Type {
	t = types.Unalias(t)
	if b, ok := t.(*types.Basic); ok {
		if r := basics[b.Kind()]; r != nil {
			return r
		}
		refuse("a value of type %s", t)
	}
	if r := u.found[t]; r != nil {
		return r
	}
	r := u.search(t)
	if u.found == nil {
		u.found = map[types.Type]reflect.Type{}
	}
	u.found[t] = r
	return r
}

func (u *universe) search(t types.Type) reflect.Type {
	switch t.(type) {
	case *types.Named, *types.Struct, *types.Interface:
	default:
		return u.literal(t) // package reflect knows it by its parts
	}
	if r, ok := u.types.At(t).(reflect.Type); ok {
		return r
	}
	if n, ok := t.(*types.Named); ok {
		return u.named(n)
	}
	r := u.literal(t)
	if old, ok := u.types.At(t).(reflect.Type); ok {
		return old // made on the way
	}
	u.types.Set(t, r)
	return r
}

// forget drops what is only there for speed: each cell has types of its own.
func (u *universe) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.found)
}

var basics = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](), types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](), types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
	types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Uintptr: reflect.TypeFor[uintptr](), types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
	types.UntypedBool: reflect.TypeFor[bool](), types.UntypedInt: reflect.TypeFor[int](), types.UntypedRune: reflect.TypeFor[rune](),
	types.UntypedFloat: reflect.TypeFor[float64](), types.UntypedComplex: reflect.TypeFor[complex128](), types.UntypedString: reflect.TypeFor[string](),
	types.UntypedNil: reflect.TypeFor[unsafe.Pointer](),
}

func (u *universe) literal(t types.Type) reflect.Type {
	switch t := t.(type) {
	case *types.Pointer:
		return reflect.PointerTo(u.find(t.Elem()))
	case *types.Slice:
		return reflect.SliceOf(u.find(t.Elem()))
	case *types.Array:
		elem := u.find(t.Elem())
		if n := t.Len(); elem.Size() > 0 && n > (1<<47)/int64(elem.Size()) {
			refuse("type %s larger than address space", t)
		}
		return reflect.ArrayOf(int(t.Len()), elem)
	case *types.Map:
		key, elem := u.find(t.Key()), u.find(t.Elem())
		return reflect.MapOf(key, elem)
	case *types.Chan:
		return reflect.ChanOf(chanDirs[t.Dir()], u.find(t.Elem()))
	case *types.Signature:
		in, out := u.list(t.Params()), u.list(t.Results())
		return reflect.FuncOf(in, out, t.Variadic())
	case *types.Interface:
		return u.iface(t)
	case *types.Struct:
		return u.structure(t)
	}
	refuse("a value of type %s", t)
	return nil
}

var chanDirs = map[types.ChanDir]reflect.ChanDir{types.SendRecv: reflect.BothDir, types.SendOnly: reflect.SendDir, types.RecvOnly: reflect.RecvDir}

func (u *universe) list(t *types.Tuple) []reflect.Type {
	r := make([]reflect.Type, t.Len())
	for i := range r {
		r[i] = u.find(t.At(i).Type())
	}
	return r
}

func (u *universe) iface(t *types.Interface) reflect.Type {
	if t.IsComparable() && t.NumMethods() == 0 || t.IsMethodSet() {
		var ms []rtype.Method
		pkg := ""
		for m := range t.Methods() {
			if !m.Exported() {
				pkg = m.Pkg().Path()
			}
			ms = append(ms, rtype.Method{Name: m.Name(), Exported: m.Exported(), Type: u.find(withoutReceiver(m.Signature()))})
		}
		sortMethods(ms)
		return rtype.Interface(pkg, ms)
	}
	refuse("a value of type %s", t)
	return nil
}

func withoutReceiver(s *types.Signature) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

func sortMethods(ms []rtype.Method) {
	slices.SortFunc(ms, func(a, b rtype.Method) int {
		if a.Exported != b.Exported {
			if a.Exported {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func (u *universe) structure(t *types.Struct) reflect.Type {
	r := rtype.Struct(u.fields(t))
	ms, pms := u.methodSet(t), u.methodSet(types.NewPointer(t))
	if len(ms)+len(pms) == 0 {
		return r
	}
	d := rtype.Declare("", pathOf(t), r, len(ms), len(pms))
	u.declared(t, d, ms, pms, func() reflect.Type { return r })
	return d.Type()
}

func (u *universe) fields(t *types.Struct) []rtype.Field {
	fs := make([]rtype.Field, t.NumFields())
	for i := range fs {
		f := t.Field(i)
		fs[i] = rtype.Field{Name: f.Name(), Type: u.find(f.Type()), Tag: t.Tag(i), Embedded: f.Embedded()}
		if !f.Exported() {
			fs[i].PkgPath = f.Pkg().Path()
		}
	}
	return fs
}

func pathOf(t *types.Struct) string {
	for f := range t.Fields() {
		if f.Pkg() != nil {
			return f.Pkg().Path()
		}
	}
	return ""
}

// named finds a compiled type or makes one.
func (u *universe) named(n *types.Named) reflect.Type {
	if n.TypeParams().Len() > 0 && n.TypeArgs().Len() == 0 {
		refuse("a value of the generic type %s", n)
	}
	if p := n.Obj().Pkg(); p != nil && p.Path() == "$ssa" { // a list of deferred calls
		return reflect.TypeFor[unsafe.Pointer]()
	}
	if u.e.compiled(n.Obj().Pkg()) && n.TypeArgs().Len() == 0 {
		if r := u.e.externs.typ(u, n.Obj()); r != nil {
			u.types.Set(n, r)
			return r
		}
		refuse("the type %s of a compiled package", n)
	}
	if u.e.compiled(n.Obj().Pkg()) {
		if r := u.e.externs.instance(n.Obj().Pkg().Path(), u.title(n)); r != nil {
			u.types.Set(n, r)
			return r
		}
	}
	under := n.Underlying()
	shape := u.shape(under)
	if r, ok := u.types.At(n).(reflect.Type); ok {
		return r
	}
	var ms, pms []*types.Selection
	if !types.IsInterface(n) {
		ms = u.methodSet(n)
		if _, ok := under.(*types.Pointer); !ok {
			pms = u.methodSet(types.NewPointer(n))
		}
	}
	d := rtype.Declare(u.title(n), n.Obj().Pkg().Path(), shape, len(ms), len(pms))
	u.made.Store(rtype.Of(d.Type()), n.Obj().Pos())
	u.declared(n, d, ms, pms, func() reflect.Type { return u.find(under) })
	return d.Type()
}

// declared enters a type that is made, and completes it later: its fields and
// methods may mention it.
func (u *universe) declared(t types.Type, d *rtype.Decl, ms, pms []*types.Selection, under func() reflect.Type) {
	r := d.Type()
	u.types.Set(t, r)
	if len(ms)+len(pms) > 0 {
		u.back.Store(rtype.Of(r), t)
		u.back.Store(rtype.Of(reflect.PointerTo(r)), types.Type(types.NewPointer(t)))
	}
	u.pending = append(u.pending, func() {
		if err := d.Complete(under(), u.methods(r, ms), u.methods(reflect.PointerTo(r), pms)); err != nil {
			refuse("%v", err)
		}
	})
}

// methodSet is without what embedded compiled types have for themselves: nobody
// can call that.
func (u *universe) methodSet(t types.Type) []*types.Selection {
	set := types.NewMethodSet(t)
	r := make([]*types.Selection, 0, set.Len())
	for s := range set.Methods() {
		f := s.Obj().(*types.Func)
		if f.Exported() || !u.e.compiled(f.Pkg()) || types.IsInterface(f.Signature().Recv().Type()) {
			r = append(r, s)
		}
	}
	return r
}

// methods are the methods for compiled callers.
func (u *universe) methods(recv reflect.Type, set []*types.Selection) []rtype.Method {
	var ms []rtype.Method
	for _, s := range set {
		f := s.Obj().(*types.Func)
		m := rtype.Method{Name: f.Name(), Exported: f.Exported(), Type: u.find(withoutReceiver(f.Signature()))}
		m.Word = u.e.methodFunc(s, m.Type, recv, true)
		if !rtype.Of(recv).Direct() {
			m.Value = u.e.methodFunc(s, m.Type, recv, false)
		}
		ms = append(ms, m)
	}
	sortMethods(ms)
	return ms
}

// shape is a type that lies in memory and compares like t, and needs no types
// that t only points to.
func (u *universe) shape(t types.Type) reflect.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Named, *types.Basic:
		return u.find(t)
	case *types.Pointer:
		return reflect.TypeFor[*int]()
	case *types.Map:
		return reflect.TypeFor[map[int]int]()
	case *types.Chan:
		return reflect.TypeFor[chan int]()
	case *types.Slice:
		return reflect.TypeFor[[]int]()
	case *types.Signature:
		n := t.Params().Len() + t.Results().Len()
		return reflect.FuncOf(slices.Repeat([]reflect.Type{reflect.TypeFor[int]()}, n), nil, false)
	case *types.Interface:
		if t.NumMethods() == 0 {
			return reflect.TypeFor[any]()
		}
		return reflect.TypeFor[error]()
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), u.shape(t.Elem()))
	case *types.Struct:
		fs := make([]rtype.Field, t.NumFields())
		for i := range fs {
			f := t.Field(i)
			name := f.Name()
			if name != "_" {
				name = "F" + strings.Repeat("_", i)
			}
			fs[i] = rtype.Field{Name: name, Type: u.shape(f.Type())}
		}
		return rtype.Struct(fs)
	}
	return u.find(t)
}
