package vm

import (
	"go/types"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// Calls from compiled code.
//
// A function whose parameters and results are of a common shape, see native.go,
// is entered by code for that shape: incoming.go has it for func values, and for
// methods, whose first word is the data word of an interface. The others, and
// calls on goroutines of compiled code, go through package reflect.

// entrance is how words come into a frame and out of it.
type entrance struct {
	shape   string // empty if it is not a common one
	in, out []part
}

// entrance is that of the functions with the layout; the first parameters that
// it leaves out are not words.
func (l *layout) entrance(from int) entrance {
	var e entrance
	var shape strings.Builder
	ok := true
	for _, p := range l.params[from:] {
		ok = ok && eachWord(p.typ, p.off, func(c byte, off, size uintptr) {
			shape.WriteByte(c)
			e.in = append(e.in, part{off, size})
		})
	}
	shape.WriteByte('>')
	for _, r := range l.results {
		ok = ok && eachWord(r.typ, r.off, func(c byte, off, size uintptr) {
			shape.WriteByte(c)
			e.out = append(e.out, part{off, size})
		})
	}
	if ok {
		if s := shape.String(); from == 0 && incoming[s] != nil || from > 0 && incomingMethods[s] != nil {
			e.shape = s
		}
	}
	return e
}

// begin makes the frame of a call; it is nil on a goroutine that is no thread.
func (p *closure) begin() *frame {
	c := p.code
	t := c.e.threads.load(rtype.Goroutine())
	if t == nil {
		return nil
	}
	fr := t.frame(c)
	fr.closure = unsafe.Pointer(p)
	return fr
}

// words are where the arguments and results lie.
func (p *closure) words() *entrance { return &p.code.enter }

// slow is the closure as a function of package reflect's making.
func (p *closure) slow() unsafe.Pointer {
	return rtype.FuncPointer(reflect.MakeFunc(p.code.typ, hookOf(p)))
}

// runCallback runs a frame that begin made, and whose arguments are set. The
// results can be read until the thread makes another one.
func (fr *frame) runCallback() {
	t := fr.t
	caller, native := t.top, t.native
	t.native = 0
	t.enterFrame(caller, fr)
	fr.code.exec(fr)
	t.top, t.native = caller, native
	t.release(fr)
}

// callback runs the closure for package reflect.
func (p *closure) callback(args []reflect.Value) []reflect.Value {
	c := p.code
	t, done := c.e.enter()
	defer done()
	fr := t.frame(c)
	fr.closure = unsafe.Pointer(p)
	for i, v := range c.sig.params {
		reflect.NewAt(v.typ, slot(fr, v.off)).Elem().Set(args[i])
	}
	return fr.callback()
}

// callback runs a frame for package reflect.
func (fr *frame) callback() []reflect.Value {
	fr.runCallback()
	r := make([]reflect.Value, len(fr.code.sig.results))
	for i, v := range fr.code.sig.results {
		p := reflect.New(v.typ)
		rtype.Move(rtype.Of(v.typ), p.UnsafePointer(), slot(fr, v.off))
		r[i] = p.Elem()
	}
	return r
}

// method is a method for compiled callers. Its first argument is the data word
// of an interface, or the receiver.
type method struct {
	e      *Engine
	find   func() *function
	recv   reflect.Type
	rt     *rtype.Type
	how    kind
	direct bool // the receiver is the data word
	word   bool
	typ    reflect.Type // of the func value
	enter  entrance
}

// methodFunc is the func value of a method.
func (e *Engine) methodFunc(s *types.Selection, sig, recv reflect.Type, word bool) reflect.Value {
	first := recv
	if word {
		first = reflect.TypeFor[unsafe.Pointer]()
	}
	in := []reflect.Type{first}
	for t := range sig.Ins() {
		in = append(in, t)
	}
	var out []reflect.Type
	for t := range sig.Outs() {
		out = append(out, t)
	}
	rt := rtype.Of(recv)
	m := &method{
		e: e, recv: recv, rt: rt, how: kindOf(recv), direct: rt.Direct(), word: word,
		find: sync.OnceValue(func() *function { return e.method(s) }),
		typ:  reflect.FuncOf(in, out, sig.IsVariadic()),
	}
	if word {
		l := newLayout(startFrame(), append([]reflect.Type{recv}, in[1:]...), out)
		if m.enter = l.entrance(1); m.enter.shape != "" {
			f := incomingMethods[m.enter.shape](m)
			return reflect.NewAt(m.typ, unsafe.Pointer(&f)).Elem()
		}
	}
	return reflect.MakeFunc(m.typ, m.callback)
}

// begin makes the frame of a call with the receiver in it; it is nil on a
// goroutine that is no thread.
func (m *method) begin(data unsafe.Pointer) *frame {
	t := m.e.threads.load(rtype.Goroutine())
	if t == nil {
		return nil
	}
	fr := t.frame(m.find().code())
	m.receive(fr, data)
	return fr
}

// receive sets the receiver to what a data word holds.
func (m *method) receive(fr *frame, data unsafe.Pointer) {
	to := slot(fr, fr.code.sig.params[0].off)
	if m.direct {
		*(*unsafe.Pointer)(to) = data
		return
	}
	touch(data)
	copyValue(m.how, m.rt, to, data)
}

func (m *method) words() *entrance { return &m.enter }

// slow is the method as a function of package reflect's making.
func (m *method) slow() unsafe.Pointer {
	return rtype.FuncPointer(reflect.MakeFunc(m.typ, m.callback))
}

// callback runs the method for package reflect.
func (m *method) callback(args []reflect.Value) []reflect.Value {
	t, done := m.e.enter()
	defer done()
	fr := t.frame(m.find().code())
	if m.word {
		m.receive(fr, args[0].UnsafePointer())
	} else {
		reflect.NewAt(m.recv, slot(fr, fr.code.sig.params[0].off)).Elem().Set(args[0])
	}
	for i, v := range fr.code.sig.params[1:] {
		reflect.NewAt(v.typ, slot(fr, v.off)).Elem().Set(args[i+1])
	}
	return fr.callback()
}
