package yaegi

import (
	"fmt"
	"reflect"
	"strings"
)

// implements tells whether the only element of holds implements a compiled
// interface.
func (e *Engine) implements(holds []any, path, name string) bool {
	_, ok := e.as(holds[0], path, name)
	return ok
}

// assert returns the only element of holds as a value with the methods of a
// compiled interface.
func (e *Engine) assert(holds []any, path, name string) any {
	v, ok := e.as(holds[0], path, name)
	if ok {
		return v
	}
	i, _ := e.reach.compiledInterface(path, name)
	var methods []string
	for k := 0; i != nil && k < i.NumMethod(); k++ {
		methods = append(methods, i.Method(k).Name)
	}
	e.refuse(holds, strings.TrimPrefix(lastElement(path)+"."+name, "."), methods...)
	return nil
}

// lastElement is the name of a package in runtime errors.
func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// refuse panics because the only element of holds does not implement an
// interface that has the methods.
func (e *Engine) refuse(holds []any, name string, methods ...string) {
	x := core(holds[0])
	if x == nil {
		panic(runtimeError("interface conversion: interface is nil, not " + name))
	}
	missing := ""
	for _, m := range methods {
		if !e.methods.function(e.typeName(holds[0]), m, x).IsValid() && !reflect.ValueOf(x).MethodByName(m).IsValid() {
			missing = " " + m
			break
		}
	}
	panic(runtimeError("interface conversion: " + e.goName(holds[0]) + " is not " + name + ": missing method" + missing))
}

// cast sets what to points to to x if that is of its type, name: "main.T" or
// "*main.T", and "" or "*" for all that are no cell's.
func (e *Engine) cast(x any, name string, to any) bool {
	if predeclared(x) {
		v, slot := reflect.ValueOf(x), reflect.ValueOf(to).Elem()
		if name != "" || v.Type() != slot.Type() {
			return false
		}
		slot.Set(v)
		return true
	}
	have := e.typeName(x)
	switch {
	case have == "":
		// a cell's type that is no struct has a wrapper that names it, unless it
		// comes from compiled code
		if strings.HasPrefix(name, "main.") && naked(x) {
			return false
		}
	case strings.HasPrefix(strings.TrimLeft(have, "*"), "main."):
		if have != name {
			return false
		}
	case strings.Contains(name, "main."):
		return false
	}
	v, slot := reflect.ValueOf(core(x)), reflect.ValueOf(to).Elem()
	if !v.IsValid() || !v.Type().AssignableTo(slot.Type()) {
		return false
	}
	slot.Set(v)
	return true
}

// predeclared tells values of the types that most values of any type are of:
// nothing is around them.
func predeclared(x any) bool {
	switch x.(type) {
	case bool, int, float64, string, []any, map[string]any:
		return true
	}
	return false
}

// mismatch panics because the only element of holds, of interface type from,
// is not of type to.
func (e *Engine) mismatch(holds []any, from, to string) {
	if empty := "interface {}"; from == "any" || from == "interface{}" {
		from = empty
	}
	is := "nil"
	if x := core(holds[0]); x != nil {
		is = e.goName(holds[0])
	}
	panic(runtimeError("interface conversion: " + from + " is " + is + ", not " + to))
}

// goName is the name of the type of a value in an interface as Go writes it.
func (e *Engine) goName(x any) string {
	if s := sourceName(e.typeName(x)); s != "" {
		star := strings.Repeat("*", strings.Count(s, "*"))
		return star + "main." + s[len(star):]
	}
	return fmt.Sprintf("%T", core(x))
}

// bindMethod sets the function that to points to to a method of the only
// element of holds.
func (e *Engine) bindMethod(holds []any, name string, to any) bool {
	v := core(holds[0])
	slot := reflect.ValueOf(to).Elem()
	if f := e.methods.function(e.typeName(holds[0]), name, v); f.IsValid() && sameMethod(f.Type(), slot.Type()) {
		slot.Set(withReceiver(f, v, slot.Type()))
		return true
	}
	if v == nil {
		return false
	}
	if m := reflect.ValueOf(v).MethodByName(name); m.IsValid() && m.Type() == slot.Type() {
		slot.Set(m)
		return true
	}
	return false
}

// notNil asserts that the only element of holds is not nil: x.(any).
func notNil(holds []any) any {
	if bare(holds[0]) == nil {
		panic(runtimeError("interface conversion: interface is nil, not interface {}"))
	}
	return holds[0]
}

func (e *Engine) as(x any, path, name string) (any, bool) {
	i, wrapper := e.reach.compiledInterface(path, name)
	if i == nil || bare(x) == nil {
		return nil, false
	}
	if v, ok := e.wrap(x, i, wrapper); ok {
		return v, true
	}
	if v := bare(x); reflect.TypeOf(v).Implements(i) {
		return v, true
	}
	if v := core(x); v != nil { // of another compiled interface
		return e.wrap(v, i, wrapper)
	}
	return nil, false
}

// wrap makes a value of interface type i of the methods of x's interpreted
// type.
func (e *Engine) wrap(x any, i, wrapper reflect.Type) (any, bool) {
	typ := e.typeName(x)
	if typ == "" {
		return nil, false
	}
	v := bare(x)
	for k := range i.NumMethod() {
		m := i.Method(k)
		if f := e.methods.function(typ, m.Name, v); !f.IsValid() || !sameMethod(f.Type(), m.Type) {
			return nil, false
		}
	}
	if i == reflect.TypeFor[error]() {
		b := boxed{IValue: v, typ: typ}
		b.err = func() string { return fmt.Sprint(e.methods.bound(typ, "Error", v)()) }
		for name, to := range map[string]*any{"Unwrap": &b.unwrap, "Is": &b.is} {
			if f := e.methods.function(typ, name, v); f.IsValid() {
				t := f.Type()
				ins := make([]reflect.Type, t.NumIn()-1)
				for k := range ins {
					ins[k] = t.In(k + 1)
				}
				outs := make([]reflect.Type, t.NumOut())
				for k := range outs {
					outs[k] = t.Out(k)
				}
				*to = withReceiver(f, v, reflect.FuncOf(ins, outs, t.IsVariadic())).Interface()
			}
		}
		return b, true
	}
	if wrapper == nil {
		return nil, false
	}
	w := reflect.New(wrapper).Elem()
	w.FieldByName("IValue").Set(reflect.ValueOf(v))
	for k := range i.NumMethod() {
		name := i.Method(k).Name
		slot := w.FieldByName("W" + name)
		f := e.methods.function(typ, name, v)
		if !slot.IsValid() {
			return nil, false
		}
		slot.Set(withReceiver(f, v, slot.Type()))
	}
	return w.Interface(), true
}

// withReceiver is function f, whose first parameter is a receiver, with that
// receiver, of type t.
func withReceiver(f reflect.Value, receiver any, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		args = append([]reflect.Value{reflect.ValueOf(receiver)}, args...)
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// sameMethod tells whether function f, whose first parameter is a receiver,
// has the signature of method m.
func sameMethod(f, m reflect.Type) bool {
	if f.NumIn() != m.NumIn()+1 || f.NumOut() != m.NumOut() || f.IsVariadic() != m.IsVariadic() {
		return false
	}
	for i := range m.NumIn() {
		if f.In(i+1) != m.In(i) {
			return false
		}
	}
	for i := range m.NumOut() {
		if f.Out(i) != m.Out(i) {
			return false
		}
	}
	return true
}
