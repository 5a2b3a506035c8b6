package yaegi

import (
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// Where panics come from.
//
// yaegi knows only the function. Every step that can panic or call is made to
// run inside a function with a deferred note of its place, which a panic
// passes on its way out: innermost first, with the callers. It costs a few
// nanoseconds a step and no line is guessed.

// risky tells nodes whose step can panic or call. Steps of plain arithmetic
// and assignments to variables cannot, and stay as fast as they are.
func (r *reach) risky(n unsafe.Pointer) bool {
	switch r.kindOf(n) {
	case "callExpr", "indexExpr", "starExpr", "sliceExpr", "typeAssertExpr", "selectorExpr", "sendStmt", "unaryExpr",
		"rangeStmt", "selectStmt", "compositeLitExpr", "assignXStmt", "defineXStmt":
		return true
	case "binaryExpr":
		return panickyOperators[r.actionOf(n)]
	case "assignStmt", "defineStmt", "incDecStmt":
		if panickyOperators[r.actionOf(n)] {
			return true
		}
		for _, c := range r.children(n) {
			switch r.kindOf(c) {
			case "indexExpr", "starExpr", "selectorExpr":
				return true
			}
		}
	}
	return false
}

var panickyOperators = map[string]bool{"/": true, "%": true, "/=": true, "%=": true, "<<": true, ">>": true, "<<=": true, ">>=": true}

// tracer collects the frames of panics, by goroutine.
type tracer struct {
	notes atomic.Uint64 // made so far

	mu     sync.Mutex
	traces map[string]*trace
}

type trace struct {
	frames  []engine.Frame
	first   uint64   // its first note's number
	earlier []string // messages of the panics during which this one began
	again   bool     // its value was recovered and is panicked with once more
}

// message is what Go prints, behind "panic: ", of a panic with the trace.
func (tr trace) message(x any) string {
	msg := panicMessage(x)
	if tr.again {
		msg += " [recovered, repanicked]"
	}
	return strings.Join(append(tr.earlier, msg), "\n\tpanic: ")
}

// maxFrames bounds the trace of a deep recursion.
const maxFrames = 200

// install notes the places of a compiled program's nodes.
func (t *tracer) install(r *reach, root unsafe.Pointer, file *token.File, p *program) {
	r.walk(root, func(n unsafe.Pointer) {
		if r.kindOf(n) == "funcLit" {
			r.separate(n)
			return
		}
		if !r.risky(n) {
			return
		}
		pos := r.posOf(n)
		if int(pos) < file.Base() || int(pos) > file.Base()+file.Size() {
			return
		}
		at := p.spot(file.Offset(pos))
		if at == nil {
			return
		}
		if k := r.kindOf(n); k == "indexExpr" || k == "sliceExpr" {
			t.bounds(r, n, at)
			return
		}
		r.around(n, func(step exec) exec {
			return func(f unsafe.Pointer) (next exec) {
				ended, born := false, t.notes.Load()
				defer func() {
					if !ended {
						t.note(at, born)
					}
				}()
				next = step(f)
				ended = true
				return next
			}
		})
	})
	r.regenerate(root)
}

// bounds is install for an index or slice expression: its panic gets the
// numbers that Go's has and reflect's has not.
func (t *tracer) bounds(r *reach, n unsafe.Pointer, at *spot) {
	r.around(n, func(step exec) exec {
		return func(f unsafe.Pointer) (next exec) {
			ended, born := false, t.notes.Load()
			defer func() {
				if ended {
					return
				}
				t.note(at, born)
				if x := recover(); x != nil {
					panic(r.boundsError(n, f, x))
				}
			}()
			next = step(f)
			ended = true
			return next
		}
	})
}

// boundsError is x, or the runtime error that Go's index or slice expression n
// would have made where reflect made x.
func (r *reach) boundsError(n, f unsafe.Pointer, x any) any {
	s, ok := x.(string)
	if !ok || !strings.HasPrefix(s, "reflect") {
		return x
	}
	var vs []reflect.Value
	for _, c := range r.children(n) {
		v, ok := r.value(c, f)
		if !ok {
			return x
		}
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		vs = append(vs, v)
	}
	index := func(i int) int {
		switch v := vs[i]; {
		case v.CanInt():
			return int(v.Int())
		case v.CanUint():
			return int(v.Uint())
		}
		return 0
	}
	if len(vs) < 2 {
		return x
	}
	switch k := vs[0].Kind(); k {
	case reflect.Slice, reflect.Array, reflect.String:
	default:
		return x
	}
	if r.kindOf(n) == "indexExpr" {
		if i := index(1); i >= 0 {
			return runtimeError(fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, vs[0].Len()))
		}
		return runtimeError(fmt.Sprintf("runtime error: index out of range [%d]", index(1)))
	}
	limit, what := vs[0].Len(), "length"
	if vs[0].Kind() == reflect.Slice {
		limit, what = vs[0].Cap(), "capacity"
	}
	low, high := 0, 0
	switch len(vs) {
	case 2:
		if r.actionOf(n) == "slice0" { // without low
			high = index(1)
		} else {
			low, high = index(1), vs[0].Len()
		}
	case 3:
		low, high = index(1), index(2)
	default:
		return x
	}
	switch {
	case high > limit:
		return runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [:%d] with %s %d", high, what, limit))
	case low < 0:
		return runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [%d:]", low))
	}
	return runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [%d:%d]", low, high))
}

// note records that a panic, or Goexit, leaves a place, which was entered
// after born notes. One that was entered after the trace began is not on the
// way out of the same panic: compiled code recovered the one before.
func (t *tracer) note(at *spot, born uint64) {
	g := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.notes.Add(1)
	tr := t.traces[g]
	if tr == nil || born >= tr.first {
		if len(t.traces) > 1000 { // of panics that compiled code recovered
			clear(t.traces)
		}
		tr = &trace{first: n}
		t.traces[g] = tr
	}
	f := at.frame()
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
func (t *tracer) take() trace {
	g := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.traces[g]
	delete(t.traces, g)
	if tr == nil {
		return trace{}
	}
	return *tr
}

// follows notes that the panic of goroutine g began while a deferred call ran:
// of one that panicked with earlier, or recovered that.
// It returns the messages of all that came before.
func (t *tracer) follows(g string, earlier []string, again bool) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.traces[g]
	if tr == nil {
		tr = &trace{first: t.notes.Load()}
		t.traces[g] = tr
	}
	tr.earlier, tr.again = slices.Concat(earlier, tr.earlier), tr.again || again
	return tr.earlier
}

// earlier returns the messages of panics that ended in that of goroutine g.
func (t *tracer) earlier(g string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tr := t.traces[g]; tr != nil {
		return tr.earlier
	}
	return nil
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
