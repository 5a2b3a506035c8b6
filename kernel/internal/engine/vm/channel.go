package vm

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// Channel operations that would block also wait for the end of the cell.

func (k *compiler) send(i *ssa.Send) op {
	ch, x, here := k.slot(i.Chan), k.slot(i.X), k.spot(i.Pos())
	t, own := k.typ(i.Chan), own(i.Chan.Type())
	return func(fr *frame) {
		fr.at = here
		if c := *at[unsafe.Pointer](fr, ch); c != nil && rtype.ChanSend(c, slot(fr, x), true) {
			return
		}
		fr.wait(own, reflect.SelectCase{Dir: reflect.SelectSend, Chan: chanValue(t, fr, ch), Send: reflect.NewAt(t.Elem(), slot(fr, x)).Elem()})
	}
}

// chanValue is the channel in a slot, as one that can be used both ways.
func chanValue(t reflect.Type, fr *frame, off uintptr) reflect.Value {
	return reflect.NewAt(reflect.ChanOf(reflect.BothDir, t.Elem()), slot(fr, off)).Elem()
}

func (k *compiler) receive(v *ssa.UnOp) op {
	ch, here, t, own := k.slot(v.X), k.spot(v.Pos()), k.typ(v.X), own(v.X.Type())
	var z, ok uintptr
	if v.CommaOk {
		z, ok = k.tuples[v][0].off, k.tuples[v][1].off
	} else {
		z = k.slot(v)
	}
	return func(fr *frame) {
		fr.at = here
		if c := *at[unsafe.Pointer](fr, ch); c != nil {
			if selected, received := rtype.ChanReceive(c, true, slot(fr, z)); selected {
				if v.CommaOk {
					*at[bool](fr, ok) = received
				}
				return
			}
		}
		x, received := fr.wait(own, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: chanValue(t, fr, ch)})
		reflect.NewAt(t.Elem(), slot(fr, z)).Elem().Set(x)
		if v.CommaOk {
			*at[bool](fr, ok) = received
		}
	}
}

// wait blocks until a channel operation is done.
func (fr *frame) wait(own bool, c reflect.SelectCase) (reflect.Value, bool) {
	_, x, ok := fr.choose(own, []reflect.SelectCase{c})
	return x, ok
}

// choose blocks until one of several operations is done; own says that only
// cells' code can see to that.
func (fr *frame) choose(own bool, cases []reflect.SelectCase) (i int, x reflect.Value, ok bool) {
	n := len(cases)
	if !fr.t.e.inBubble() {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(fr.t.run.stop)})
	}
	wait := func() { i, x, ok = reflect.Select(cases) }
	if own {
		fr.t.sleeps(wait)
	} else {
		wait()
	}
	if i == n || fr.t.run.stopping.Load() {
		fr.t.halt()
	}
	return i, x, ok
}

func (k *compiler) choose(v *ssa.Select) op {
	type state struct {
		dir      reflect.SelectDir
		ch, send uintptr
		t        reflect.Type
		z        value // where a received value goes
	}
	var states []state
	r := k.tuples[v]
	received := 2
	all := true
	for _, s := range v.States {
		all = all && own(s.Chan.Type())
		st := state{dir: reflect.SelectRecv, ch: k.slot(s.Chan), t: k.typ(s.Chan)}
		if s.Dir == types.SendOnly {
			st.dir, st.send = reflect.SelectSend, k.slot(s.Send)
		} else {
			st.z = r[received]
			received++
		}
		states = append(states, st)
	}
	index, recvOK, here := r[0].off, r[1].off, k.spot(v.Pos())
	return func(fr *frame) {
		fr.at = here
		cases := make([]reflect.SelectCase, len(states), len(states)+1)
		for i, s := range states {
			cases[i] = reflect.SelectCase{Dir: s.dir, Chan: chanValue(s.t, fr, s.ch)}
			if s.dir == reflect.SelectSend {
				cases[i].Send = reflect.NewAt(s.t.Elem(), slot(fr, s.send)).Elem()
			}
		}
		var i int
		var x reflect.Value
		var ok bool
		if v.Blocking {
			i, x, ok = fr.choose(all, cases)
		} else if i, x, ok = reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectDefault})); i == len(cases) {
			i = -1
		}
		*at[int](fr, index) = i
		*at[bool](fr, recvOK) = ok
		for j, s := range states {
			if s.dir == reflect.SelectRecv {
				to := reflect.NewAt(s.z.typ, slot(fr, s.z.off)).Elem()
				if j == i {
					to.Set(x)
				} else {
					to.SetZero()
				}
			}
		}
	}
}

func (k *compiler) spawn(i *ssa.Go) op {
	here := k.spot(i.Pos())
	make := k.prepared(&i.Call, here)
	name := ""
	if at, ok := k.c.place(i.Pos()); ok && at.Cell != 0 {
		name = fmt.Sprintf("In[%d], line %d", at.Cell, at.Line)
	} else if ok {
		name = fmt.Sprintf("%s:%d", at.File, at.Line)
	}
	return func(fr *frame) {
		fr.at = here
		t := &thread{e: fr.t.e, run: fr.t.run, name: name}
		t.e.start(t, make(fr, t))
	}
}
