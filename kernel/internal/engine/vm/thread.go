package vm

import (
	"context"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// thread is a goroutine that runs cells' code.
type thread struct {
	e         *Engine
	run       *run
	top       *frame
	free      *[freeLists]*frame // frames that can be used again, by code.id modulo freeLists
	unwinding *panicking         // the panic that left a frame last
	naps      atomic.Uint64      // odd while it waits for other threads
	native    uintptr            // the code of the compiled function that it is in; 0 for none
	looks     uint               // times that it came by step
	walked    int                // calls that its panics have looked at
	dying     atomic.Bool
	name      string // where it was started; empty for a cell's own
	goroutine uintptr
}

// threads finds the thread of a goroutine, by rtype.Goroutine. A thread is
// entered and removed by its own goroutine.
type threads struct {
	all  sync.Map // to *thread
	near [64]atomic.Pointer[thread]
}

func (s *threads) slot(g uintptr) *atomic.Pointer[thread] {
	return &s.near[(g>>5^g>>11)%uintptr(len(s.near))]
}

// load returns the thread of a goroutine, or nil.
func (s *threads) load(g uintptr) *thread {
	near := s.slot(g)
	if t := near.Load(); t != nil && t.goroutine == g {
		return t
	}
	t, ok := s.all.Load(g)
	if !ok {
		return nil
	}
	near.Store(t.(*thread))
	return t.(*thread)
}

func (s *threads) store(g uintptr, t *thread) {
	t.goroutine = g
	s.all.Store(g, t)
}

func (s *threads) remove(g uintptr) {
	s.all.Delete(g)
	near := s.slot(g)
	if t := near.Load(); t != nil && t.goroutine == g {
		near.CompareAndSwap(t, nil)
	}
}

// each calls f for the threads until it returns false.
func (s *threads) each(f func(*thread) bool) {
	s.all.Range(func(_, t any) bool { return f(t.(*thread)) })
}

// maxStack bounds the Go stack that the calls of one goroutine take, so that
// the stack's own limit, which ends the process, is not met: kernel processes
// set 256 MB. It is looked at from time to time.
const (
	maxStack   = 224 << 20
	stackEvery = 1 << 9 // calls; a power of 2
)

// freeLists is how many functions' frames a thread keeps at once.
const freeLists = 64

// frame returns a frame for a call of c.
func (t *thread) frame(c *code) *frame {
	if t.free != nil {
		list := &t.free[c.id%freeLists]
		if fr := *list; fr != nil && fr.code == c {
			*list = fr.caller
			return fr
		}
	}
	return t.newFrame(c)
}

func (t *thread) newFrame(c *code) *frame {
	if c.memory.Size >= bigFrame {
		t.roomFor(c)
	}
	fr := (*frame)(rtype.New(c.memory))
	rtype.Move(c.memory, unsafe.Pointer(fr), c.template)
	fr.t = t
	return fr
}

// Frames lie beside the Go stack, whose limit does not bound large ones.
const bigFrame = 16 << 10

// roomFor ends the cell if the frames of the calls take too much with one of c.
func (t *thread) roomFor(c *code) {
	const most = 2 * maxStack / bigFrame
	sum := c.memory.Size
	for fr, n := t.top, 0; fr != nil && n < most; fr, n = fr.caller, n+1 {
		sum += fr.code.memory.Size
	}
	if sum > maxStack {
		t.overflow()
	}
}

// release gives a frame back whose call has ended.
func (t *thread) release(fr *frame) {
	if t.free == nil {
		t.free = new([freeLists]*frame)
	}
	list := &t.free[fr.code.id%freeLists]
	if next := *list; next == nil || next.code == fr.code {
		fr.caller = next
	} else {
		fr.caller = nil // in the place of another function's frames
	}
	*list = fr
}

// enterFrame makes fr the frame that runs.
func (t *thread) enterFrame(caller, fr *frame) {
	fr.caller = caller
	depth := int32(1)
	if caller != nil {
		depth = caller.depth + 1
	}
	fr.depth = depth
	t.top = fr
	if t.run.attend.Load() {
		t.step()
	}
	if depth&(stackEvery-1) == 0 && rtype.StackUsed() > maxStack {
		t.overflow()
	}
}

// halting is the panic that ends the goroutines of a cell. Deferred calls do
// not run and no recover sees it.
type halting struct{}

func (t *thread) halt() { panic(halting{}) }

func (t *thread) overflow() {
	t.run.fail(&engine.Failure{Kind: engine.Panic, Message: "stack overflow: a function calls itself without end", Frames: places(t.walk(math.MaxInt))})
	t.run.halt()
	t.halt()
}

// run is one evaluation of a cell.
type run struct {
	ctx      context.Context
	attend   atomic.Bool // a thread that looks shall call step
	stopping atomic.Bool
	stop     chan struct{} // closed when the cell is to end
	ended    chan struct{} // closed when its own goroutine did

	mu      sync.Mutex
	values  []engine.Value
	failure *engine.Failure // the first

	limits   engine.Limits
	steps    atomic.Int64
	most     int64           // see memory; guarded by mu
	unplaced *engine.Failure // guarded by mu

	own        *thread
	started    atomic.Int64 // goroutines that the cell has, beside its own
	goroutines int          // that were there before, and are not threads
	naps       uint64       // of all threads, when they last changed
	still      time.Time
}

func newRun(ctx context.Context) *run {
	return &run{ctx: ctx, stop: make(chan struct{}), ended: make(chan struct{}), still: time.Now()}
}

// fail makes f the cell's failure unless it has one.
func (r *run) fail(f *engine.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = f
	}
}

// halt tells the goroutines of a cell to end.
func (r *run) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopping.Swap(true) {
		r.attend.Store(true)
		close(r.stop)
	}
}

// caught makes a panic's value a panicking, with its frames.
func (t *thread) caught(x any) *panicking {
	if p := t.unwinding; p != nil {
		t.unwinding = nil
		if same(p.value, x) {
			return &panicking{value: x, stops: p.stops, during: p.during}
		}
	}
	return &panicking{value: x, stops: t.stops()}
}

// same compares the words of two interface values.
func same(x, y any) bool { return *(*words)(unsafe.Pointer(&x)) == *(*words)(unsafe.Pointer(&y)) }

// maxTrace bounds the trace of a deep recursion.
const maxTrace = 400

// stop is where a call is.
type stop struct {
	code     *code
	at       int32
	depth    int32
	deferred bool
}

// again reports whether s is one more call of a recursion.
func (s stop) again(o stop) bool {
	return s.code == o.code && s.at == o.at && !s.deferred && !o.deferred
}

// stops are where the thread's calls are, innermost first.
func (t *thread) stops() []stop {
	if t.walked > maxWalked {
		return t.walk(fewStops)
	}
	return t.walk(maxWalk)
}

// walk is stops of up to n calls; those of a recursion are one.
func (t *thread) walk(n int) []stop {
	var r []stop
	for fr := t.top; fr != nil && len(r) < maxTrace && n > 0; fr = fr.caller {
		s := stop{fr.code, fr.at, fr.depth, fr.deferred}
		if k := len(r); k == 0 || !s.again(r[k-1]) {
			r = append(r, s)
		}
		n--
		t.walked++
	}
	return r
}

// maxWalk bounds how many calls a panic looks at, and maxWalked those that all
// panics of a thread do: there may be many, one in the deferred call of another.
const (
	maxWalk   = 10_000
	maxWalked = 10_000_000
	fewStops  = 40
)

// places are stops in cells and modules, as a traceback shows them.
func places(stops []stop) []engine.Frame {
	var r []engine.Frame
	for i, s := range stops {
		// A frame that runs its deferred calls is at its end.
		if i > 0 && stops[i-1].deferred || int(s.at) >= len(s.code.spots) || s.code.through {
			continue
		}
		at := s.code.spots[s.at]
		if in := at.within; in != nil {
			if f, ok := s.code.place(at.pos); ok {
				f.Func = in.name
				r = append(r, f)
			}
			at = s.code.spots[in.call]
		}
		f, ok := s.code.place(at.pos)
		if !ok {
			continue
		}
		f.Func = s.code.name
		if s.deferred && f.Func == "" && i+1 < len(stops) { // a literal: the place is where it stands
			f.Func = stops[i+1].code.name
		}
		if n := len(r); n > 0 && r[n-1].Cell == f.Cell && r[n-1].File == f.File && r[n-1].Line == f.Line && r[n-1].Func == f.Func {
			continue // the calls of a recursion
		}
		r = append(r, f)
	}
	return r
}

// enter finds the thread of the calling goroutine, which compiled code called
// from. Where a goroutine of compiled code calls, it makes one; done must be
// called at the end of the callback, by a defer.
//
// Where nobody is there to take a panic on such a goroutine, it is the cell's
// failure and ends the goroutine.
func (e *Engine) enter() (t *thread, done func()) {
	g := rtype.Goroutine()
	if t := e.threads.load(g); t != nil {
		return t, nothing
	}
	t = &thread{e: e, run: e.now()}
	e.threads.store(g, t)
	return t, func() {
		defer e.threads.remove(g) // a method tells what the panic is
		defer t.dies(false)
		x := recover()
		if x == nil {
			return
		}
		if _, ok := x.(halting); !ok {
			if within(recovering) {
				panic(x)
			}
			e.panicked(t, x)
		}
		if within(ending) {
			select {} // left behind
		}
		runtime.Goexit()
	}
}

func nothing() {}

// recovering are the compiled functions that recover what the functions panic
// with that they call on goroutines of their own.
var recovering = map[string]bool{
	"fmt.(*pp).handleMethods":                                  true,
	"log/slog.(*handleState).appendValue":                      true,
	"net/http.(*conn).serve":                                   true,
	"net/http.(*http2serverConn).runHandler":                   true,
	"text/template.safeCall":                                   true,
	"github.com/branchbook/branchbook/kernel/nb/testrun.guard": true,
}

// ending are those that end the process when their goroutine exits.
var ending = map[string]bool{"testing.tRunner": true}

// within reports whether the goroutine is in one of these functions.
func within(names map[string]bool) bool {
	pcs := make([]uintptr, 256)
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if names[f.Function] {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// dies notes whether a panic is on its way in a thread, which may have told
// others already, in a deferred call, that the thread is done.
func (t *thread) dies(yes bool) {
	if t.dying.Swap(yes) == yes {
		return
	}
	if yes {
		t.e.dying.Add(1)
	} else {
		t.e.dying.Add(-1)
	}
}

// waitForDying waits until the panics that are on their way have ended, unless
// a deferred call keeps one: for a moment, and longer for what would go on.
func (e *Engine) waitForDying() {
	began := time.Now()
	for e.dying.Load() > 0 {
		if d := time.Since(began); d > 2*time.Second || d > 200*time.Millisecond && !e.diesNow() {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// diesNow reports whether a thread is on its way to its end, and does not wait.
func (e *Engine) diesNow() (yes bool) {
	e.threads.each(func(t *thread) bool {
		yes = t.dying.Load() && t.naps.Load()%2 == 0 && t.compiled() == 0
		return !yes
	})
	return yes
}

// panicked makes a panic in a goroutine that is not the cell's first the
// failure of the cell that runs.
func (e *Engine) panicked(t *thread, x any) {
	p := t.caught(x)
	e.goroutinePanicked(&engine.Failure{Kind: engine.Panic, Message: p.message() + " [in a goroutine]", Frames: places(p.stops)})
}

// start runs a frame in a goroutine that is not the cell's first.
func (e *Engine) start(t *thread, fr *frame) {
	most := t.run.limits.Goroutines
	if most == 0 {
		most = defaultGoroutines
	}
	if n := e.goroutines.Add(1); most > 0 && n > most {
		e.goroutines.Add(-1)
		t.run.exceeded(nil, "more than %d goroutines run at a time, which is the limit", most)
		t.halt()
	}
	t.run.begins()
	go func() {
		defer e.goroutines.Add(-1)
		defer t.run.ends()
		g := rtype.Goroutine()
		e.threads.store(g, t)
		ended := false
		defer func() {
			defer e.threads.remove(g) // a method tells what the panic is
			defer t.dies(false)
			if ended {
				return
			}
			x := recover()
			if _, ok := x.(halting); ok || x == nil {
				return
			}
			e.panicked(t, x)
		}()
		t.enterFrame(nil, fr)
		fr.code.exec(fr)
		ended = true
	}()
}

// goroutinePanicked makes a goroutine's panic the failure of the cell that
// runs, or says it on standard error when none does.
func (e *Engine) goroutinePanicked(f *engine.Failure) {
	r := e.now()
	select {
	case <-r.ended:
		os.Stderr.WriteString(f.Late())
	default:
		r.fail(f)
		r.halt()
	}
}

// panicMessage is what Go prints of a panic's value.
func panicMessage(x any) (text string) {
	defer func() {
		if recover() != nil { // Go gives up here, and the process ends
			text = fmt.Sprintf("a %T, whose method panics that would tell what it is", x)
		}
	}()
	switch x := x.(type) {
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	case string:
		return x
	}
	switch v := reflect.ValueOf(x); {
	case !v.IsValid() || v.Type().Name() == v.Kind().String():
	case v.Kind() == reflect.String:
		return fmt.Sprintf(`%T("%s")`, x, x)
	case v.Kind() < reflect.Array:
		return fmt.Sprintf("%T(%v)", x, x)
	}
	return fmt.Sprint(x)
}
