package vm

import (
	"fmt"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// thread is the thread of the calling goroutine.
func (e *Engine) thread() *thread {
	if t := e.threads.load(rtype.Goroutine()); t != nil {
		return t
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
	if e.inBubble() {
		time.Sleep(d)
		return
	}
	r := e.thread()
	w := time.NewTimer(d)
	defer w.Stop()
	select {
	case <-w.C:
	case <-r.run.stop:
		r.halt()
	}
}
