package session

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// failure is a cell's error as a front end shows it. No part is empty, for
// VS Code shows an error of its own in place of one with an empty part.
type failure struct {
	name, value string
	traceback   []string
}

// ANSI styles (ECMA-48, SGR). Text that must be read is bold, not coloured:
// on the backgrounds that JupyterLab's themes give an error, its red and cyan
// have a contrast of 2.7 and 1.6, where WCAG asks for 4.5.
const (
	red   = "\x1b[31m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	reset = "\x1b[0m"
)

// plainFailure is one that has no place in a cell.
func plainFailure(name, value string) failure {
	if value == "" {
		value = name
	}
	return failure{name, value, []string{head(name, value)}}
}

func head(name, value string) string { return bold + name + reset + ": " + value }

// compileFailure shows every diagnostic with its line.
func compileFailure(n int, source string, wrong cell.Diagnostics) failure {
	value := wrong[0].Msg
	if more := len(wrong) - 1; more > 0 {
		value = fmt.Sprintf("%s (and %d more)", value, more)
	}
	f := failure{name: "CompileError", value: value}
	if value == "" {
		f.value = f.name
	}
	for _, d := range wrong {
		f.traceback = append(f.traceback, place(n, d.Line, ""))
		f.traceback = append(f.traceback, excerpt(source, d.Line, d.Col)...)
		f.traceback = append(f.traceback, bold+d.Msg+reset)
		if d.Hint != "" {
			f.traceback = append(f.traceback, "hint: "+d.Hint)
		}
	}
	return f
}

// runFailure shows a panic, an interrupt or what else ended a running cell.
func (nb *Notebook) runFailure(w worker.Failure) failure {
	name := map[string]string{
		"panic": "Panic", "interrupt": "Interrupted", "unsupported": "Unsupported", "exit": "Exit",
		worker.InputRefused: "InputRefused",
	}[w.Kind]
	if name == "" {
		name = "Error"
	}
	value := w.Message
	if w.Kind == "interrupt" {
		_, more, _ := strings.Cut(w.Message, "; ")
		value = strings.TrimSuffix("the cell was interrupted; variables are kept; "+more, "; ")
	}
	if w.Kind == "panic" && len(w.Frames) > 0 && w.Frames[0].Cell == 0 && w.Frames[0].File == "" {
		name = "Error" // of must, which is in the prelude
	}
	f := plainFailure(name, value)
	f.traceback = append(f.traceback, nb.frames(w.Frames)...)
	if w.Kind == worker.InputRefused || refusedInput(w.Message) {
		f.traceback = append(f.traceback, "hint: "+inputHint)
	}
	return f
}

// errorFailure shows the error that a cell's last expression gave.
func (nb *Notebook) errorFailure(c *cell.Cell, message string) failure {
	f := plainFailure("Error", message)
	if c.Show != nil {
		if at := c.Fset.Position(c.Show.Pos()); at.IsValid() {
			f.traceback = append(f.traceback, nb.frames([]worker.Frame{{Cell: c.N, Line: at.Line, Col: at.Column}})...)
		}
	}
	if refusedInput(message) {
		f.traceback = append(f.traceback, "hint: "+inputHint)
	}
	return f
}

// refusedInput reports whether a message is that of nb.Input where nobody can
// be asked.
func refusedInput(message string) bool {
	return strings.HasSuffix(message, errStdin.Error()) || strings.HasSuffix(message, errNoInput.Error())
}

const inputHint = "give the value in the cell, by %args and package flag, or with nb.Feed; or run the cell where a person can type"

// deathFailure says why the worker is gone and what went with it.
func deathFailure(d *worker.Death, l loss) failure {
	value := "the process that runs cells ended: " + d.Cause
	switch {
	case d.Unending:
		value = "the cell did not stop when interrupted: it is in compiled code that does not return. So its process was ended"
	case d.Detail != "":
		value = "the process that runs cells ended: " + d.Detail
	case d.Cause == syscall.SIGKILL.String():
		value += ", as the system does when memory runs out"
	}
	f := plainFailure("WorkerDied", value)
	f.traceback = append(f.traceback, l.told()...)
	f.traceback = append(f.traceback, "A new process has started: the next cell runs.")
	for words, hint := range deathHints {
		if strings.Contains(d.Detail, words) {
			f.traceback = append(f.traceback, "hint: "+hint)
		}
	}
	return f
}

// deathHints say more of what ended a worker than the Go runtime's last words,
// which no recover sees.
var deathHints = map[string]string{
	"stack overflow":     "a function calls itself without end",
	"out of memory":      "the cell asked for more memory than there is",
	"concurrent map":     "goroutines use one map at the same time; guard it with a sync.Mutex",
	"unlock of unlocked": "a mutex is unlocked that nobody holds",
}

// frames shows places in cells, innermost first.
func (nb *Notebook) frames(frames []worker.Frame) []string {
	const shown = 20 // of a deep recursion the ends tell most
	nb.mu.Lock()
	defer nb.mu.Unlock()
	var lines []string
	frames = slices.DeleteFunc(slices.Clone(frames), func(f worker.Frame) bool { return f.Cell == 0 && f.File == "" }) // the prelude is ours
	for i, at := range frames {
		if skipped := len(frames) - shown; skipped > 0 && i >= shown/2 && i < shown/2+skipped {
			if i == shown/2 {
				lines = append(lines, faint+fmt.Sprintf("… %d more frames", skipped)+reset)
			}
			continue
		}
		if at.File != "" {
			lines = append(lines, inFunction(fmt.Sprintf("%s%s, line %d%s", bold, at.File, at.Line, reset), at.Func))
			continue
		}
		n := at.Cell
		if owner, ok := nb.sources.owners[n]; ok {
			n = owner
		}
		lines = append(lines, place(n, at.Line, at.Func))
		lines = append(lines, excerpt(nb.sources.all[at.Cell], at.Line, at.Col)...)
	}
	return lines
}

func place(n, line int, function string) string {
	at := fmt.Sprintf("%sCell In[%d], line %d%s", bold, n, line, reset)
	if n > hiddenBase {
		at = fmt.Sprintf("%sUncounted cell, line %d%s", bold, line, reset)
	}
	return inFunction(at, function)
}

func inFunction(at, function string) string {
	if function != "" {
		at += ", in " + function
	}
	return at
}
