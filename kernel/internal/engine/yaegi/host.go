package yaegi

import (
	"context"
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
		"Table":   e.lib.madeTable,
		"Load":    func(f func()) { e.pending = append(e.pending, f) },
		"Package": func(id int, f func()) { e.starts[id] = f },
		"Refuse":  func(why string) { e.end(&engine.Failure{Kind: engine.Panic, Message: why}) },
		"Context": func() context.Context { return e.now().ctx },

		"Show":       func(i int, typ string, holds []any) { e.now().show(i, e.shown(typ, holds)) },
		"Value":      func(typ string, holds []any) any { return e.shown(typ, holds) },
		"Method":     e.methods.add,
		"Implements": e.implements,
		"Assert":     e.assert,
		"NotNil":     notNil,
		"Lacks":      e.refuse,
		"Bind":       e.bindMethod,
		"Formatted":  e.formatted,
		"Mirror":     e.mirror,
		"Sprintf":    e.sprintf,
		"FormatAll":  e.formatAll,
		"ShowError":  func(i int, typ string, err error) { e.now().show(i, engine.Value{Any: err, Type: typ}) },
		"BindBundle": func(i int, f func() map[string]any) { e.now().bind(i, func(v *engine.Value) { v.MIMEBundle = f }) },
		"BindString": func(i int, f func() string) { e.now().bind(i, func(v *engine.Value) { v.String = f }) },
		"BindError":  func(i int, f func() string) { e.now().bind(i, func(v *engine.Value) { v.Error = f }) },

		"Run":     e.runner.run,
		"Recover": e.runner.recover,
		"Go":      e.spawn,
		"WaitGo":  e.waitGo,
		"After":   func(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, e.guarded(f)) },
		"AfterContext": func(ctx context.Context, f func()) func() bool {
			return context.AfterFunc(ctx, e.guarded(f))
		},
		"Exit":    e.exit,
		"Goexit":  e.goexit,
		"Fatal":   func(a ...any) { e.fatal(fmt.Sprint(a...)) },
		"Fatalf":  func(f string, a ...any) { e.fatal(fmt.Sprintf(f, a...)) },
		"Fatalln": func(a ...any) { e.fatal(fmt.Sprintln(a...)) },
		"Sleep":   e.sleep,

		"Select":   e.selectCases,
		"Recv":     recvCase,
		"Send":     sendCase,
		"Cast":     func(holds []any, name string, to any) bool { return e.cast(holds[0], name, to) },
		"CastAny":  e.cast,
		"Mismatch": e.mismatch,
		"Sprint":   func(x any) string { return fmt.Sprint(x) },
		"Any":      func(x any) any { return x },
		"Wait":     func(w *sync.WaitGroup) { e.block(w.Wait, func() {}) },
		"Lock":     func(m *sync.Mutex) { e.lock(m.TryLock, m.Lock, m.Unlock) },
		"RWLock":   func(m *sync.RWMutex) { e.lock(m.TryLock, m.Lock, m.Unlock) },
		"RLock":    func(m *sync.RWMutex) { e.lock(m.TryRLock, m.RLock, m.RUnlock) },
		"Raise":    e.raise,
		"Equal":    func(xy []any) bool { return e.equal(xy[0], xy[1]) },
		"Same":     same,
		"Is":       isMethod,
		"Unwrap":   unwrap,
		"Key":      e.key,
		"Bare":     func(holds []any) any { return bare(holds[0]) },
		"Plain":    func(holds []any) any { return plain(holds[0]) },
		"IsNil":    func(x any) bool { return bare(x) == nil },

		"Print":     engine.Print,
		"Println":   engine.Println,
		"Signbit":   math.Signbit,
		"Complex":   func(re, im float64) complex128 { return complex(re, im) },
		"Wide":      func(hi, lo int) uint64 { return uint64(hi)<<32 | uint64(lo) },
		"Rune":      func(s string, i int) (rune, int) { return utf8.DecodeRuneInString(s[i:]) },
		"Clear":     func(m any) { reflect.ValueOf(m).Clear() },
		"Error":     func(err error) error { return err },
		"ErrorText": func(x any, err error, typ string) any { return errorText{e.mirror(x, typ), err} },
		"MakeError": makeError,
		"Text":      func(x any, s func() string) any { return text{bare(x), s} },
	}
	t := map[string]reflect.Value{"D": reflect.ValueOf((*D)(nil)), "Case": reflect.ValueOf((*Case)(nil))}
	for name, f := range fs {
		t[name] = reflect.ValueOf(f)
	}
	return t
}

// spawn runs f as a goroutine of the cell's.
func (e *Engine) spawn(f func()) { go e.guarded(f)() }

// guarded is f for a goroutine of its own, whose panic is not to end the
// process.
func (e *Engine) guarded(f func()) func() {
	return func() {
		e.goroutines.Add(1)
		defer func() {
			e.goroutines.Add(-1)
			if x := recover(); x != nil {
				e.goroutinePanicked(e.panicked(x))
				e.runner.unwound(goid())
			}
			e.tracer.take()
		}()
		f()
	}
}

// waitGo is w.Go(f).
func (e *Engine) waitGo(w *sync.WaitGroup, f func()) {
	w.Add(1)
	go func() {
		defer w.Done()
		e.guarded(f)()
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

// stderr writes where print and println do.
type stderr struct{}

func (stderr) Write(b []byte) (int, error) {
	engine.Print(string(b))
	return len(b), nil
}
