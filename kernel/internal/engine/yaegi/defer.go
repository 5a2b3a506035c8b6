package yaegi

import (
	"sync"
)

// D holds the deferred calls of one running interpreted function.
type D struct {
	r        *runner
	fs       []func()
	panicked bool
	val      any
}

// Add defers a call.
func (d *D) Add(f func()) { d.fs = append(d.fs, f) }

// Recover is recover() in a deferred literal of the function.
func (d *D) Recover() any {
	if !d.panicked {
		return nil
	}
	d.panicked = false
	d.r.take()
	return mend(d.val)
}

// runner runs functions that defer.
type runner struct {
	*tracer
	mu      sync.Mutex
	running map[string]*D // whose deferred call a goroutine is in
}

// recover is recover() in any other function: it belongs to the deferred call
// that the goroutine is in, if any.
func (r *runner) recover() any {
	g := goid()
	r.mu.Lock()
	d := r.running[g]
	r.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Recover()
}

// run runs the body of a function, then its deferred calls.
func (r *runner) run(body func(*D)) {
	d := &D{r: r}
	defer func() {
		if x := recover(); x != nil {
			d.panicked, d.val = true, x
		}
		g := goid()
		for len(d.fs) > 0 {
			f := d.fs[len(d.fs)-1]
			d.fs = d.fs[:len(d.fs)-1]
			r.deferred(d, g, f)
		}
		if d.panicked {
			panic(d.val)
		}
	}()
	body(d)
}

func (r *runner) deferred(d *D, g string, f func()) {
	r.mu.Lock()
	outer := r.running[g]
	r.running[g] = d
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		if outer == nil {
			delete(r.running, g)
		} else {
			r.running[g] = outer
		}
		r.mu.Unlock()
		if x := recover(); x != nil {
			d.panicked, d.val = true, x
		}
	}()
	f()
}
