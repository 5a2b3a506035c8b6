package socket

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	zmq "github.com/pebbe/zmq4"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

const (
	// maxFrame bounds what a peer may make us allocate. Notebook front ends
	// send cells and widget state; files go through the server.
	maxFrame = 256 << 20
	// linger is how long Close waits for peers to take what was sent.
	linger = time.Second
	// batch is how many messages one socket may deliver before the others
	// and the outgoing queue have their turn.
	batch = 256
)

// Handler gets what arrives; its methods are called from one goroutine, the
// one that moves all messages, so they must hand on and return.
type Handler interface {
	// Receive gets a message of the control, shell or stdin channel. It owns frames.
	Receive(ch wire.Channel, frames [][]byte)
	// Subscribed says that a subscriber of iopub asked for topic, and returns
	// the message that it is to get before all others, if any.
	Subscribed(topic []byte) (welcome [][]byte)
}

// Hub is a kernel's bound sockets.
type Hub struct {
	sockets   [wire.IOPub + 1]*zmq.Socket // by channel
	heartbeat *zmq.Socket
	wakeR     *zmq.Socket
	handler   Handler
	context   *zmq.Context
	done      chan struct{}

	mu      sync.Mutex // guards what follows
	queue   []outgoing
	pending bool // a wake byte is under way
	closing bool
	wakeW   *zmq.Socket
}

type outgoing struct {
	channel wire.Channel
	frames  [][]byte
}

// Open binds the sockets that conn names and starts to move messages.
func Open(conn wire.Connection, h Handler) (*Hub, error) {
	hub := &Hub{handler: h, done: make(chan struct{})}
	opened := make(chan error)
	go hub.run(conn, opened)
	if err := <-opened; err != nil {
		return nil, fmt.Errorf("socket: open: %w", err)
	}
	return hub, nil
}

// Send queues one message; frames must not change afterwards. Messages of one
// channel leave in the order of Send. After Close it does nothing.
func (h *Hub) Send(ch wire.Channel, frames [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return
	}
	h.queue = append(h.queue, outgoing{ch, frames})
	h.wake()
}

// wake is called with mu held.
func (h *Hub) wake() {
	if !h.pending {
		h.pending = true
		h.wakeW.SendBytes([]byte{0}, zmq.DONTWAIT) // inproc, one byte at most under way: cannot fail
	}
}

// Close sends what is queued, waits up to a second for peers to take it, and
// frees the sockets. It may be called more than once.
func (h *Hub) Close() error {
	h.mu.Lock()
	if !h.closing {
		h.closing = true
		h.wake()
	}
	h.mu.Unlock()
	<-h.done
	return nil
}

func (h *Hub) run(conn wire.Connection, opened chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(h.done)
	defer h.free()
	err := h.bind(conn)
	opened <- err
	if err == nil {
		h.loop()
	}
}

func (h *Hub) bind(conn wire.Connection) (err error) {
	if h.context, err = zmq.NewContext(); err != nil {
		return err
	}
	for _, s := range []struct {
		at   **zmq.Socket
		kind zmq.Type
		port int
	}{
		{&h.heartbeat, zmq.ROUTER, conn.HBPort},
		{&h.sockets[wire.Control], zmq.ROUTER, conn.ControlPort},
		{&h.sockets[wire.Shell], zmq.ROUTER, conn.ShellPort},
		{&h.sockets[wire.Stdin], zmq.ROUTER, conn.StdinPort},
		{&h.sockets[wire.IOPub], zmq.XPUB, conn.IOPubPort},
	} {
		if *s.at, err = h.open(s.kind); err != nil {
			return err
		}
		if err := (*s.at).SetIpv6(strings.Contains(conn.IP, ":")); err != nil {
			return err
		}
		if err := (*s.at).Bind(conn.Endpoint(s.port)); err != nil {
			return fmt.Errorf("bind %s: %w", conn.Endpoint(s.port), err)
		}
	}
	if h.wakeR, err = h.context.NewSocket(zmq.PAIR); err != nil {
		return err
	}
	if err = h.wakeR.Bind("inproc://wake"); err != nil {
		return err
	}
	if h.wakeW, err = h.context.NewSocket(zmq.PAIR); err != nil {
		return err
	}
	return h.wakeW.Connect("inproc://wake")
}

// open makes a socket that never drops a message of ours (high-water marks 0)
// and takes none that is too big.
func (h *Hub) open(kind zmq.Type) (*zmq.Socket, error) {
	s, err := h.context.NewSocket(kind)
	if err != nil {
		return nil, err
	}
	errs := []error{s.SetSndhwm(0), s.SetRcvhwm(0), s.SetLinger(linger), s.SetMaxmsgsize(maxFrame)}
	switch kind {
	case zmq.XPUB: // every subscription is told, and holds from when we say so
		errs = append(errs, s.SetXpubManual(1))
	case zmq.ROUTER: // a client that comes back takes its identity over
		errs = append(errs, s.SetRouterHandover(true))
	}
	return s, errors.Join(errs...)
}

func (h *Hub) free() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closing = true // wakeW is about to go
	for _, s := range append(h.sockets[:], h.heartbeat, h.wakeR, h.wakeW) {
		if s != nil {
			s.Close()
		}
	}
	if h.context != nil {
		h.context.Term()
	}
}

func (h *Hub) loop() {
	poller := zmq.NewPoller()
	// Control before shell: an interrupt overtakes what it interrupts.
	order := []*zmq.Socket{h.wakeR, h.heartbeat, h.sockets[wire.Control], h.sockets[wire.Shell], h.sockets[wire.Stdin], h.sockets[wire.IOPub]}
	for _, s := range order {
		poller.Add(s, zmq.POLLIN)
	}
	for {
		events, err := poller.Poll(-1)
		if err != nil && zmq.AsErrno(err) != zmq.Errno(syscall.EINTR) {
			return // the context is gone
		}
		for _, e := range events {
			h.receive(e.Socket)
		}
		if last := h.flush(); last {
			return
		}
	}
}

// receive takes at most batch messages from s.
func (h *Hub) receive(s *zmq.Socket) {
	for range batch {
		frames, err := s.RecvMessageBytes(zmq.DONTWAIT)
		if err != nil {
			return // nothing there
		}
		switch s {
		case h.wakeR:
		case h.heartbeat:
			s.SendMessageDontwait(frames) // an echo, routed back by its identity
		case h.sockets[wire.IOPub]:
			h.subscription(frames[0])
		case h.sockets[wire.Control]:
			h.handler.Receive(wire.Control, frames)
		case h.sockets[wire.Shell]:
			h.handler.Receive(wire.Shell, frames)
		case h.sockets[wire.Stdin]:
			h.handler.Receive(wire.Stdin, frames)
		}
	}
}

// subscription acts on what a subscriber sends: 1 and a topic subscribes, 0 and
// a topic ends that (RFC 29, PUBSUB).
func (h *Hub) subscription(frame []byte) {
	if len(frame) == 0 {
		return
	}
	iopub, topic := h.sockets[wire.IOPub], frame[1:]
	switch frame[0] {
	case 0:
		iopub.SetUnsubscribe(string(topic))
	case 1:
		h.flush() // to those who subscribed before
		welcome := h.handler.Subscribed(topic)
		iopub.SetSubscribe(string(topic))
		if welcome != nil {
			iopub.SendMessageDontwait(welcome)
		}
	}
}

// flush sends what is queued, and reports whether that was the last.
func (h *Hub) flush() (last bool) {
	h.mu.Lock()
	queue := h.queue
	h.queue, h.pending, last = nil, false, h.closing
	h.mu.Unlock()
	for _, o := range queue {
		// A ROUTER drops what is for a peer that left, an XPUB what nobody
		// subscribed to; with high-water marks 0 neither would block.
		h.sockets[o.channel].SendMessageDontwait(o.frames)
	}
	return last
}
