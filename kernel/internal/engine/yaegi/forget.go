package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// reach is the one place that knows yaegi's insides, of v0.16.1. Its public
// interface has no way to take a name back, to go on after an interrupt, or to
// tell where a panic came from.
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
	kindType, symType, actionType, typType                                  reflect.Type
	kinds                                                                   map[int]string
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

// funcNode is the node of a function of package main.
func (r *reach) funcNode(name string) unsafe.Pointer {
	m := r.symbols()
	if !m.IsValid() {
		return nil
	}
	s := m.MapIndex(reflect.ValueOf(name))
	if !s.IsValid() {
		return nil
	}
	return unlock(s.Elem().FieldByName("node")).UnsafePointer()
}

// become gives an earlier definition of a function the body of a later one:
// callers compiled before hold the earlier node.
func (r *reach) become(old, latest unsafe.Pointer) {
	if old == nil || latest == nil || old == latest {
		return
	}
	reflect.NewAt(r.nodeType, old).Elem().Set(reflect.NewAt(r.nodeType, latest).Elem())
}

func (r *reach) root(p *interp.Program) unsafe.Pointer {
	return unlock(reflect.ValueOf(p).Elem().FieldByName("root")).UnsafePointer()
}

// walk calls f with all nodes below n.
func (r *reach) walk(n unsafe.Pointer, f func(n unsafe.Pointer)) {
	f(n)
	for _, c := range r.children(n) {
		if c != nil {
			r.walk(c, f)
		}
	}
}

func (r *reach) posOf(n unsafe.Pointer) token.Pos { return *(*token.Pos)(unsafe.Add(n, r.pos)) }

// kindOf names the kind of a node as yaegi does: "callExpr".
func (r *reach) kindOf(n unsafe.Pointer) string {
	v := reflect.NewAt(r.kindType, unsafe.Add(n, r.kind)).Elem()
	k := int(v.Uint())
	s, ok := r.kinds[k]
	if !ok {
		s = fmt.Sprint(v.Interface())
		r.kinds[k] = s
	}
	return s
}

// actionOf names what a node does as yaegi does: "/=".
func (r *reach) actionOf(n unsafe.Pointer) string {
	return fmt.Sprint(reflect.NewAt(r.actionType, unsafe.Add(n, r.action)).Elem().Interface())
}

// exec is yaegi's bltn: one step of interpretation in a frame, which returns
// the next.
type exec func(frame unsafe.Pointer) exec

// around makes every execution of node n go through wrap, which gets the step
// that yaegi generated.
func (r *reach) around(n unsafe.Pointer, wrap func(exec) exec) {
	slot := (*func(unsafe.Pointer))(unsafe.Add(n, r.gen))
	gen := *slot
	if gen == nil {
		return
	}
	*slot = func(m unsafe.Pointer) {
		gen(m)
		if step := (*exec)(unsafe.Add(m, r.exec)); *step != nil {
			*step = wrap(*step)
		}
	}
}

// regenerate makes yaegi generate the steps of function literals again: it did
// so while compiling, before around was called.
func (r *reach) regenerate(root unsafe.Pointer) {
	r.walk(root, func(n unsafe.Pointer) {
		if r.kindOf(n) != "funcLit" {
			return
		}
		for _, c := range r.children(n) {
			r.walk(c, func(m unsafe.Pointer) {
				if *(*func(unsafe.Pointer))(unsafe.Add(m, r.gen)) != nil {
					*(*exec)(unsafe.Add(m, r.exec)) = nil
				}
			})
		}
	})
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

// value is what node n stood for when the step in frame f ran, if yaegi keeps
// it where we can see it.
func (r *reach) value(n, f unsafe.Pointer) (v reflect.Value, ok bool) {
	if v := *(*reflect.Value)(unsafe.Add(n, r.rval)); v.IsValid() {
		return v, true
	}
	at, level := *(*int)(unsafe.Add(n, r.findex)), *(*int)(unsafe.Add(n, r.level))
	if s := reflect.NewAt(r.symType, unsafe.Add(n, r.sym)).Elem(); !s.IsNil() {
		at = int(s.Elem().FieldByName("index").Int())
		if s.Elem().FieldByName("global").Bool() {
			level = -1
		}
	}
	if level < 0 {
		f = *(*unsafe.Pointer)(unsafe.Add(f, r.frameRoot))
	}
	for ; level > 0 && f != nil; level-- {
		f = *(*unsafe.Pointer)(unsafe.Add(f, r.frameAnc))
	}
	if f == nil || at < 0 {
		return v, false
	}
	data := *(*[]reflect.Value)(unsafe.Add(f, r.frameData))
	if at >= len(data) {
		return v, false
	}
	return data[at], data[at].IsValid()
}

func (r *reach) children(n unsafe.Pointer) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Add(n, r.child))
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

// maybe is false for an interface value that yaegi knows to be of another type
// than name, "main.T" or "*main.T"; without "main." it stands for all types
// that are no cell's.
func (r *reach) maybe(x any, name string) bool {
	v := reflect.ValueOf(x)
	if !v.IsValid() || v.Type().Name() != "valueInterface" || v.Type().PkgPath() != "github.com/traefik/yaegi/interp" {
		return true
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	n := unlock(c.FieldByName("node")).UnsafePointer()
	if n == nil {
		return true
	}
	typ := reflect.NewAt(r.typType, unsafe.Add(n, r.typ)).Elem()
	if typ.IsNil() || fmt.Sprint(unlock(typ.Elem().FieldByName("cat")).Interface()) == "interfaceT" {
		return true
	}
	have := typ.Elem().FieldByName("str").String()
	if !strings.Contains(have, "main.") {
		return !strings.Contains(name, "main.")
	}
	return have == name
}
