package vm

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// deferred is a call that waits for the end of a frame: the callee's frame
// with its arguments.
type deferred struct {
	frame *frame
	next  *deferred
}

// panicking is a panic on its way.
type panicking struct {
	value     any
	stops     []stop
	recovered bool
	during    *panicking // the panic whose deferred call began this one
}

// message is what Go prints: all panics, the first one first.
func (p *panicking) message() string {
	text := panicMessage(p.value)
	q := p.during
	switch {
	case q == nil:
		return text
	case q.recovered && same(p.value, q.value):
		return q.message() + " [recovered, repanicked]"
	case q.recovered:
		return q.message() + " [recovered]\n\tpanic: " + text
	}
	return q.message() + "\n\tpanic: " + text
}

// prepared compiles the evaluation of a call's arguments: what it returns
// makes the frame of the callee, for a thread.
func (k *compiler) prepared(c *ssa.CallCommon, here int32) func(fr *frame, t *thread) *frame {
	args := k.arguments(c)
	if _, builtin := c.Value.(*ssa.Builtin); !builtin && !hasCallee(c) {
		if f := k.e.funcOf(c.StaticCallee()); f.native == nil {
			g := target{args: args, sig: k.e.layoutOf(c.Signature())}
			g.moves()
			return func(fr *frame, t *thread) *frame { return g.fill(fr, t.frame(f.code())) }
		}
	}
	// Everything else is called by a small piece of code of its own, whose
	// parameters are the function and its arguments.
	thunk := &code{e: k.e, id: uint(k.e.codes.Add(1)), name: "", through: true}
	m := startFrame()
	var slots []uintptr
	g := target{}
	add := func(v ssa.Value) {
		t := k.typ(v)
		off := m.Add(t)
		slots = append(slots, off)
		g.in = append(g.in, newMove(off, k.slot(v), t))
	}
	if hasCallee(c) {
		add(c.Value)
	}
	for _, a := range c.Args {
		add(a)
	}
	var results []value
	for v := range c.Signature().Results().Variables() {
		if _, builtin := c.Value.(*ssa.Builtin); builtin {
			break
		}
		t := k.e.types.of(v.Type())
		results = append(results, value{m.Add(t), t})
	}
	inner := &compiler{e: k.e, fn: k.fn, begins: k.begins, c: thunk, memory: m, slots: k.slots, tuples: k.tuples, consts: k.consts}
	pos := k.c.spots[here].pos
	call := inner.callWith(c, slots, results, inner.spot(pos), true)
	thunk.finish(m, nil)
	thunk.body.Store(&body{entry: &block{ops: []op{call}, next: func(*frame) *block { return nil }}})
	invoke := c.IsInvoke()
	return func(fr *frame, t *thread) *frame {
		if invoke {
			fr.at = here
			touch(at[words](fr, args[0]).typ)
		}
		return g.fill(fr, t.frame(thunk))
	}
}

// fill moves the arguments into a callee's frame.
func (g *target) fill(fr, nf *frame) *frame {
	for i := range g.in {
		g.in[i].do(slot(nf, 0), slot(fr, 0))
	}
	return nf
}

func (k *compiler) deferCall(i *ssa.Defer) op {
	make := k.prepared(&i.Call, k.spot(i.Pos()))
	if i.DeferStack != nil {
		stack := k.slot(i.DeferStack)
		return func(fr *frame) {
			to := *at[*frame](fr, stack)
			to.defers = &deferred{make(fr, fr.t), to.defers}
		}
	}
	return func(fr *frame) { fr.defers = &deferred{make(fr, fr.t), fr.defers} }
}

// endOf is the return that deferred calls precede, or the function's brace.
func endOf(i *ssa.RunDefers) token.Pos {
	for _, next := range i.Block().Instrs {
		if r, ok := next.(*ssa.Return); ok && r.Pos().IsValid() {
			return r.Pos()
		}
	}
	if f := i.Parent().Syntax(); f != nil {
		return f.End() - 1
	}
	return token.NoPos
}

// guard runs a frame that has deferred calls.
func guard(fr *frame, b *body) {
	ended := false
	defer func() {
		t := fr.t
		if ended || t.run.stopping.Load() { // halting goes on
			return
		}
		x := recover() // nil while runtime.Goexit ends the goroutine
		var p *panicking
		if x != nil {
			p = t.caught(x)
			t.dies(true)
		}
		t.top, t.native = fr, 0
		if p = fr.runDeferred(p, true); p != nil {
			t.unwinding = p
			panic(p.value)
		}
		if x == nil {
			return
		}
		t.dies(false)
		for _, r := range fr.code.sig.results {
			rtype.Clear(rtype.Of(r.typ), slot(fr, r.off))
		}
		execute(fr, b.recover)
	}()
	execute(fr, b.entry)
	ended = true
}

// runDeferred runs the deferred calls of a frame while p, if any, is on its
// way. It returns the panic that is on its way afterwards; unless caught is
// set, one that a deferred call begins goes its own way.
func (fr *frame) runDeferred(p *panicking, caught bool) *panicking {
	for fr.defers != nil {
		d := fr.defers
		fr.defers = d.next
		if !caught {
			fr.call(d, nil)
			continue
		}
		p = fr.callWhile(d, p)
		if p != nil && p.recovered {
			p = nil
		}
	}
	return p
}

// callWhile runs a deferred call while p is on its way.
func (fr *frame) callWhile(d *deferred, p *panicking) (now *panicking) {
	ended := false
	defer func() {
		if ended || fr.t.run.stopping.Load() {
			return
		}
		x := recover()
		if x != nil {
			now = fr.t.caught(x)
			now.during = p
			fr.t.top, fr.t.native = fr, 0
			return
		}
		fr.runDeferred(nil, true) // runtime.Goexit goes on, the panic is gone
	}()
	fr.call(d, p)
	ended = true
	return p
}

func (fr *frame) call(d *deferred, p *panicking) {
	t, nf := fr.t, d.frame
	t.enterFrame(fr, nf)
	nf.pan, nf.deferred = p, true
	nf.code.exec(nf)
	t.top = fr
	nf.pan, nf.deferred = nil, false
	t.release(nf)
}

// recover is the builtin function: it ends a panic if the frame is that of a
// deferred call which the panic runs.
func (fr *frame) recover() any {
	p := fr.pan
	if p == nil || p.recovered {
		return nil
	}
	p.recovered = true
	return p.value
}
