package yaegi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// run is one evaluation.
type run struct {
	ctx   context.Context
	stop  chan struct{} // closed when the cell is to end
	ended chan struct{} // closed when its goroutine did
	free  chan struct{} // of a stuck one: closed when cells can run again

	mu      sync.Mutex
	values  []engine.Value
	failure *engine.Failure // the first
	over    bool            // stop is closed
}

// call runs the cell's function.
func (e *Engine) call(r *run, f func()) engine.Outcome {
	go func() {
		defer close(r.ended)
		returned := false
		defer func() {
			x := recover()
			if x != nil {
				e.runner.unwound(goid())
			}
			e.runner.settle()
			tr := e.tracer.take()
			switch {
			case x != nil:
				r.fail(&engine.Failure{Kind: engine.Panic, Message: tr.message(x), Frames: tr.frames})
			case !returned:
				r.fail(&engine.Failure{Kind: engine.Exit, Message: "runtime.Goexit", Frames: tr.frames})
			}
		}()
		f()
		returned = true
	}()
	select {
	case <-r.ended:
	case <-r.ctx.Done():
		f := &engine.Failure{Kind: engine.Interrupt, Message: "interrupted"}
		r.fail(f)
		running := e.goroutines.Load()
		e.interrupt(r)
		switch ended := running - e.goroutines.Load(); {
		case ended == 1:
			f.Message += "; a goroutine that a cell had started has ended too"
		case ended > 1:
			f.Message += fmt.Sprintf("; %d goroutines that cells had started have ended too", ended)
		}
	case <-r.stop:
		e.interrupt(r)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return engine.Outcome{Failure: r.failure}
	}
	return engine.Outcome{Values: r.values}
}

// fail makes f the cell's failure unless it has one.
func (r *run) fail(f *engine.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = f
	}
}

// halt tells a running cell to end.
func (r *run) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over = true
		close(r.stop)
	}
}

// interrupt ends the cell's frames, and with them those of the goroutines that
// are running or waiting on channels.
//
// Frames end when they see that the interpreter's run id is not theirs.
// Channel operations also wait for the done channel: it is never closed,
// because closures of earlier cells hold it, but sent to until the cell ended.
func (e *Engine) interrupt(r *run) {
	r.halt()
	id := e.reach.runID()
	e.reach.stop()
	timeout := time.NewTimer(e.opts.Grace)
	defer timeout.Stop()
	for {
		select {
		case e.reach.done <- struct{}{}:
			continue
		case <-r.ended:
			e.endGoroutines()
			e.reach.resume(id)
			return
		case <-timeout.C:
		}
		break
	}
	r.mu.Lock()
	r.failure = &engine.Failure{Kind: engine.Stuck, Message: "interrupted, but compiled code that the cell called does not return"}
	r.mu.Unlock()
	r.free = make(chan struct{})
	e.stuck = r
	go func() {
		<-r.ended
		e.reach.resume(id)
		close(r.free)
	}()
}

// endGoroutines lets the goroutines of cells see that they are to end, which
// takes those a moment that only now wake up. Some cannot: they are in compiled
// code.
func (e *Engine) endGoroutines() {
	timeout := time.NewTimer(100 * time.Millisecond)
	defer timeout.Stop()
	for e.goroutines.Load() > 0 {
		select {
		case e.reach.done <- struct{}{}:
		case <-time.After(time.Millisecond):
		case <-timeout.C:
			return
		}
	}
}

// waitForStuck returns the failure of a Run while an interrupted cell goes on.
func (e *Engine) waitForStuck() *engine.Failure {
	if e.stuck == nil {
		return nil
	}
	select {
	case <-e.stuck.free:
		e.stuck = nil
		return nil
	case <-time.After(100 * time.Millisecond):
		return &engine.Failure{Kind: engine.Stuck, Message: "an interrupted cell still runs"}
	}
}

// now is the evaluation that runs, or ran last.
func (e *Engine) now() *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == nil {
		return &run{ctx: context.Background(), stop: make(chan struct{})}
	}
	return e.current
}

func (e *Engine) stopping() <-chan struct{} { return e.now().stop }

// end makes f the failure of the cell and ends the calling goroutine; the cell
// follows.
func (e *Engine) end(f *engine.Failure) {
	r := e.now()
	r.fail(f)
	e.goexitNow(r)
}

func (e *Engine) panicked(x any) *engine.Failure {
	tr := e.tracer.take()
	return &engine.Failure{Kind: engine.Panic, Message: tr.message(x), Frames: tr.frames}
}

// goroutinePanicked makes a goroutine's panic the failure of the cell that
// runs, or says it on standard error when none does.
func (e *Engine) goroutinePanicked(f *engine.Failure) {
	f.Message += " [in a goroutine]"
	r := e.now()
	select {
	case <-r.ended:
		engine.Print(f.Late())
	default:
		r.fail(f)
		r.halt()
	}
}
