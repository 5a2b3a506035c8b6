package yaegi

import (
	"fmt"
	"go/token"
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

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

// wrappedType is the type that yaegi's wrapper of an interface value names,
// "main.T"; empty for what is no wrapper, or one that only knows an interface.
func (r *reach) wrappedType(x any) string {
	v := reflect.ValueOf(x)
	if !isWrapper(v) {
		return ""
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	n := unlock(c.FieldByName("node")).UnsafePointer()
	if n == nil {
		return ""
	}
	typ := reflect.NewAt(r.typType, unsafe.Add(n, r.typ)).Elem()
	if typ.IsNil() || r.category(typ.Elem().FieldByName("cat")) == "interfaceT" {
		return ""
	}
	return typ.Elem().FieldByName("str").String()
}

// category names a category of types as yaegi does.
func (r *reach) category(cat reflect.Value) string {
	k := cat.Uint()
	if s, ok := r.categories.Load(k); ok {
		return s.(string)
	}
	s := fmt.Sprint(unlock(cat).Interface())
	r.categories.Store(k, s)
	return s
}

// dynamicType is wrappedType of the innermost wrapper that knows it; ok is
// false for what is no wrapper.
func (r *reach) dynamicType(x any) (typ string, ok bool) {
	for isWrapper(reflect.ValueOf(x)) {
		ok = true
		if s := r.wrappedType(x); s != "" {
			typ = s
		}
		inner, valid := unexported(reflect.ValueOf(x), "value")
		if !valid {
			break
		}
		x = inner
	}
	return typ, ok
}

// compiledInterface is an interface type of a table, or error, and yaegi's
// struct for it; i is nil for what is none.
func (r *reach) compiledInterface(path, name string) (i, wrapper reflect.Type) {
	if path == "" {
		return reflect.TypeFor[error](), nil
	}
	if v, ok := r.binary(path, name); ok && v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Interface {
		i = v.Type().Elem()
	}
	if v, ok := r.binary(path, "_"+name); ok && v.Kind() == reflect.Pointer {
		wrapper = v.Type().Elem()
	}
	return i, wrapper
}

// isWrapper tells yaegi's wrapper of values of interface type.
func isWrapper(v reflect.Value) bool {
	return v.IsValid() && v.Type().Name() == "valueInterface" && v.Type().PkgPath() == "github.com/traefik/yaegi/interp"
}

// separate makes function literal n safe for goroutines. yaegi's closures put
// the value back that their slot in the defining frame had before, each time
// they end, which may be just when the frame's own goroutine has put another
// closure there. The literal is evaluated in a copy of the frame, whose
// variables are the same.
func (r *reach) separate(n unsafe.Pointer) {
	at := *(*int)(unsafe.Add(n, r.findex))
	if at < 0 || *(*int)(unsafe.Add(n, r.level)) != 0 {
		return
	}
	r.around(n, func(step exec) exec {
		return func(f unsafe.Pointer) exec {
			g := r.copyFrame(f)
			next := step(g)
			(*(*[]reflect.Value)(unsafe.Add(f, r.frameData)))[at] = (*(*[]reflect.Value)(unsafe.Add(g, r.frameData)))[at]
			return next
		}
	})
}

// copyFrame returns a frame with the values of f and a lock of its own.
func (r *reach) copyFrame(f unsafe.Pointer) unsafe.Pointer {
	from := reflect.NewAt(r.frameType, f).Elem()
	p := reflect.New(r.frameType)
	to := p.Elem()
	for _, i := range r.frameFields {
		unlock(to.Field(i)).Set(unlock(from.Field(i)))
	}
	data := (*[]reflect.Value)(unsafe.Add(p.UnsafePointer(), r.frameData))
	*data = append([]reflect.Value(nil), *data...)
	return p.UnsafePointer()
}
