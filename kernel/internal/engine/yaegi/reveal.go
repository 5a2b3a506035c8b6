package yaegi

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// methods are those methods of interpreted types that compiled code looks for
// in a value of any type: by type, as the interpreter writes it ("*main.T"),
// and by name, functions of the receiver.
type methods struct {
	mu sync.Mutex
	m  map[string]map[string]reflect.Value
}

func (m *methods) add(typ, name string, f any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string]map[string]reflect.Value{}
	}
	if m.m[typ] == nil {
		m.m[typ] = map[string]reflect.Value{}
	}
	m.m[typ][name] = reflect.ValueOf(f)
}

// bound is method name of type typ for receiver x; it is invalid where the
// type has none, or had another shape when x was made.
func (m *methods) bound(typ, name string, x any) (call func() any) {
	f, sig := m.function(typ, name, x), displayTypes[name]
	if !f.IsValid() || !sameMethod(f.Type(), sig) {
		return nil
	}
	return func() any { return bare(f.Call([]reflect.Value{reflect.ValueOf(x)})[0].Interface()) }
}

// value is method name of type typ as a function bound to receiver x; it is
// invalid where there is none.
func (m *methods) value(typ, name string, x any) reflect.Value {
	f := m.function(typ, name, x)
	if !f.IsValid() {
		return f
	}
	t := f.Type()
	var in, out []reflect.Type
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for o := range t.Outs() {
		out = append(out, o)
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		args = append([]reflect.Value{reflect.ValueOf(x)}, args...)
		if t.IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// function is the method as a function of its receiver; it is invalid where
// there is none.
func (m *methods) function(typ, name string, x any) reflect.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, v := m.m[typ][name], reflect.ValueOf(x)
	if !f.IsValid() || !v.IsValid() || f.Kind() != reflect.Func || !v.Type().AssignableTo(f.Type().In(0)) {
		return reflect.Value{}
	}
	return f
}

// displayTypes are the methods that displays look for.
var displayTypes = map[string]reflect.Type{
	"MIMEBundle": reflect.TypeFor[func() map[string]any](),
	"String":     reflect.TypeFor[func() string](),
	"Error":      reflect.TypeFor[func() string](),
}

// reveal is what the interpreter's representation x of an interface value
// stands for.
func (e *Engine) reveal(x any) (engine.Value, bool) {
	typ := e.typeName(x)
	if typ == "" && !isWrapper(reflect.ValueOf(x)) {
		return engine.Value{}, false
	}
	v := engine.Value{Any: bare(x), Type: sourceName(typ), Reveal: e.reveal}
	v.Method = func(name string) reflect.Value { return e.methods.value(typ, name, v.Any) }
	if f := e.methods.bound(typ, "MIMEBundle", v.Any); f != nil {
		v.MIMEBundle = func() map[string]any { b, _ := f().(map[string]any); return b }
	}
	if f := e.methods.bound(typ, "String", v.Any); f != nil {
		v.String = func() string { return fmt.Sprint(f()) }
	}
	if f := e.methods.bound(typ, "Error", v.Any); f != nil {
		v.Error = func() string { return fmt.Sprint(f()) }
	}
	return v, true
}

// typeName is the interpreter's name of x's type, as far as it can be known.
func (e *Engine) typeName(x any) string {
	u := unwrapped(x)
	switch u := u.(type) {
	case boxed:
		return u.typ
	case keyed:
		return u.typ
	}
	if v := reflect.ValueOf(u); isFace(v) {
		return e.typeName(v.Field(0).Interface())
	}
	if typ, _ := e.reach.dynamicType(x); typ != "" {
		return typ
	}
	return taggedType(reflect.TypeOf(u))
}

// shown is the only element of holds, of static type typ, as displays get it.
func (e *Engine) shown(typ string, holds []any) engine.Value {
	v, ok := e.reveal(holds[0])
	if !ok {
		v.Any, v.Reveal = bare(holds[0]), e.reveal
	}
	if ok && v.Type != "" && !strings.HasPrefix(typ, v.Type) {
		v.Dynamic = v.Type
	}
	v.Type = typ
	return v
}

// formatAll is formatted for each of xs.
func (e *Engine) formatAll(xs []any) []any {
	r := make([]any, len(xs))
	for i, x := range xs {
		r[i] = e.formatted([]any{x})
	}
	return r
}

// taggedType is the type that the tag of a struct type, or of what a pointer
// points to, names; see lower_struct.go.
func taggedType(t reflect.Type) string {
	star := ""
	if t != nil && t.Kind() == reflect.Pointer {
		star, t = "*", t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || t.NumField() == 0 {
		return ""
	}
	name, ok := t.Field(0).Tag.Lookup("cell")
	if !ok || t.PkgPath() != "" {
		return ""
	}
	return star + "main." + name
}

// revealed is an error by its text.
type revealed func() string

func (r revealed) Error() string { return r() }

// sourceName is a type of the interpreter's as the notebook writes it, empty
// if it is not one of the notebook's.
func sourceName(typ string) string {
	name, ours := strings.CutPrefix(strings.TrimLeft(typ, "*"), "main.")
	if !ours || strings.ContainsAny(name, " {[(") {
		return ""
	}
	name, _, _ = strings.Cut(name, "__")
	if name, pkg, ok := strings.Cut(name, ofPackage); ok {
		return strings.Repeat("*", strings.IndexByte(typ, 'm')) + pkg + "." + name
	}
	return strings.Repeat("*", strings.IndexByte(typ, 'm')) + name
}
