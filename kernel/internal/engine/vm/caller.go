package vm

import (
	"go/types"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// Code that asks who called it is told of the machine's frames as if they were
// compiled: their functions have pcs (rtype.Lines) that package runtime resolves
// like any other. The Go stack has the machine's own functions between the
// compiled ones; each frame that runs has one call of exec there, or of run,
// which is its place among them.

// lines are the pcs of functions that somebody asked for.
var lines struct {
	sync.Mutex
	of map[lineKey]rtype.Lines
}

type lineKey struct{ name, file string }

// pcOf is the pc of a call in a line of a function that begins in line first.
func pcOf(name, file string, first, line int) uintptr {
	const more = 64 // lines, so that later ones have the same entry
	lines.Lock()
	defer lines.Unlock()
	k := lineKey{name, file}
	l := lines.of[k]
	if pc := l.PC(line); pc != 0 {
		return pc
	}
	if lines.of == nil {
		lines.of = map[lineKey]rtype.Lines{}
	}
	if first < 1 || first > line {
		first = line
	}
	l = rtype.NewLines(name, file, first, line+more)
	lines.of[k] = l
	return l.PC(line)
}

// fileOf is the file that a place is in, for Go.
func fileOf(f engine.Frame) string {
	if f.Cell > 0 {
		return "In[" + strconv.Itoa(f.Cell) + "]"
	}
	return f.File
}

// entryPC is the pc of a function.
func (c *code) entryPC() uintptr {
	f, ok := c.place(c.pos)
	if !ok {
		return 0
	}
	if pc := pcOf(c.full, fileOf(f), f.Line, f.Line); pc != 0 {
		return pc - 1
	}
	return 0
}

// pcs are those of a stop: one, or two where it is in a call that is inlined.
func (s stop) pcs() (r []uintptr) {
	if int(s.at) >= len(s.code.spots) || s.code.through {
		return nil
	}
	add := func(sp spot, name string, first int) {
		if f, ok := s.code.place(sp.pos); ok {
			if pc := pcOf(name, fileOf(f), first, f.Line); pc != 0 {
				r = append(r, pc)
			}
		}
	}
	at := s.code.spots[s.at]
	if in := at.within; in != nil {
		f, _ := s.code.place(in.pos)
		add(at, in.full, f.Line)
		at = s.code.spots[in.call]
	}
	f, _ := s.code.place(s.code.pos)
	add(at, s.code.full, f.Line)
	return r
}

// running are the functions on the Go stack that run a frame each.
var running = map[string]bool{here + "(*code).exec": true, here + "(*target).run": true}

var here = reflect.TypeFor[frame]().PkgPath() + "."

// callers are the pcs of the calls on a thread's goroutine, innermost first:
// at most n, which begin with the machine's frame that runs.
func (t *thread) callers(n int) (pcs []uintptr) {
	fr := t.top
	next := func() {
		pcs = append(pcs, stop{code: fr.code, at: fr.at}.pcs()...)
		m := fr
		fr = fr.caller
		p := m.pan
		if !m.deferred || p == nil || fr == nil {
			return
		}
		// A panic runs m, on top of the calls that it ends.
		pcs = append(pcs, panicPC)
		for i, s := range p.stops {
			if s.depth <= fr.depth {
				break
			}
			to := fr.depth
			if i+1 < len(p.stops) {
				to = max(to, p.stops[i+1].depth)
			}
			for ; s.depth > to && len(pcs) < n; s.depth-- { // a recursion is one stop
				pcs = append(pcs, s.pcs()...)
			}
		}
	}
	for fr != nil && n <= 1 && len(pcs) < n {
		next()
	}
	if len(pcs) >= n {
		return pcs[:n]
	}
	began := false
	dead := 0 // calls on the Go stack that a panic has ended
	t.goStack(func(f runtime.Frame, pc uintptr, alone bool) bool {
		switch {
		case running[f.Function]:
			began = true
			if dead > 0 {
				dead--
				return true
			}
			if fr == nil {
				return false
			}
			m := fr
			next()
			if m.deferred && m.pan != nil && len(m.pan.stops) > 0 && fr != nil {
				dead = int(m.pan.stops[0].depth - fr.depth)
			}
		case f.Function == "runtime.Goexit":
			return false // what is on top of what it ended
		case began && alone && dead == 0 && !bridges(f.Function):
			pcs = append(pcs, pc)
		}
		return len(pcs) < n
	})
	for fr != nil && len(pcs) < n {
		next()
	}
	return pcs[:min(len(pcs), n)]
}

var panicPC = func() (pc uintptr) {
	defer func() {
		recover()
		var pcs [8]uintptr
		for _, pc = range pcs[:runtime.Callers(0, pcs[:])] {
			if f, _ := runtime.CallersFrames([]uintptr{pc}).Next(); f.Function == "runtime.gopanic" {
				return
			}
		}
	}()
	panic(0)
}()

// bridges reports whether a function on the Go stack is part of how the machine
// runs and calls.
func bridges(f string) bool {
	for _, path := range []string{"runtime.", "reflect."} {
		if name, ok := strings.CutPrefix(f, path); ok && f != "runtime.goexit" {
			return name[0] >= 'a' || name == "Value.Call" || name == "Value.CallSlice" || name == "Value.call"
		}
	}
	return strings.HasPrefix(f, module) || strings.HasPrefix(f, "internal/runtime/")
}

var module, _, _ = strings.Cut(here, "/internal/engine/")

// goStack calls f for the functions on the Go stack until it returns false;
// alone reports whether none is inlined into another.
func (t *thread) goStack(f func(f runtime.Frame, pc uintptr, alone bool) bool) {
	buf := make([]uintptr, 64)
	for skip := 2; ; skip += len(buf) {
		n := runtime.Callers(skip, buf)
		for _, pc := range buf[:n] {
			frames := runtime.CallersFrames([]uintptr{pc})
			for first := true; ; first = false {
				at, more := frames.Next()
				if !f(at, pc, first && !more) {
					return
				}
				if !more {
					break
				}
			}
		}
		if n < len(buf) {
			return
		}
	}
}

// callersPC is a pc in runtime.Callers, which comes first in what it returns.
func callersPC() uintptr {
	return reflect.ValueOf(runtime.Callers).Pointer() + 1
}

// getCallers is runtime.Callers.
func (e *Engine) getCallers(skip int, pcs []uintptr) int {
	r := append([]uintptr{callersPC()}, e.thread().callers(max(skip, 0)+len(pcs))...)
	return copy(pcs, r[min(max(skip, 0), len(r)):])
}

// getCaller is runtime.Caller.
func (e *Engine) getCaller(skip int) (pc uintptr, file string, line int, ok bool) {
	pcs := e.thread().callers(max(skip, 0) + 1)
	if skip < 0 || skip >= len(pcs) {
		return
	}
	f, _ := runtime.CallersFrames(pcs[skip : skip+1]).Next()
	return pcs[skip], f.File, f.Line, f.PC != 0
}

// callerPC is the pc of the code that calls a hosted function.
func (e *Engine) callerPC() uintptr {
	if pcs := e.thread().callers(1); len(pcs) > 0 {
		return pcs[0]
	}
	return 0
}

// stackText is a stack trace as runtime.Stack has it, but for the arguments.
func (e *Engine) stackText(first ...uintptr) []byte {
	const most = 1 << 10
	head, _, _ := strings.Cut(string(debug.Stack()), "\n") // the goroutine
	var b strings.Builder
	b.WriteString(head + "\n")
	frames := runtime.CallersFrames(append(first, e.thread().callers(most)...))
	for {
		f, more := frames.Next()
		name := f.Function
		if name == "runtime.gopanic" {
			name = "panic"
		}
		if name != "" && name != "runtime.goexit" {
			b.WriteString(name + "(...)\n\t" + f.File + ":" + strconv.Itoa(f.Line) + "\n")
		}
		if !more {
			return []byte(b.String())
		}
	}
}

// stack is runtime.Stack. That of all goroutines is Go's, and has the
// machine's functions.
func (e *Engine) stack(buf []byte, all bool) int {
	if all {
		return runtime.Stack(buf, true)
	}
	return copy(buf, e.stackText())
}

// debugStack is debug.Stack.
func (e *Engine) debugStack() []byte {
	return e.stackText(reflect.ValueOf(debug.Stack).Pointer() + 1)
}

// valuePointer is the Pointer method of reflect.Value. All functions of ours have
// one code; they are told apart by their pcs.
func valuePointer(v reflect.Value) uintptr {
	if v.Kind() == reflect.Func && !v.IsNil() {
		if c := ours(rtype.FuncPointer(v)); c != nil {
			if pc := c.code.entryPC(); pc != 0 {
				return pc
			}
		}
	}
	return v.Pointer()
}

// fullName is what compiled Go calls a function. A cell's own statements are
// those of main.
func (e *Engine) fullName(f *ssa.Function) string {
	if f.Parent() != nil {
		return e.literals[f]
	}
	if strings.HasPrefix(f.Name(), "cell__") {
		return "main.main"
	}
	origin := f
	if f.Origin() != nil {
		origin = f.Origin()
	}
	path := "main"
	if origin.Pkg != nil {
		path = origin.Pkg.Pkg.Path()
	} else if o := origin.Object(); o != nil && o.Pkg() != nil {
		path = o.Pkg().Path()
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		path = path[:i] + strings.ReplaceAll(path[i:], ".", "%2e")
	}
	name := origin.Name()
	if base, n, ok := strings.Cut(name, "#"); ok { // init#1
		if i, err := strconv.Atoi(n); err == nil {
			name = base + "." + strconv.Itoa(i-1)
		}
	}
	r := origin.Signature.Recv()
	if r == nil {
		if f.Origin() != nil {
			name += "[...]"
		}
		return path + "." + name
	}
	t, pointer := r.Type(), false
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = p.Elem(), true
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return path + "." + name
	}
	recv := n.Obj().Name()
	if n.TypeArgs().Len() > 0 || n.TypeParams().Len() > 0 {
		recv += "[...]"
	}
	if pointer {
		recv = "(*" + recv + ")"
	}
	return path + "." + recv + "." + name
}

// nameLiterals notes the names of the literals in a function, which must be
// known when they are compiled: f.func1, and f.func1.2 in that. The body of a
// loop over a function is f-range1, and what it has counts for f. e.mu is held.
func (e *Engine) nameLiterals(f *ssa.Function, full string) {
	if isRange(f) {
		return // named with those of f
	}
	infix, funcs, ranges := ".func", 0, 0
	if f.Parent() != nil {
		infix = "."
	}
	var walk func(f *ssa.Function)
	walk = func(f *ssa.Function) {
		for _, g := range f.AnonFuncs {
			if isRange(g) {
				ranges++
				e.literals[g] = full + "-range" + strconv.Itoa(ranges)
				walk(g)
			} else {
				funcs++
				e.literals[g] = full + infix + strconv.Itoa(funcs)
			}
		}
	}
	walk(f)
}

func isRange(f *ssa.Function) bool { return f.Synthetic == "range-over-func yield" }

// unsafePointer is the UnsafePointer method of reflect.Value.
func unsafePointer(v reflect.Value) unsafe.Pointer {
	if v.Kind() == reflect.Func {
		p := valuePointer(v)
		return *(*unsafe.Pointer)(unsafe.Pointer(&p))
	}
	return v.UnsafePointer()
}
