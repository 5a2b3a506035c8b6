package vm

import (
	"fmt"
	"sync"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// thread is the thread of the calling goroutine.
func (e *Engine) thread() *thread {
	if t, ok := e.threads.Load(rtype.Goroutine()); ok {
		return t.(*thread)
	}
	return &thread{e: e, run: e.now()}
}

// exit is os.Exit: it ends the cell, which no deferred call or recover sees.
func (e *Engine) exit(code int) {
	t := e.thread()
	t.run.fail(&engine.Failure{Kind: engine.Exit, Message: fmt.Sprintf("exit status %d", code)})
	t.run.halt()
	t.halt()
}

// sleep is time.Sleep; the end of the cell ends it.
func (e *Engine) sleep(d time.Duration) {
	r := e.thread()
	w := time.NewTimer(d)
	defer w.Stop()
	select {
	case <-w.C:
	case <-r.run.stop:
		r.halt()
	}
}

// block calls wait, which the end of the cell leaves behind; undo is called if
// wait returns after that.
func (e *Engine) block(wait, undo func()) {
	t := e.thread()
	done := make(chan any)
	left := make(chan struct{})
	go func() {
		x := caught(wait)
		select {
		case done <- x:
		case <-left:
			undo()
		}
	}()
	select {
	case x := <-done:
		if x != nil {
			panic(x)
		}
	case <-t.run.stop:
		close(left)
		t.halt()
	}
}

func (e *Engine) waitGroup(w *sync.WaitGroup) { e.block(w.Wait, func() {}) }

func (e *Engine) lockMutex(m *sync.Mutex) {
	if !m.TryLock() {
		e.block(m.Lock, m.Unlock)
	}
}

func (e *Engine) lockWriter(m *sync.RWMutex) {
	if !m.TryLock() {
		e.block(m.Lock, m.Unlock)
	}
}

func (e *Engine) lockReader(m *sync.RWMutex) {
	if !m.TryRLock() {
		e.block(m.RLock, m.RUnlock)
	}
}
