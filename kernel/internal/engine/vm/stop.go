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
// and its goroutine ends when it comes back. But what prints is waited for, as
// long as Grace: it comes back when its text is read, which would otherwise be
// the next cell's.

// patience is how long compiled code may take to come back.
const patience = 20 * time.Millisecond

// interrupt ends the cell's goroutines. It returns what goes on of them.
func (e *Engine) interrupt(r *run) (left []string) {
	r.halt()
	deadline := time.Now().Add(e.opts.Grace)
	select {
	case <-r.ended:
	case <-time.After(patience):
		for ended := false; !ended; {
			select {
			case <-r.ended:
				ended = true
				continue
			default:
			}
			what, late := r.own.inCompiled(), time.Now().After(deadline)
			if what == "" && late {
				what = "the cell"
			}
			if what != "" && (late || !prints(what)) {
				return append(e.others(r, deadline), what)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return e.others(r, deadline)
}

// others names the goroutines that the cell has started and that are in
// compiled code which does not come back. The others end when they next look.
func (e *Engine) others(r *run, deadline time.Time) (names []string) {
	first := e.inCompiled(r)
	if len(first) == 0 {
		return nil
	}
	time.Sleep(patience)
	now := e.inCompiled(r)
	for anyPrints(now) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
		now = e.inCompiled(r)
	}
	for t, f := range now {
		if f == first[t] {
			names = append(names, f+" ("+t.name+")")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func anyPrints(in map[*thread]string) bool {
	for _, f := range in {
		if prints(f) {
			return true
		}
	}
	return false
}

// printers are the packages whose functions print, if their names say so, and
// those all of whose functions do.
var (
	printers    = []string{"fmt.", "os.", "io.", "bufio.", "text/tabwriter."}
	allPrinters = []string{"log.", "log/slog.", "github.com/branchbook/branchbook/kernel/nb.", "github.com/branchbook/branchbook/kernel/internal/engine."}
)

// prints reports whether a compiled function most likely writes to what cells
// print to. One that does not is waited for in vain.
func prints(f string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(f, p) })
	}
	says := func(verb string) bool { return strings.Contains(f, verb) }
	return in(allPrinters) || in(printers) && (says("rint") || says("Write") || says("Flush"))
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
