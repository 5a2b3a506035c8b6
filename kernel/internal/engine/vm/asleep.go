package vm

import (
	"go/types"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A deadlock is seen when all threads wait, for half a second, for what only
// threads can do. Where compiled code might do it there is none: while it has
// goroutines beside those that were there before the cell, once a cell has used
// a function that calls back later, and for channels of its own.

// lookEvery is how often a running cell is looked at.
const lookEvery = 20 * time.Millisecond

// stillFor is how long nothing happens before that is a deadlock.
const stillFor = 500 * time.Millisecond

// later are compiled functions that call back, or send, at a time of their own.
var later = map[string]bool{
	"time.AfterFunc": true, "context.AfterFunc": true, "os/signal.Notify": true,
	"runtime.SetFinalizer": true, "runtime.AddCleanup": true,
	// by what the page says
	"github.com/branchbook/branchbook/kernel/nb.CommTarget": true, "github.com/branchbook/branchbook/kernel/nb.OpenComm": true,
	"github.com/branchbook/branchbook/kernel/nb.NewSlider": true, "github.com/branchbook/branchbook/kernel/nb.NewButton": true,
}

// sleeps calls wait, which only other threads can end, and says so meanwhile.
func (t *thread) sleeps(wait func()) {
	t.naps.Add(1)
	defer t.naps.Add(1)
	wait()
}

// asleep reports whether all threads wait, and how often they began to.
func (e *Engine) asleep() (all bool, naps uint64, threads int) {
	all = true
	e.threads.each(func(t *thread) bool {
		n := t.naps.Load()
		all = all && n%2 == 1
		naps += n
		threads++
		return all
	})
	return all, naps, threads
}

// watch looks for a deadlock; it is called every lookEvery.
func (r *run) watch(e *Engine) {
	all, naps, threads := e.asleep()
	if !all || threads == 0 || e.later.Load() || naps != r.naps || runtime.NumGoroutine() > r.goroutines+threads {
		r.naps, r.still = naps, time.Now()
		return
	}
	if time.Since(r.still) < stillFor {
		return
	}
	var where []string
	e.threads.each(func(t *thread) bool {
		if t := t; t.name != "" {
			where = append(where, t.name)
		}
		return true
	})
	text := "all goroutines are asleep - deadlock!"
	if len(where) > 0 {
		slices.Sort(where)
		text += " Beside the cell itself, those of " + strings.Join(slices.Compact(where), ", ") + "."
	}
	r.exceeded(nil, "%s", text)
}

// own reports whether only cells' code sends to and closes channels of type t.
func own(t types.Type) bool {
	c, ok := t.Underlying().(*types.Chan)
	if !ok {
		return false
	}
	elem := types.Unalias(c.Elem())
	if p, ok := elem.(*types.Pointer); ok {
		elem = types.Unalias(p.Elem())
	}
	if n, ok := elem.(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != "main" {
		return false // as of time.After, signal.Notify
	}
	s, empty := elem.Underlying().(*types.Struct)
	return !(c.Dir() == types.RecvOnly && empty && s.NumFields() == 0) // as of a Context
}
