package vm

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An interrupt ends interpreted code where it next looks: at a call, a jump
// backwards, the end of a compiled call, or in an operation that waits.
// Compiled code cannot be ended. It is left behind: the cell ends without it,
// and its goroutine ends when it comes back.

// patience is how long compiled code may take to come back.
const patience = 20 * time.Millisecond

// interrupt ends the cell's goroutines. It returns what goes on of them.
func (e *Engine) interrupt(r *run) (left []string) {
	r.halt()
	select {
	case <-r.ended:
	case <-time.After(patience):
		for deadline := time.Now().Add(e.opts.Grace); ; {
			select {
			case <-r.ended:
				return e.others(r)
			default:
			}
			what := r.own.inCompiled()
			if what == "" && time.Now().After(deadline) {
				what = "the cell"
			}
			if what != "" {
				return append(e.others(r), what)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return e.others(r)
}

// others names the goroutines that the cell has started and that are in
// compiled code which does not come back. The others end when they next look.
func (e *Engine) others(r *run) (names []string) {
	first := e.inCompiled(r)
	if len(first) == 0 {
		return nil
	}
	time.Sleep(patience)
	for t, f := range e.inCompiled(r) {
		if f == first[t] {
			names = append(names, f+" ("+t.name+")")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inCompiled are the goroutines that the cell has started and that are in
// compiled code, and in which.
func (e *Engine) inCompiled(r *run) map[*thread]string {
	if r.started.Load() == 0 {
		return nil
	}
	in := map[*thread]string{}
	e.threads.each(func(t *thread) bool {
		if t.run == r && t.name != "" {
			if f := t.inCompiled(); f != "" {
				in[t] = f
			}
		}
		return true
	})
	return in
}

// goesOn adds to a message what goes on.
func goesOn(message string, left []string) string {
	const named = 5
	if more := len(left) - named; more > 0 {
		left = append(left[:named:named], fmt.Sprintf("%d more", more))
	}
	if len(left) > 0 {
		message += "; compiled code goes on until it returns: " + strings.Join(left, ", ")
	}
	return message
}

// inCompiled is the compiled function that the thread is in; empty if it runs
// interpreted code, or waits in a function of ours, which sees the end itself.
func (t *thread) inCompiled() string {
	f := runtime.FuncForPC(t.compiled())
	if f == nil || strings.HasPrefix(f.Name(), machine) {
		return ""
	}
	return strings.TrimSuffix(f.Name(), "-fm")
}

// compiled reads what the thread is in while it runs: a word, in whose place is
// at worst one that was true a moment ago. A trace of all goroutines would stop
// each first, and code in assembly, as that of hashes, stops at its end only.
//
//go:norace
func (t *thread) compiled() uintptr { return t.native }

const machine = "github.com/branchbook/branchbook/kernel/internal/engine/vm."
