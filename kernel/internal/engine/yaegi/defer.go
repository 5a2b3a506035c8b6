package yaegi

import (
	"sync"
	"time"
)

// D holds the deferred calls of one running interpreted function.
type D struct {
	r        *runner
	fs       []func()
	panicked bool
	val      any
	earlier  []string // messages of panics that ended in that with val
	// recovered is set from Recover to the end of the deferred call that called
	// it.
	recovered bool
}

// Add defers a call.
func (d *D) Add(f func()) { d.fs = append(d.fs, f) }

// Recover is recover() in a deferred literal of the function.
func (d *D) Recover() any {
	if !d.panicked {
		return nil
	}
	d.panicked, d.recovered = false, true
	d.r.unwound(goid())
	d.earlier = d.r.take().earlier
	return mend(d.val)
}

// runner runs functions that defer.
type runner struct {
	*tracer
	mu      sync.Mutex
	running map[string]*D // whose deferred call a goroutine is in

	panicking map[string]bool // goroutines whose panics run deferred calls
	calm      chan struct{}   // closed when there are none
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
		if d.panicked {
			d.earlier = r.earlier(g)
			r.unwinds(g)
		}
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
			d.panics(g, x)
		}
		d.recovered = false
	}()
	f()
}

// panics notes that a deferred call panicked with x.
func (d *D) panics(g string, x any) {
	again := d.recovered && panicMessage(d.val) == panicMessage(x)
	switch {
	case again:
	case d.recovered:
		d.earlier = append(d.earlier, panicMessage(d.val)+" [recovered]")
	case d.panicked:
		d.earlier = append(d.earlier, panicMessage(d.val))
	}
	d.earlier = d.r.follows(g, d.earlier, again)
	d.panicked, d.val = true, x
	d.r.unwinds(g)
}

// unwinds notes that goroutine g panics: its deferred calls may let the cell
// end before the panic is known.
func (r *runner) unwinds(g string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.panicking) == 0 {
		r.panicking, r.calm = map[string]bool{}, make(chan struct{})
	}
	r.panicking[g] = true
}

// unwound notes that the panic of goroutine g was recovered, or is the cell's.
func (r *runner) unwound(g string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.panicking[g] {
		if delete(r.panicking, g); len(r.panicking) == 0 {
			close(r.calm)
		}
	}
}

// settle waits for the panics of goroutines that are under way, but not long:
// a deferred call may take its time, and compiled code may have recovered one.
func (r *runner) settle() {
	r.mu.Lock()
	n, calm := len(r.panicking), r.calm
	r.mu.Unlock()
	if n == 0 {
		return
	}
	select {
	case <-calm:
	case <-time.After(200 * time.Millisecond):
		r.mu.Lock()
		r.panicking = nil
		r.mu.Unlock()
	}
}
