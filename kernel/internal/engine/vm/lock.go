package vm

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Waiting for a lock must end with the cell, and nothing may be left in the
// lock's own queue then: the variable is the next cell's, which may make it zero.
// So cells wait in a queue of ours, and look again when the lock is given back,
// or after a moment, for compiled code gives back without a word.

// parking is where threads wait for what lies at an address.
type parking struct {
	waiting atomic.Int64
	mu      sync.Mutex
	at      map[unsafe.Pointer][]chan struct{} // the one that waits longest first
}

func (p *parking) enter(at unsafe.Pointer) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at = map[unsafe.Pointer][]chan struct{}{}
	}
	c := make(chan struct{})
	p.at[at] = append(p.at[at], c)
	return c
}

// leave reports whether c was still waiting.
func (p *parking) leave(at unsafe.Pointer, c chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.at[at] {
		if other == c {
			p.at[at] = append(p.at[at][:i:i], p.at[at][i+1:]...)
			if len(p.at[at]) == 0 {
				delete(p.at, at)
			}
			return true
		}
	}
	return false
}

// wake wakes up to n threads, and reports whether there was one.
func (p *parking) wake(at unsafe.Pointer, n int) bool {
	if p.waiting.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n = min(n, len(p.at[at])); n == 0 {
		return false
	}
	for _, c := range p.at[at][:n] {
		close(c)
	}
	if p.at[at] = p.at[at][n:]; len(p.at[at]) == 0 {
		delete(p.at, at)
	}
	return true
}

// all is more threads than there are.
const all = 1 << 30

// await waits until try succeeds, or the cell is to end. In a bubble it calls
// wait.
func (e *Engine) await(at unsafe.Pointer, try func() bool, wait func()) {
	if try() {
		return
	}
	if e.inBubble() {
		wait()
		return
	}
	t := e.thread()
	e.parking.waiting.Add(1)
	defer e.parking.waiting.Add(-1)
	t.sleeps(func() {
		for pause := 100 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
			c := e.parking.enter(at)
			if try() {
				e.parking.leave(at, c)
				return
			}
			timer := time.NewTimer(pause)
			select {
			case <-c:
			case <-timer.C:
			case <-t.run.stop:
			}
			timer.Stop()
			e.parking.leave(at, c)
			if t.run.stopping.Load() {
				t.halt()
			}
		}
	})
}

func (e *Engine) lockMutex(m *sync.Mutex)    { e.await(unsafe.Pointer(m), m.TryLock, m.Lock) }
func (e *Engine) lockWriter(m *sync.RWMutex) { e.await(unsafe.Pointer(m), m.TryLock, m.Lock) }
func (e *Engine) lockReader(m *sync.RWMutex) { e.await(unsafe.Pointer(m), m.TryRLock, m.RLock) }

func (e *Engine) unlockMutex(m *sync.Mutex) {
	m.Unlock()
	e.parking.wake(unsafe.Pointer(m), 1)
}

func (e *Engine) unlockWriter(m *sync.RWMutex) {
	m.Unlock()
	e.parking.wake(unsafe.Pointer(m), all)
}

func (e *Engine) unlockReader(m *sync.RWMutex) {
	m.RUnlock()
	e.parking.wake(unsafe.Pointer(m), all)
}

// onceWords is sync.Once's memory.
type onceWords struct {
	done atomic.Bool
	mu   sync.Mutex
}

var _ = [1]struct{}{}[unsafe.Sizeof(sync.Once{})-unsafe.Sizeof(onceWords{})]

// once is sync.Once.Do. What an interrupt ended has not been done.
func (e *Engine) once(o *sync.Once, f func()) {
	w := (*onceWords)(unsafe.Pointer(o))
	if w.done.Load() {
		return
	}
	e.lockMutex(&w.mu)
	defer e.unlockMutex(&w.mu)
	if w.done.Load() {
		return
	}
	t := e.thread()
	defer func() { w.done.Store(!t.run.stopping.Load()) }()
	f()
}

// waitGroup is sync.WaitGroup's memory: the counter is the upper half.
type waitGroup struct{ state atomic.Uint64 }

func count(w *sync.WaitGroup) int32 { return int32((*waitGroup)(unsafe.Pointer(w)).state.Load() >> 32) }

func (e *Engine) waitFor(w *sync.WaitGroup) {
	e.await(unsafe.Pointer(w), func() bool { return count(w) == 0 }, w.Wait)
}

func (e *Engine) add(w *sync.WaitGroup, n int) {
	w.Add(n)
	if count(w) == 0 {
		e.parking.wake(unsafe.Pointer(w), all)
	}
}

func (e *Engine) done(w *sync.WaitGroup) { e.add(w, -1) }

func (e *Engine) goFor(w *sync.WaitGroup, f func()) {
	w.Add(1)
	go func() {
		defer e.done(w)
		f()
	}()
}

// wait is sync.Cond.Wait.
func (e *Engine) wait(c *sync.Cond) {
	if e.inBubble() {
		c.Wait()
		return
	}
	t := e.thread()
	e.parking.waiting.Add(1)
	defer e.parking.waiting.Add(-1)
	woken := e.parking.enter(unsafe.Pointer(c))
	switch l := c.L.(type) {
	case *sync.Mutex:
		e.unlockMutex(l)
	case *sync.RWMutex:
		e.unlockWriter(l)
	default:
		l.Unlock()
	}
	t.sleeps(func() {
		select {
		case <-woken:
		case <-t.run.stop:
			if !e.parking.leave(unsafe.Pointer(c), woken) {
				e.signal(c) // it was for another
			}
			t.halt()
		}
	})
	switch l := c.L.(type) {
	case *sync.Mutex:
		e.lockMutex(l)
	case *sync.RWMutex:
		e.lockWriter(l)
	default:
		l.Lock()
	}
}

func (e *Engine) signal(c *sync.Cond) {
	if !e.parking.wake(unsafe.Pointer(c), 1) {
		c.Signal() // compiled code may wait
	}
}

func (e *Engine) broadcast(c *sync.Cond) {
	e.parking.wake(unsafe.Pointer(c), all)
	c.Broadcast()
}
