package yaegi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// host returns package host__0, which only lowered text calls.
func (e *Engine) host() map[string]reflect.Value {
	fs := map[string]any{
		"Cell":    func(f func()) { e.entry = f },
		"Context": func() context.Context { return e.now().ctx },

		"Show":       func(i int, typ string, x any) { e.now().show(i, engine.Value{Any: bare(x), Type: typ}) },
		"ShowError":  func(i int, typ string, err error) { e.now().show(i, engine.Value{Any: err, Type: typ}) },
		"BindBundle": func(i int, f func() map[string]any) { e.now().bind(i, func(v *engine.Value) { v.MIMEBundle = f }) },
		"BindString": func(i int, f func() string) { e.now().bind(i, func(v *engine.Value) { v.String = f }) },
		"BindError":  func(i int, f func() string) { e.now().bind(i, func(v *engine.Value) { v.Error = f }) },

		"Run":     e.runner.run,
		"Recover": e.runner.recover,
		"Go":      e.spawn,
		"Exit":    e.exit,
		"Goexit":  e.goexit,
		"Fatal":   func(a ...any) { e.fatal(fmt.Sprint(a...)) },
		"Fatalf":  func(f string, a ...any) { e.fatal(fmt.Sprintf(f, a...)) },
		"Fatalln": func(a ...any) { e.fatal(fmt.Sprintln(a...)) },
		"Sleep":   e.sleep,

		"Select": e.selectCases,
		"Recv":   recvCase,
		"Send":   sendCase,
		"Maybe":  e.reach.maybe,
		"Sprint": func(x any) string { return fmt.Sprint(x) },
		"Any":    func(x any) any { return x },
		"Wait":   func(w *sync.WaitGroup) { e.block(w.Wait, func() {}) },
		"Lock":   func(m *sync.Mutex) { e.lock(m.TryLock, m.Lock, m.Unlock) },
		"RWLock": func(m *sync.RWMutex) { e.lock(m.TryLock, m.Lock, m.Unlock) },
		"RLock":  func(m *sync.RWMutex) { e.lock(m.TryRLock, m.RLock, m.RUnlock) },
		"Raise":  func(x any, message func() string) any { return &raised{bare(x), message} },
		"Equal":  func(x, y any) bool { return core(x) == core(y) },
		"Same":   same,
		"Is":     isMethod,
		"Unwrap": unwrap,
		"IsNil":  func(x any) bool { return bare(x) == nil },

		"Print":   func(a ...any) { printAll("", a) },
		"Println": func(a ...any) { printAll(" ", a); print("\n") },
		"Signbit": math.Signbit,
		"Complex": func(re, im float64) complex128 { return complex(re, im) },
		"Wide":    func(hi, lo int) uint64 { return uint64(hi)<<32 | uint64(lo) },
		"Rune":    func(s string, i int) (rune, int) { return utf8.DecodeRuneInString(s[i:]) },
		"Clear":   func(m any) { reflect.ValueOf(m).Clear() },
		"Error":   func(err error) error { return err },
		"Text":    func(x any, s func() string) any { return text{bare(x), s} },
	}
	t := map[string]reflect.Value{"D": reflect.ValueOf((*D)(nil)), "Case": reflect.ValueOf((*Case)(nil))}
	for name, f := range fs {
		t[name] = reflect.ValueOf(f)
	}
	return t
}

// bare is x without what yaegi wraps around values of interface type.
func bare(x any) any {
	if v, ok := x.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
		return bare(v.Interface())
	}
	if v := reflect.ValueOf(x); v.IsValid() && v.Type().Name() == "valueInterface" && v.Type().PkgPath() == "github.com/traefik/yaegi/interp" {
		if w := v.Field(1); w.CanInterface() {
			return bare(w.Interface())
		} else if w, ok := unexported(v, "value"); ok {
			return bare(w)
		}
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

// spawn runs f as a goroutine of the cell's.
func (e *Engine) spawn(f func()) {
	go func() {
		defer func() {
			if x := recover(); x != nil {
				e.goroutinePanicked(e.panicked(x))
			}
			e.tracer.take()
		}()
		f()
	}()
}

// exit is os.Exit: it ends the cell, which no deferred call or recover sees.
func (e *Engine) exit(code int) {
	e.end(&engine.Failure{Kind: engine.Exit, Message: fmt.Sprintf("exit status %d", code)})
}

func (e *Engine) fatal(s string) {
	fmt.Fprintln(stderr{}, strings.TrimSuffix(s, "\n"))
	e.exit(1)
}

// goexit is runtime.Goexit: deferred calls run. In the cell's own goroutine
// it is the cell's failure.
func (e *Engine) goexit() {
	runtime.Goexit()
}

// goexitNow tells the cell to end, and ends the calling goroutine once
// interpreted deferred calls do not run any more.
func (e *Engine) goexitNow(r *run) {
	id := e.reach.runID()
	r.halt()
	for e.reach.runID() == id {
		select {
		case <-r.ended:
			runtime.Goexit()
		case <-time.After(time.Millisecond):
		}
	}
	runtime.Goexit()
}

// sleep is time.Sleep; an interrupt ends it.
func (e *Engine) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-e.stopping():
	}
}

// block calls wait, which an interrupt leaves behind; undo is called if wait
// returns after that.
func (e *Engine) block(wait, undo func()) {
	done := make(chan struct{})
	left := make(chan struct{})
	go func() {
		wait()
		select {
		case done <- struct{}{}:
		case <-left:
			undo()
		}
	}()
	select {
	case <-done:
	case <-e.stopping():
		close(left)
	}
}

func (e *Engine) lock(try func() bool, lock, unlock func()) {
	if !try() {
		e.block(lock, unlock)
	}
}

// raised is the value of a panic with an interpreted message.
type raised struct {
	value   any
	message func() string
}

// stderr writes where print and println do.
type stderr struct{}

func (stderr) Write(b []byte) (int, error) {
	print(string(b))
	return len(b), nil
}

// printAll is print and println, which write to file descriptor 2 as Go's do.
func printAll(sep string, a []any) {
	for i, x := range a {
		if i > 0 {
			print(sep)
		}
		print1(x)
	}
}

func print1(x any) {
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Bool:
		print(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		print(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		print(v.Uint())
	case reflect.Float32:
		print(float32(v.Float()))
	case reflect.Float64:
		print(v.Float())
	case reflect.Complex64:
		print(complex64(v.Complex()))
	case reflect.Complex128:
		print(v.Complex())
	case reflect.String:
		print(v.String())
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		print(v.UnsafePointer())
	case reflect.Invalid:
		print("nil")
	default:
		print(x)
	}
}

// runtimeError is a panic of the interpreter's that would have been a
// runtime.Error in compiled code.
type runtimeError string

func (e runtimeError) Error() string { return string(e) }
func (runtimeError) RuntimeError()   {}

var _ runtime.Error = runtimeError("")

const nilDereference = runtimeError("runtime error: invalid memory address or nil pointer dereference")

// mend turns the panics of yaegi and reflect into what Go's would be.
func mend(x any) any {
	x = bare(x)
	if r, ok := x.(*raised); ok {
		return r.value
	}
	var ve *reflect.ValueError
	if err, ok := x.(error); ok {
		if errors.As(err, &ve) && ve.Kind == reflect.Invalid {
			return nilDereference
		}
		if s := err.Error(); !errors.As(err, new(runtime.Error)) && strings.Contains(s, "interface conversion: ") {
			return runtimeError(cleanNames(s[strings.Index(s, "interface conversion: "):]))
		}
	}
	if s, ok := x.(string); ok {
		switch {
		case s == "reflect: slice index out of range" || s == "reflect: array index out of range" || s == "reflect: string index out of range":
			return runtimeError("runtime error: index out of range")
		case strings.HasPrefix(s, "reflect.Value.Slice"):
			return runtimeError("runtime error: slice bounds out of range")
		case strings.Contains(s, "call of nil function"):
			return nilDereference
		}
	}
	return x
}

// panicMessage is what Go prints of a panic's value.
func panicMessage(x any) string {
	if r, ok := bare(x).(*raised); ok {
		return r.message()
	}
	switch x := mend(x).(type) {
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	case string:
		return x
	case nil:
		return "panic called with nil argument (use GODEBUG=panicnil=1 to disable)"
	}
	return fmt.Sprintf("%v", x)
}
