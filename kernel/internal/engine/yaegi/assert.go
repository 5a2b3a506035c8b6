package yaegi

import (
	"fmt"
	"reflect"
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
	if path != "" {
		name = path + "." + name
	}
	if bare(holds[0]) == nil {
		panic(runtimeError("interface conversion: interface is nil, not " + name))
	}
	typ := fmt.Sprintf("%T", bare(holds[0]))
	if v, ok := e.reveal(holds[0]); ok && v.Type != "" {
		typ = v.Type
	}
	panic(runtimeError("interface conversion: " + typ + " is not " + name + ": missing method"))
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
		b := boxed{IValue: v}
		b.err = func() string { return fmt.Sprint(e.methods.bound(typ, "Error", v)()) }
		if u := e.methods.function(typ, "Unwrap", v); u.IsValid() && sameMethod(u.Type(), reflect.TypeFor[func() error]()) {
			b.unwrap = func() error { err, _ := u.Call([]reflect.Value{reflect.ValueOf(v)})[0].Interface().(error); return err }
		}
		if is := e.methods.function(typ, "Is", v); is.IsValid() && sameMethod(is.Type(), reflect.TypeFor[func(error) bool]()) {
			b.is = func(target error) bool {
				return is.Call([]reflect.Value{reflect.ValueOf(v), reflect.ValueOf(&target).Elem()})[0].Bool()
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
		slot.Set(reflect.MakeFunc(slot.Type(), func(args []reflect.Value) []reflect.Value {
			args = append([]reflect.Value{reflect.ValueOf(v)}, args...)
			if f.Type().IsVariadic() {
				return f.CallSlice(args)
			}
			return f.Call(args)
		}))
	}
	return w.Interface(), true
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
