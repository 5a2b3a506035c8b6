package yaegi

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// unwrapped is x without yaegi's wrapper of interface values.
func unwrapped(x any) any {
	if v, ok := x.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
		return unwrapped(v.Interface())
	}
	if v := reflect.ValueOf(x); isWrapper(v) {
		if w, ok := unexported(v, "value"); ok {
			return unwrapped(w)
		}
		return nil
	}
	return x
}

// bare is x without what yaegi and lowered text put around values of interface
// type.
func bare(x any) any {
	x = unwrapped(x)
	if k, ok := x.(keyed); ok {
		return k.IValue
	}
	return x
}

// naked tells values that nothing is put around.
func naked(x any) bool {
	v := reflect.ValueOf(x)
	return !isWrapper(v) && !isFace(v)
}

// isFace tells yaegi's and our structs around values of compiled interface
// types.
func isFace(v reflect.Value) bool {
	return v.Kind() == reflect.Struct && v.NumField() > 0 && v.Type().Field(0).Name == "IValue"
}

// keyed is a key of a map that is told from others by its type's name only.
type keyed struct {
	IValue any
	typ    string
}

// key is the only element of holds as a key of a map.
func (e *Engine) key(holds []any) any {
	x := core(holds[0])
	if typ := e.typeName(holds[0]); strings.HasPrefix(typ, "main.") && taggedType(reflect.TypeOf(x)) == "" {
		return keyed{x, typ}
	}
	return x
}

// core is x without yaegi's and our wrappers for interfaces too.
func core(x any) any {
	x = bare(x)
	if m, ok := x.(mirror); ok {
		return m.v
	}
	if v := reflect.ValueOf(x); isFace(v) {
		return core(v.Field(0).Interface())
	}
	return x
}

// equal is x == y for values in which interfaces hold interpreted values. Like
// Go's it panics where the types are the same and not comparable.
func (e *Engine) equal(x, y any) bool {
	if s, t := e.typeName(x), e.typeName(y); s != t && (strings.HasPrefix(s, "main.") || strings.HasPrefix(t, "main.")) &&
		(s != "" || naked(x)) && (t != "" || naked(y)) {
		return false
	}
	x, y = core(x), core(y)
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return x == y
	}
	return e.equalValues(a, b)
}

func (e *Engine) equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		return e.equal(a.Interface(), b.Interface())
	case reflect.Array:
		for i := range a.Len() {
			if !e.equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		if isWrapper(a) {
			return e.equal(a.Interface(), b.Interface())
		}
		if a.Type().PkgPath() != "" { // compiled: its unexported fields are not for us
			return a.Interface() == b.Interface()
		}
		for i := range a.NumField() {
			if a.Type().Field(i).Name != "_" && !e.equalValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}

// same tells whether two errors are equal, and not whether they can be.
func same(x, y error) bool {
	a, b := core(x), core(y)
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

// text is an interpreted value in a call that formats it.
type text struct {
	value any
	s     func() string
}

// Format does what fmt does with a value that has String.
func (t text) Format(f fmt.State, verb rune) {
	var x any = t.value
	switch verb {
	case 'v', 's', 'q', 'x', 'X':
		if verb != 'v' || !f.Flag('#') {
			if m, ok := x.(mirror); isNil(x) && x != nil || ok && isNil(m.v) {
				x = "<nil>"
				break
			}
			x = t.s()
		}
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), x)
}

func (t text) String() string { return t.s() }

// errorText is an interpreted error in a call that formats it.
type errorText struct {
	IValue any
	err    error
}

func (t errorText) Error() string                 { return t.err.Error() }
func (t errorText) Unwrap() error                 { return t.err }
func (t errorText) Format(f fmt.State, verb rune) { text{t.IValue, t.err.Error}.Format(f, verb) }

// isMethod asks a compiled error's Is method.
func isMethod(err, target error) bool {
	x, ok := err.(interface{ Is(error) bool })
	return ok && x.Is(target)
}

// unwrap returns what a compiled error wraps.
func unwrap(err error) []error {
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if err := x.Unwrap(); err != nil {
			return []error{err}
		}
	case interface{ Unwrap() []error }:
		return x.Unwrap()
	}
	return nil
}

// show takes shown value i.
func (r *run) show(i int, v engine.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := v.Any.(interface{ MIMEBundle() map[string]any }); ok && !isNil(v.Any) {
		v.MIMEBundle = b.MIMEBundle
	}
	if s, ok := v.Any.(fmt.Stringer); ok && !isNil(v.Any) {
		v.String = s.String
	}
	if err, ok := v.Any.(error); ok && !isNil(v.Any) {
		v.Error = err.Error
	}
	r.values = append(r.values[:min(i, len(r.values))], v)
}

func (r *run) bind(i int, f func(*engine.Value)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < len(r.values) {
		f(&r.values[i])
	}
}

func isNil(x any) bool {
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface:
		return v.IsNil()
	case reflect.Invalid:
		return true
	}
	return false
}
