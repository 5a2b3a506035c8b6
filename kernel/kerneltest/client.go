package kerneltest

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"
)

// Client is one front end connected to a kernel.
type Client struct {
	tb      testing.TB
	conn    Connection
	session string

	wakeW  *zmq.Socket
	done   chan struct{}
	nextMu sync.Mutex // guards wakeW and out
	out    []outgoing
	ended  bool

	mu      sync.Mutex // guards inbox
	inbox   []Message  // what nobody has asked for yet
	arrived chan struct{}
}

type outgoing struct {
	channel string
	frames  [][]byte
}

// Connect connects a client and waits for the kernel's iopub_welcome, so that
// no output is missed.
func Connect(tb testing.TB, conn Connection) *Client {
	tb.Helper()
	c := &Client{
		tb: tb, conn: conn, session: fmt.Sprintf("client-%d", counter.Add(1)),
		done: make(chan struct{}), arrived: make(chan struct{}, 1),
	}
	opened := make(chan error)
	go c.run(opened)
	if err := <-opened; err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.close)
	c.next("iopub_welcome", func(m Message) bool { return m.Header.MsgType == "iopub_welcome" })
	return c
}

// run owns the sockets.
func (c *Client) run(opened chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.done)
	sockets := map[string]*zmq.Socket{}
	poller := zmq.NewPoller()
	names := map[*zmq.Socket]string{}
	open := func() error {
		for _, s := range []struct {
			name string
			kind zmq.Type
			port int
		}{
			{"shell", zmq.DEALER, c.conn.ShellPort}, {"control", zmq.DEALER, c.conn.ControlPort},
			{"stdin", zmq.DEALER, c.conn.StdinPort}, {"iopub", zmq.SUB, c.conn.IOPubPort},
			{"heartbeat", zmq.DEALER, c.conn.HBPort},
		} {
			socket, err := zmq.NewSocket(s.kind)
			if err != nil {
				return err
			}
			socket.SetLinger(0)
			socket.SetRcvhwm(0)
			if s.kind == zmq.SUB {
				socket.SetSubscribe("")
			} else {
				socket.SetIdentity(c.session)
			}
			socket.SetReconnectIvl(5 * time.Millisecond) // the kernel may not listen yet
			if err := socket.Connect(fmt.Sprintf("%s://%s:%d", c.conn.Transport, c.conn.IP, s.port)); err != nil {
				return err
			}
			sockets[s.name], names[socket] = socket, s.name
			poller.Add(socket, zmq.POLLIN)
		}
		wakeR, err := zmq.NewSocket(zmq.PAIR)
		if err != nil {
			return err
		}
		address := "inproc://" + c.session
		if err := wakeR.Bind(address); err != nil {
			return err
		}
		if c.wakeW, err = zmq.NewSocket(zmq.PAIR); err != nil {
			return err
		}
		sockets["wake"], names[wakeR] = wakeR, "wake"
		poller.Add(wakeR, zmq.POLLIN)
		return c.wakeW.Connect(address)
	}
	err := open()
	opened <- err
	for err == nil {
		events, _ := poller.Poll(-1)
		for _, e := range events {
			for {
				frames, err := e.Socket.RecvMessageBytes(zmq.DONTWAIT)
				if err != nil {
					break
				}
				c.receive(names[e.Socket], frames)
			}
		}
		c.nextMu.Lock()
		out, ended := c.out, c.ended
		c.out = nil
		c.nextMu.Unlock()
		for _, o := range out {
			sockets[o.channel].SendMessage(o.frames)
		}
		if ended {
			break
		}
	}
	for _, s := range sockets {
		s.Close()
	}
	c.nextMu.Lock()
	defer c.nextMu.Unlock()
	c.ended = true
	if c.wakeW != nil {
		c.wakeW.Close()
	}
}

func (c *Client) receive(channel string, frames [][]byte) {
	var m Message
	switch channel {
	case "wake":
		return
	case "heartbeat":
		m = Message{Channel: channel, Content: frames[len(frames)-1]}
	default:
		var err error
		if m, err = unpack(c.conn.Key, channel, frames); err != nil {
			c.tb.Errorf("the kernel sent a bad message on %s: %v\n%q", channel, err, frames)
			return
		}
	}
	c.mu.Lock()
	c.inbox = append(c.inbox, m)
	c.mu.Unlock()
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

// SendFrames sends frames as they are.
func (c *Client) SendFrames(channel string, frames [][]byte) {
	c.nextMu.Lock()
	defer c.nextMu.Unlock()
	if c.ended {
		return
	}
	c.out = append(c.out, outgoing{channel, frames})
	if len(c.out) == 1 { // else it is awake: a full pipe would keep both here
		c.wakeW.SendBytes([]byte{0}, 0)
	}
}

// Frames returns the frames of a signed message, and its id.
func (c *Client) Frames(msgType string, content any) (id string, frames [][]byte) {
	return pack(c.conn.Key, c.session, msgType, content)
}

// Heartbeat fails the test unless the kernel echoes.
func (c *Client) Heartbeat(payload string) {
	c.tb.Helper()
	c.SendFrames("heartbeat", [][]byte{nil, []byte(payload)})
	m := c.next("a heartbeat", func(m Message) bool { return m.Channel == "heartbeat" })
	if string(m.Content) != payload {
		c.tb.Fatalf("the heartbeat is %q, want %q", m.Content, payload)
	}
}

// next takes the first message that matches from the inbox, and waits for it.
func (c *Client) next(what string, match func(Message) bool) Message {
	c.tb.Helper()
	deadline := time.After(Patience)
	for {
		if m, ok := c.take(match); ok {
			return m
		}
		select {
		case <-c.arrived:
		case <-deadline:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.tb.Fatalf("no %s within %v; there is %v", what, Patience, c.inbox)
		}
	}
}

func (c *Client) take(match func(Message) bool) (Message, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range c.inbox {
		if match(m) {
			c.inbox = append(c.inbox[:i:i], c.inbox[i+1:]...)
			return m, true
		}
	}
	return Message{}, false
}

func (c *Client) close() {
	c.nextMu.Lock()
	if !c.ended {
		c.ended = true
		c.wakeW.SendBytes([]byte{0}, 0)
	}
	c.nextMu.Unlock()
	<-c.done
}

// Left takes what came and nobody has asked for: what goroutines of cells print
// behind their cell's idle, say.
func (c *Client) Left() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.inbox
	c.inbox = nil
	return left
}

// SlowSubscriber connects a subscriber of iopub that takes one message at each
// call, and whose queue holds no more than ZeroMQ must have.
func SlowSubscriber(tb testing.TB, conn Connection) (next func() Message) {
	tb.Helper()
	sub, err := zmq.NewSocket(zmq.SUB)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { sub.Close() })
	err = errors.Join(sub.SetRcvhwm(1), sub.SetRcvbuf(4096), sub.SetLinger(0), sub.SetRcvtimeo(Patience), sub.SetSubscribe(""),
		sub.Connect(fmt.Sprintf("%s://%s:%d", conn.Transport, conn.IP, conn.IOPubPort)))
	if err != nil {
		tb.Fatal(err)
	}
	return func() Message {
		tb.Helper()
		frames, err := sub.RecvMessageBytes(0)
		if err != nil {
			tb.Fatalf("no message for a slow subscriber: %v", err)
		}
		m, err := unpack(conn.Key, "iopub", frames)
		if err != nil {
			tb.Fatal(err)
		}
		return m
	}
}
