package yaegi

import (
	"go/token"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// Where panics come from.
//
// yaegi knows only the function. Every step that can panic or call is made to
// run inside a function with a deferred note of its place, which a panic
// passes on its way out: innermost first, with the callers. It costs a few
// nanoseconds a step and no line is guessed.

// risky are the kinds of nodes that can panic or call.
var risky = map[string]bool{
	"callExpr": true, "indexExpr": true, "starExpr": true, "sliceExpr": true, "typeAssertExpr": true, "selectorExpr": true,
	"sendStmt": true, "binaryExpr": true, "assignStmt": true, "defineStmt": true, "assignXStmt": true, "defineXStmt": true,
	"unaryExpr": true, "rangeStmt": true, "selectStmt": true, "incDecStmt": true, "compositeLitExpr": true,
}

// tracer collects the frames of panics, by goroutine.
type tracer struct {
	mu     sync.Mutex
	traces map[string]*trace
}

type trace struct {
	frames []engine.Frame
	depth  uintptr // where on the stack the last note was made
	cut    bool
}

// maxFrames bounds the trace of a deep recursion.
const maxFrames = 200

// install notes the places of a compiled program's nodes.
func (t *tracer) install(r *reach, root unsafe.Pointer, file *token.File, p *program) {
	r.walk(root, func(n unsafe.Pointer) {
		if !risky[r.kindOf(n)] {
			return
		}
		pos := r.posOf(n)
		if int(pos) < file.Base() || int(pos) > file.Base()+file.Size() {
			return
		}
		off := file.Offset(pos)
		pl := p.place(off)
		if pl == nil {
			return
		}
		at := *pl
		at.col += min(at.n, off-at.off)
		r.around(n, func(step exec) exec {
			return func(f unsafe.Pointer) (next exec) {
				ended := false
				defer func() {
					if !ended {
						t.note(&at)
					}
				}()
				next = step(f)
				ended = true
				return next
			}
		})
	})
}

// note records that a panic, or Goexit, leaves a place.
func (t *tracer) note(at *place) {
	var here byte
	depth := uintptr(unsafe.Pointer(&here))
	g := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.traces[g]
	if tr == nil || depth < tr.depth {
		// the stack grows down: a note below the last one is another panic's
		tr = &trace{}
		t.traces[g] = tr
	}
	tr.depth = depth
	f := engine.Frame{Cell: at.at.cell, Line: at.at.line + at.line, Col: at.col, Func: at.fn}
	if k := len(tr.frames); k > 0 {
		if last := tr.frames[k-1]; last.Cell == f.Cell && last.Func == f.Func && last.Line == f.Line {
			return // an outer node of the same statement
		}
		if k == maxFrames {
			return
		}
	}
	tr.frames = append(tr.frames, f)
}

// take returns and forgets the trace of the calling goroutine.
func (t *tracer) take() []engine.Frame {
	g := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.traces[g]
	delete(t.traces, g)
	if tr == nil {
		return nil
	}
	return tr.frames
}

// goid is the number of the calling goroutine.
func goid() string {
	var b [64]byte
	s := strings.TrimPrefix(string(b[:runtime.Stack(b[:], false)]), "goroutine ")
	s, _, _ = strings.Cut(s, " ")
	if _, err := strconv.Atoi(s); err != nil {
		return ""
	}
	return s
}
