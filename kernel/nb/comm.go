package nb

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// A Comm is a conversation between Go code and the page that shows the
// notebook, in messages that both may send at any time ("Custom Messages" of
// Jupyter's protocol).
//
// Functions that get messages run one at a time, in their order, in a goroutine
// of their own: also while a cell runs. What they print goes to the cell that
// ran last.
type Comm struct {
	id, target string

	mu      sync.Mutex
	closed  bool
	message func(CommMessage)
	end     func(CommMessage)
}

// CommMessage is what a message of a Comm says. Its maps have what
// encoding/json makes of JSON; any may be nil.
type CommMessage struct {
	Data     map[string]any
	Metadata map[string]any
	Buffers  [][]byte // binary data
}

// ErrCommClosed is the error of sending with a Comm that is closed.
var ErrCommClosed = errors.New("nb: send a comm message: the comm is closed")

// CommTarget has opened called for each comm that the page opens to the target
// of that name; nil takes the target away. In opened, OnMessage and OnClose say
// what to do with what comes.
//
//	nb.CommTarget("echo", func(c *nb.Comm, m nb.CommMessage) {
//		c.OnMessage(func(m nb.CommMessage) { c.Send(m.Data) })
//	})
func CommTarget(name string, opened func(*Comm, CommMessage)) {
	comms.mu.Lock()
	if opened == nil {
		delete(comms.targets, name)
	} else {
		comms.targets[name] = opened
	}
	comms.mu.Unlock()
	if h := host.Load(); h != nil {
		(*h).CommTarget(name, opened != nil)
	}
}

// OpenComm opens a comm to what the page has registered as the target.
func OpenComm(target string, data map[string]any) (*Comm, error) {
	return openComm(NewID(), target, CommMessage{Data: data}, nil)
}

// openComm opens a comm whose messages are for message from the first on.
func openComm(id, target string, m CommMessage, message func(CommMessage)) (*Comm, error) {
	c := &Comm{id: id, target: target, message: message}
	comms.mu.Lock()
	comms.open[id] = c
	comms.mu.Unlock()
	if err := sendComm("comm_open", id, target, m); err != nil {
		c.forget()
		return nil, err
	}
	return c, nil
}

// ID returns the comm's id, which its messages carry.
func (c *Comm) ID() string { return c.id }

// OnMessage has f called for each message that comes.
func (c *Comm) OnMessage(f func(CommMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message = f
}

// OnClose has f called when the page closes the comm.
func (c *Comm) OnClose(f func(CommMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = f
}

// Send sends a message. The data must be what encoding/json can encode.
func (c *Comm) Send(data map[string]any) error { return c.SendMessage(CommMessage{Data: data}) }

// SendMessage sends a message with all that it may have.
func (c *Comm) SendMessage(m CommMessage) error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return ErrCommClosed
	}
	return sendComm("comm_msg", c.id, "", m)
}

// Close ends the comm. It may be called more than once.
func (c *Comm) Close() error {
	if !c.forget() {
		return nil
	}
	return sendComm("comm_close", c.id, "", CommMessage{})
}

// forget reports whether the comm was open.
func (c *Comm) forget() bool {
	comms.mu.Lock()
	delete(comms.open, c.id)
	comms.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	was := !c.closed
	c.closed = true
	return was
}

func sendComm(kind, id, target string, m CommMessage) error {
	h := host.Load()
	if h == nil {
		return errors.New("nb: send a comm message: there is no notebook")
	}
	return (*h).SendComm(kind, id, target, m)
}

// comms are this process's.
var comms = struct {
	mu      sync.Mutex
	targets map[string]func(*Comm, CommMessage)
	open    map[string]*Comm

	waiting []func() // calls of what gets messages, in their order
	calling bool     // somebody makes them
}{targets: map[string]func(*Comm, CommMessage){}, open: map[string]*Comm{}}

// ReceiveComm takes a message from the page; the worker calls it. kind is the
// message's type. It does not wait for who gets the message.
func ReceiveComm(kind, id, target string, m CommMessage) {
	comms.mu.Lock()
	defer comms.mu.Unlock()
	comms.waiting = append(comms.waiting, func() { receiveComm(kind, id, target, m) })
	if !comms.calling {
		comms.calling = true
		go callComms()
	}
}

func callComms() {
	for {
		comms.mu.Lock()
		if len(comms.waiting) == 0 {
			comms.waiting, comms.calling = nil, false
			comms.mu.Unlock()
			return
		}
		call := comms.waiting[0]
		comms.waiting = comms.waiting[1:]
		comms.mu.Unlock()
		done := make(chan struct{})
		go func() { // which the call may end, by runtime.Goexit or as an engine ends code
			defer close(done)
			call()
		}()
		<-done
	}
}

func receiveComm(kind, id, target string, m CommMessage) {
	comms.mu.Lock()
	c, opened := comms.open[id], comms.targets[target]
	comms.mu.Unlock()
	// A panic is that function's own; the messages go on.
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "panic in what gets the messages of a comm: %v\n", r)
		}
	}()
	switch {
	case kind == "comm_open" && opened == nil: // it was taken away meanwhile
		sendComm("comm_close", id, "", CommMessage{})
	case kind == "comm_open":
		c = &Comm{id: id, target: target}
		comms.mu.Lock()
		comms.open[id] = c
		comms.mu.Unlock()
		opened(c, m)
	case c == nil: // is closed, which the page will hear
	case kind == "comm_msg":
		c.mu.Lock()
		f := c.message
		c.mu.Unlock()
		if f != nil {
			f(m)
		}
	case kind == "comm_close":
		c.mu.Lock()
		f := c.end
		c.mu.Unlock()
		if c.forget() && f != nil {
			f(m)
		}
	}
}
