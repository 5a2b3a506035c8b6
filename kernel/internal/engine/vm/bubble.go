package vm

import (
	"sync"
	"unsafe"
)

// In a bubble of package testing/synctest time goes on when all goroutines wait
// for each other. One that also waited for the end of its cell, or looked from
// time to time, would not do so: there, waiting is Go's own, and an interrupt
// ends a goroutine when it goes on.

// inBubble reports whether the goroutine is in a bubble. A group of one notes it
// in its memory.
func (e *Engine) inBubble() bool {
	if !e.bubbles.Load() {
		return false
	}
	const bubble = 1 << 31
	g := new(sync.WaitGroup)
	g.Add(1)
	defer g.Done()
	return (*waitGroup)(unsafe.Pointer(g)).state.Load()&bubble != 0
}
