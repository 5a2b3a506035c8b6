package yaegi

import (
	"fmt"
	"reflect"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// bare is x without what yaegi wraps around values of interface type.
func bare(x any) any {
	if v, ok := x.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
		return bare(v.Interface())
	}
	if v := reflect.ValueOf(x); isWrapper(v) {
		if w, ok := unexported(v, "value"); ok {
			return bare(w)
		}
		return nil
	}
	return x
}

// core is x without yaegi's and our wrappers for interfaces too.
func core(x any) any {
	x = bare(x)
	if v := reflect.ValueOf(x); v.Kind() == reflect.Struct && v.NumField() > 0 && v.Type().Field(0).Name == "IValue" {
		return core(v.Field(0).Interface())
	}
	return x
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
			if isNil(x) && x != nil {
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
