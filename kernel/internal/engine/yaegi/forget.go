package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// reach knows yaegi's insides, of v0.16.1, here and in nodes.go; nothing else
// does. Its public interface has no way to take a name back, to go on after an
// interrupt, or to tell where a panic came from.
//
// Fields are found by name and type when an engine is made: another yaegi
// gives an error, not wrong memory.
type reach struct {
	i     *interp.Interpreter
	id    *uint64       // the run id: frames of another id end
	done  chan struct{} // wakes channel operations of frames
	roots reflect.Value // []*node, kept by yaegi for its debugger

	nodeType                                                                reflect.Type
	child, pos, kind, action, gen, exec, findex, level, rval, sym, typ, val uintptr
	frameData, frameRoot, frameAnc                                          uintptr
	kindType, symType, actionType, typType, frameType                       reflect.Type
	frameFields                                                             []int // all but the lock
	kinds                                                                   map[int]string
	categories                                                              sync.Map // names of categories of types
}

func newReach(i *interp.Interpreter) (*reach, error) {
	r := &reach{i: i, kinds: map[int]string{}}
	v := reflect.ValueOf(i).Elem()
	field := func(name string, typ any) reflect.Value {
		f, ok := v.Type().FieldByName(name)
		if !ok || typ != nil && f.Type != reflect.TypeOf(typ) {
			return reflect.Value{}
		}
		return unlock(v.FieldByIndex(f.Index))
	}
	id, done, cancel, roots := field("id", uint64(0)), field("done", (chan struct{})(nil)), field("cancelChan", false), field("roots", nil)
	root, ok := reflect.TypeFor[interp.Program]().FieldByName("root")
	if !id.IsValid() || !done.IsValid() || !cancel.IsValid() || !roots.IsValid() || !ok || root.Offset != unsafe.Sizeof("") {
		return nil, fmt.Errorf("yaegi: look into the interpreter: it is not v0.16.1")
	}
	r.id, r.roots = id.Addr().Interface().(*uint64), roots
	// one channel for ever, never closed: interrupt sends on it
	r.done = make(chan struct{})
	done.Set(reflect.ValueOf(r.done))
	cancel.SetBool(true)
	r.nodeType = root.Type.Elem()
	for name, at := range map[string]*uintptr{"child": &r.child, "pos": &r.pos, "kind": &r.kind, "action": &r.action, "gen": &r.gen, "exec": &r.exec,
		"findex": &r.findex, "level": &r.level, "rval": &r.rval, "sym": &r.sym, "typ": &r.typ, "val": &r.val} {
		f, ok := r.nodeType.FieldByName(name)
		if !ok {
			return nil, fmt.Errorf("yaegi: look into the interpreter: nodes have no %s", name)
		}
		*at = f.Offset
	}
	kind, _ := r.nodeType.FieldByName("kind")
	sym, _ := r.nodeType.FieldByName("sym")
	action, _ := r.nodeType.FieldByName("action")
	typ, _ := r.nodeType.FieldByName("typ")
	r.typType = typ.Type
	r.kindType, r.symType, r.actionType = kind.Type, sym.Type, action.Type
	frame := field("frame", nil)
	if !frame.IsValid() {
		return nil, fmt.Errorf("yaegi: look into the interpreter: no frame")
	}
	r.frameType = frame.Type().Elem()
	for i := range r.frameType.NumField() {
		if r.frameType.Field(i).Name != "mutex" {
			r.frameFields = append(r.frameFields, i)
		}
	}
	for name, at := range map[string]*uintptr{"data": &r.frameData, "root": &r.frameRoot, "anc": &r.frameAnc} {
		f, ok := frame.Type().Elem().FieldByName(name)
		if !ok {
			return nil, fmt.Errorf("yaegi: look into the interpreter: frames have no %s", name)
		}
		*at = f.Offset
	}
	return r, nil
}

// unlock gives a value of an unexported field, which must be addressable, the
// rights of an exported one.
func unlock(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// stop makes every interpreted frame end at its next instruction; it returns
// what resume needs.
func (r *reach) stop() { atomic.AddUint64(r.id, 1) }

// resume lets the frames that are left and closures of earlier cells run.
func (r *reach) resume(id uint64) { atomic.StoreUint64(r.id, id) }

func (r *reach) runID() uint64 { return atomic.LoadUint64(r.id) }

// symbols is the scope of package main, map[string]*symbol; it is invalid
// before the first compilation.
func (r *reach) symbols() reflect.Value {
	if sc := r.scope(); sc.IsValid() {
		return unlock(sc.Elem().FieldByName("sym"))
	}
	return reflect.Value{}
}

// scope is package main's *scope, once something was compiled.
func (r *reach) scope() reflect.Value {
	return unlock(reflect.ValueOf(r.i).Elem().FieldByName("scopes")).MapIndex(reflect.ValueOf("main"))
}

// snapshot is what names meant in package main.
type snapshot map[string]reflect.Value

func (r *reach) save(names []string) snapshot {
	s := snapshot{}
	m := r.symbols()
	for _, n := range names {
		s[n] = reflect.Value{}
		if m.IsValid() {
			s[n] = m.MapIndex(reflect.ValueOf(n))
		}
	}
	return s
}

func (r *reach) restore(s snapshot) {
	m := r.symbols()
	if !m.IsValid() {
		return
	}
	for n, v := range s {
		m.SetMapIndex(reflect.ValueOf(n), v)
	}
}

func (r *reach) rename(from, to string) {
	m := r.symbols()
	if v := m.MapIndex(reflect.ValueOf(from)); v.IsValid() {
		m.SetMapIndex(reflect.ValueOf(to), v)
		m.SetMapIndex(reflect.ValueOf(from), reflect.Value{})
	}
}

func (r *reach) remove(name string) {
	if m := r.symbols(); m.IsValid() {
		m.SetMapIndex(reflect.ValueOf(name), reflect.Value{})
	}
}

// forgetFile drops what yaegi keeps of a compiled file: the imports' names,
// the syntax for its debugger, the scopes, the positions.
func (r *reach) forgetFile(file string, imports map[string]string) {
	for _, name := range imports {
		r.remove(name + "/" + file)
	}
	r.remove(hostPackage + "/" + file)
	r.roots.SetZero()
	if sc := r.scope(); sc.IsValid() {
		unlock(sc.Elem().FieldByName("child")).SetZero()
	}
	var f *token.File
	r.i.FileSet().Iterate(func(g *token.File) bool {
		if g.Name() == file {
			f = g
		}
		return f == nil
	})
	if f != nil {
		r.i.FileSet().RemoveFile(f)
	}
}

func (r *reach) compile(f *ast.File) (p *interp.Program, err error) {
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, fmt.Errorf("%v", x)
		}
	}()
	return r.i.CompileAST(f)
}

// unexported reads a field of a struct of yaegi's.
func unexported(v reflect.Value, name string) (any, bool) {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	f, ok := unlock(c.FieldByName(name)).Interface().(reflect.Value)
	if !ok || !f.IsValid() || !f.CanInterface() {
		return nil, false
	}
	return f.Interface(), true
}

// binary is an entry of a table that the interpreter has.
func (r *reach) binary(path, name string) (reflect.Value, bool) {
	pkg := unlock(reflect.ValueOf(r.i).Elem().FieldByName("binPkg")).MapIndex(reflect.ValueOf(path))
	if !pkg.IsValid() {
		return reflect.Value{}, false
	}
	v := pkg.MapIndex(reflect.ValueOf(name))
	if !v.IsValid() {
		return reflect.Value{}, false
	}
	w, ok := v.Interface().(reflect.Value)
	return w, ok
}
