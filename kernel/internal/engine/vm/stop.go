package vm

import (
	"bytes"
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
const patience = 10 * time.Millisecond

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
			what := r.inCompiled()
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

// others names the goroutines that the cell has started and that do not end.
func (e *Engine) others(r *run) (names []string) {
	alive := func() (names []string) {
		e.threads.each(func(t *thread) bool {
			if t.run == r && t.name != "" {
				names = append(names, t.name)
			}
			return true
		})
		return names
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if names = alive(); len(names) == 0 || time.Now().After(end) {
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
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

// inCompiled is the compiled function that the goroutine of the cell is in; empty
// if it runs interpreted code.
func (r *run) inCompiled() string {
	own, _ := r.goroutine.Load().([]byte)
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) >= 1<<26 {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	for g := range bytes.SplitSeq(buf, []byte("\n\n")) {
		if !bytes.HasPrefix(g, own) {
			continue
		}
		lines, name := strings.Split(string(g), "\n"), ""
		for i := 1; i < len(lines); i += 2 { // a function, and its place in the next line
			f := lines[i][:max(0, strings.LastIndexByte(lines[i], '('))]
			if strings.HasPrefix(f, machine) {
				return name // what the machine has called
			}
			if pkg, _, _ := strings.Cut(f, "."); pkg != "runtime" && pkg != "reflect" && pkg != "syscall" && !strings.HasPrefix(pkg, "internal/") {
				name = f
			}
		}
	}
	return ""
}

const machine = "github.com/branchbook/branchbook/kernel/internal/engine/vm."

// heading is how the trace of the calling goroutine begins: "goroutine 7 [".
func heading() []byte {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	return buf[:bytes.IndexByte(buf, '[')+1]
}
