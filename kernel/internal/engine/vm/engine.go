package vm

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// Options are an engine's.
type Options struct {
	// Importer gives the types of imported packages: the one that cells were
	// checked with.
	Importer types.Importer
	// Symbols are the values of the same packages.
	Symbols engine.Symbols
	// Grace is how long Run waits for an interrupted cell whose code is not
	// compiled; 0 means 1500 ms.
	Grace time.Duration
	// Limits bound what one cell may use.
	Limits engine.Limits
}

// Engine runs the cells of one notebook.
type Engine struct {
	opts    Options
	types   universe
	externs externs
	codes   atomic.Int64
	tables  sync.Map // reflect.Type of an interface to *tables
	threads threads

	// mu guards what compiling changes.
	mu       sync.Mutex
	prog     *ssa.Program
	created  map[*types.Package]bool // packages that prog has
	funcs    map[*ssa.Function]*function
	newer    map[*ssa.Function]*ssa.Function // generic functions that were declared again, to what they are now
	todo     []*code                         // to be compiled
	globals  map[*ssa.Global]unsafe.Pointer
	literals map[*ssa.Function]string        // names of literals that are not compiled yet
	storage  map[types.Object]unsafe.Pointer // of the cells' variables
	sources  map[*types.Package]*source
	named    map[*types.Package]*named // of cells; see forget.go
	declared int                       // types and generic functions, by cells
	library  library
	context  unsafe.Pointer // the variable ctx of In[0]
	refused  error

	showing map[*ssa.Call]*shown

	limits     atomic.Pointer[engine.Limits]
	goroutines atomic.Int64 // that cells started, and that run
	later      atomic.Bool  // compiled code may call back at any time: see asleep.go
	dying      atomic.Int64 // threads in which a panic is on its way
	bubbles    atomic.Bool  // a cell uses package testing/synctest: see bubble.go
	parking    parking

	now_ struct {
		sync.Mutex
		run *run
	}
}

var (
	_ engine.Engine  = (*Engine)(nil)
	_ engine.Limiter = (*Engine)(nil)
)

// Unfit says why the engine does not run in this program; it is empty where it
// does.
func Unfit() string { return rtype.Unfit() }

// New returns an engine without names.
func New(opts Options) (*Engine, error) {
	if why := rtype.Unfit(); why != "" {
		return nil, fmt.Errorf("vm: open engine: %s", why)
	}
	if opts.Grace == 0 {
		opts.Grace = 1500 * time.Millisecond
	}
	e := &Engine{
		opts: opts, created: map[*types.Package]bool{}, funcs: map[*ssa.Function]*function{},
		globals: map[*ssa.Global]unsafe.Pointer{}, literals: map[*ssa.Function]string{}, storage: map[types.Object]unsafe.Pointer{}, showing: map[*ssa.Call]*shown{},
		sources: map[*types.Package]*source{}, named: map[*types.Package]*named{}, newer: map[*ssa.Function]*ssa.Function{},
	}
	e.Limit(opts.Limits)
	e.types.e = e
	e.externs.init(e)
	e.library.e = e
	return e, nil
}

// Close ends what the cells left running, as far as an interrupt can.
func (e *Engine) Close() error {
	e.threads.each(func(t *thread) bool {
		t.run.halt()
		return true
	})
	return nil
}

// Run runs c. See engine.Engine.
//
// Compiled code that does not return does not keep an interrupted cell: see
// stop.go.
func (e *Engine) Run(ctx context.Context, c *cell.Cell) engine.Outcome {
	p, err := e.load(c)
	if err != nil {
		return engine.Outcome{Failure: refusal(err)}
	}
	r := newRun(ctx)
	r.limits = e.Limits()
	r.attend.Store(r.limits.Steps > 0)
	_, _, threads := e.asleep()
	r.goroutines = runtime.NumGoroutine() - threads
	e.now_.Lock()
	e.now_.run = r
	e.now_.Unlock()
	if e.context != nil {
		*(*context.Context)(e.context) = ctx
	}
	return e.call(r, p)
}

func refusal(err error) *engine.Failure {
	f := &engine.Failure{Kind: engine.Unsupported, Message: err.Error()}
	var r *refused
	if errors.As(err, &r) && r.at.Cell != 0 {
		f.Frames = []engine.Frame{r.at}
	}
	return f
}

// now is the evaluation that runs, or ran last; one that no cell has if that
// was stopped, for what calls back from then on is not to be.
func (e *Engine) now() *run {
	e.now_.Lock()
	defer e.now_.Unlock()
	if e.now_.run == nil {
		r := newRun(context.Background())
		close(r.ended)
		return r
	}
	return e.now_.run
}

// call runs a loaded cell.
func (e *Engine) call(r *run, p program) engine.Outcome {
	t := &thread{e: e, run: r}
	r.own = t
	go func() {
		defer close(r.ended)
		g := rtype.Goroutine()
		e.threads.store(g, t)
		returned := false
		defer func() {
			defer e.threads.remove(g) // a method tells what the panic is
			t.dies(false)
			if returned {
				return
			}
			x := recover()
			switch {
			case x == nil:
				r.fail(&engine.Failure{Kind: engine.Exit, Message: "runtime.Goexit", Frames: places(t.stops())})
			case x == any(halting{}):
				r.placeFailure(t)
			default:
				var u unsupported
				p := t.caught(x)
				kind := engine.Panic
				if err, ok := x.(error); ok && errors.As(err, &u) {
					kind = engine.Unsupported
				}
				r.fail(&engine.Failure{Kind: kind, Message: p.message(), Frames: places(p.stops)})
			}
		}()
		for _, v := range p.zero {
			rtype.Clear(v.typ, v.at)
		}
		for _, s := range p.run {
			if s.of != nil {
				e.reset(s.of)
			}
			c := s.f.code()
			fr := t.frame(c)
			t.enterFrame(nil, fr)
			c.exec(fr)
			if s.of != nil {
				s.of.ready = true
			}
		}
		returned = true
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-r.ended:
			e.waitForDying()
			waiting = false
		case <-r.ctx.Done():
			f := &engine.Failure{Kind: engine.Interrupt, Message: "interrupted"}
			r.fail(f)
			left := e.interrupt(r)
			r.mu.Lock()
			f.Message = goesOn(f.Message, left)
			r.mu.Unlock()
			waiting = false
		case <-r.stop:
			e.interrupt(r)
			waiting = false
		case <-tick.C:
			r.watchMemory()
			r.watch(e)
		}
	}
	if r.stopping.Load() {
		e.now_.Lock()
		e.now_.run = nil
		e.now_.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unplaced = nil // what comes now comes too late
	if r.failure != nil {
		return engine.Outcome{Failure: r.failure}
	}
	return engine.Outcome{Values: r.values}
}
