package socket

import (
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	zmq "github.com/pebbe/zmq4"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// echo sends back what it gets, with the channel's name in front of it.
type echo struct {
	hub   *Hub
	ready chan struct{}
}

func (e *echo) Receive(ch wire.Channel, frames [][]byte) {
	<-e.ready
	e.hub.Send(ch, [][]byte{frames[0], append([]byte(ch.String()+" "), frames[len(frames)-1]...)})
}

func (e *echo) Subscribed(topic []byte) [][]byte {
	return [][]byte{topic, []byte("welcome")}
}

func connection(t *testing.T) wire.Connection {
	t.Helper()
	conn := wire.Connection{Transport: "tcp", IP: "127.0.0.1"}
	for _, p := range []*int{&conn.ShellPort, &conn.ControlPort, &conn.IOPubPort, &conn.StdinPort, &conn.HBPort} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // when all have been chosen
		*p = l.Addr().(*net.TCPAddr).Port
	}
	return conn
}

func serve(t *testing.T) (*Hub, wire.Connection) {
	t.Helper()
	conn := connection(t)
	e := &echo{ready: make(chan struct{})}
	hub, err := Open(conn, e)
	if err != nil {
		t.Fatal(err)
	}
	e.hub = hub
	close(e.ready)
	t.Cleanup(func() { hub.Close() })
	return hub, conn
}

// peer connects a socket of the test's own; it is used by the test's
// goroutine only.
func peer(t *testing.T, kind zmq.Type, port int) *zmq.Socket {
	t.Helper()
	s, err := zmq.NewSocket(kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.SetLinger(0)
	s.SetRcvhwm(0)
	s.SetRcvtimeo(20 * time.Second)
	if kind == zmq.SUB {
		s.SetSubscribe("")
	}
	if err := s.Connect("tcp://127.0.0.1:" + strconv.Itoa(port)); err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, s *zmq.Socket, text string) string {
	t.Helper()
	if _, err := s.SendMessage(text); err != nil {
		t.Fatal(err)
	}
	got, err := s.RecvMessage(0)
	if err != nil {
		t.Fatal(err)
	}
	return got[len(got)-1]
}

func TestEveryChannel(t *testing.T) {
	_, conn := serve(t)
	for _, test := range []struct {
		port int
		want string
	}{
		{conn.ShellPort, "shell hello"}, {conn.ControlPort, "control hello"}, {conn.StdinPort, "stdin hello"}, {conn.HBPort, "hello"},
	} {
		if got := ask(t, peer(t, zmq.DEALER, test.port), "hello"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	// A heartbeat is asked by a REQ socket, too.
	if got := ask(t, peer(t, zmq.REQ, conn.HBPort), "ping"); got != "ping" {
		t.Errorf("the heartbeat is %q", got)
	}
}

func TestSubscribersAreToldApart(t *testing.T) {
	_, conn := serve(t)
	for range 3 { // each one, though all have the same topic
		got, err := peer(t, zmq.SUB, conn.IOPubPort).RecvMessage(0)
		if err != nil || got[1] != "welcome" {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// JEP 65: a client waits for the welcome to know that it misses nothing more.
func TestTheWelcomeComesFirst(t *testing.T) {
	hub, conn := serve(t)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				hub.Send(wire.IOPub, [][]byte{[]byte("status"), []byte("busy")})
				time.Sleep(10 * time.Microsecond) // the queue has no bound
			}
		}
	}()
	for range 30 {
		sub := peer(t, zmq.SUB, conn.IOPubPort)
		for i, want := range []string{"welcome", "busy"} {
			got, err := sub.RecvMessage(0)
			if err != nil || got[1] != want {
				t.Fatalf("message %d is %q, %v, want %s", i, got, err, want)
			}
		}
		sub.Close()
	}
}

func TestManySendersKeepTheirOrder(t *testing.T) {
	hub, conn := serve(t)
	sub := peer(t, zmq.SUB, conn.IOPubPort)
	if _, err := sub.RecvMessage(0); err != nil {
		t.Fatal(err)
	}
	const senders, each = 8, 5000
	for s := range senders {
		go func() {
			for i := range each {
				hub.Send(wire.IOPub, [][]byte{[]byte(strconv.Itoa(s)), []byte(strconv.Itoa(i))})
			}
		}()
	}
	var next [senders]int
	for range senders * each {
		m, err := sub.RecvMessage(0)
		if err != nil {
			t.Fatalf("after %v: %v", next, err)
		}
		s, _ := strconv.Atoi(m[0])
		if m[1] != strconv.Itoa(next[s]) {
			t.Fatalf("sender %d: got %s, want %d", s, m[1], next[s])
		}
		next[s]++
	}
}

func TestPeersThatDoNotSpeak(t *testing.T) {
	for _, test := range []struct {
		name string
		says []byte
	}{
		{"silence", nil},
		{"garbage", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
		// ZMTP 3.0's greeting (23/ZMTP), then silence.
		{"a greeting, then silence", append([]byte("\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00NULL"), make([]byte, 48)...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, conn := serve(t)
			for _, port := range []int{conn.ShellPort, conn.ControlPort, conn.IOPubPort, conn.HBPort} {
				c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				c.Write(test.says)
			}
			began := time.Now()
			if got := ask(t, peer(t, zmq.DEALER, conn.ShellPort), "hello"); got != "shell hello" {
				t.Errorf("got %q", got)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("another client waited %v", took)
			}
		})
	}
}

func TestCloseDeliversWhatIsQueued(t *testing.T) {
	hub, conn := serve(t)
	sub := peer(t, zmq.SUB, conn.IOPubPort)
	if _, err := sub.RecvMessage(0); err != nil {
		t.Fatal(err)
	}
	const n = 1000
	for i := range n {
		hub.Send(wire.IOPub, [][]byte{[]byte("last"), []byte(strconv.Itoa(i))})
	}
	hub.Close()
	hub.Send(wire.IOPub, [][]byte{[]byte("never")})
	for i := range n {
		if m, err := sub.RecvMessage(0); err != nil || m[1] != strconv.Itoa(i) {
			t.Fatalf("message %d is %q, %v", i, m, err)
		}
	}
}

func TestOpenSaysWhatIsInTheWay(t *testing.T) {
	_, conn := serve(t)
	if _, err := Open(conn, &echo{}); err == nil {
		t.Fatal("two hubs share their ports")
	} else if want := fmt.Sprintf("socket: open: bind tcp://127.0.0.1:%d: address already in use", conn.HBPort); err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}
