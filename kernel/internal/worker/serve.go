package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/display"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/nb"
	"github.com/branchbook/branchbook/kernel/nb/gonbui"
)

// Cells are what a child runs cells with.
type Cells struct {
	Scope   Scope
	Engine  engine.Engine
	Modules *modules.Set // what Scope imports third-party packages from
}

// Scope checks cells against the names of earlier ones.
type Scope interface {
	Check(n int, source string) (*cell.Cell, error)
	Commit(c *cell.Cell)
	Forget(names ...string) (unknown []string)
}

// socketFD is where a child finds its socket.
const socketFD = 3

// maxStack ends an endless recursion before it has eaten the machine's
// memory. Go's own limit is 1 GB.
const maxStack = 256 << 20

// Serve is the child: it opens a scope and an engine and runs the cells that
// the parent sends, until the parent hangs up. Then it returns, also while a
// cell runs; the caller ends the process.
func Serve(open func() (Cells, error)) error {
	// An interrupt comes as a frame. A signal is for the parent, whatever
	// process group it was sent to. It is caught, not ignored: what cells start
	// would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	// A cell that prints when the parent is gone gets an error, so that there is
	// time to end what it started.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Unsetenv("GOTRACEBACK") // was for us, not for what cells start
	debug.SetMaxStack(maxStack)
	prepareFlags()
	if dir, err := os.Getwd(); err == nil {
		tellDir(dir)
	}
	if n := os.Getenv(seedVariable); n != "" {
		if _, err := seed(n); err != nil {
			return fmt.Errorf("worker: serve: %s: %w", seedVariable, err)
		}
	}
	sock := os.NewFile(socketFD, "parent")
	if _, err := sock.Stat(); err != nil {
		return errors.New("worker: serve: no parent on descriptor 3: this process is started by the kernel")
	}
	syscall.CloseOnExec(socketFD)

	s := &server{
		sock: sock, ack: make(chan struct{}, 1), jobs: make(chan Job, 1),
		stdin: openStdin(), asking: make(chan struct{}, 1), answers: make(chan Answer, 1),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.work(open)
	ended := make(chan error, 1)
	go func() { ended <- s.read() }()
	orphaned := make(chan os.Signal, 1)
	signal.Notify(orphaned, parentDied)
	select {
	case err := <-ended:
		endFamily(!hungUp(0))
		return err
	case <-orphaned:
		endFamily(!hungUp(time.Second))
		return nil
	}
}

type server struct {
	sock *os.File
	ack  chan struct{}
	jobs chan Job

	stdin   *stdin        // nil where it is empty
	asking  chan struct{} // holds a token while an Ask waits for its answer
	asked   int           // the last Ask's number; for who holds the token
	answers chan Answer

	showMu  sync.Mutex // one Show waits for its acknowledgement
	writeMu sync.Mutex // a frame is written whole

	mu     sync.Mutex // guards what follows
	n      int        // the running job; 0 for none
	ctx    context.Context
	cancel context.CancelFunc
}

// read handles the parent's frames.
func (s *server) read() error {
	r := bufio.NewReader(s.sock)
	for {
		k, payload, err := readFrame(r)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
				return nil // the parent hung up or died
			}
			return fmt.Errorf("worker: serve: %w", err)
		}
		switch k {
		case kindRun:
			var j Job
			if err := decodeFrame(k, payload, &j); err != nil {
				return err
			}
			s.begin(j.N) // before the next frame, which may interrupt it
			s.jobs <- j
		case kindInterrupt:
			var i interruptFrame
			if err := decodeFrame(k, payload, &i); err != nil {
				return err
			}
			s.interrupt(i.N)
		case kindAck:
			s.ack <- struct{}{}
		case kindComm:
			var c Comm
			if err := decodeFrame(k, payload, &c); err != nil {
				return err
			}
			nb.ReceiveComm(c.Type, c.ID, c.Target, nb.CommMessage{Data: c.Data, Metadata: c.Metadata, Buffers: c.Buffers})
		case kindAnswer:
			var a Answer
			if err := decodeFrame(k, payload, &a); err != nil {
				return err
			}
			select {
			case <-s.answers: // which came too late
			default:
			}
			s.answers <- a
		}
	}
}

func (s *server) begin(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n = n
	s.ctx, s.cancel = context.WithCancel(context.Background())
}

func (s *server) interrupt(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == n {
		s.cancel()
	}
}

// work runs jobs, one at a time.
func (s *server) work(open func() (Cells, error)) {
	cells, err := open()
	if err != nil {
		s.write(kindHello, Hello{Error: err.Error()})
		return
	}
	nb.Attach(host{s})
	gonbui.IsNotebook = true
	s.write(kindHello, Hello{})
	for j := range s.jobs {
		s.mu.Lock()
		ctx, cancel := s.ctx, s.cancel
		s.mu.Unlock()
		if s.stdin != nil {
			s.stdin.mentions(j)
		}
		end := s.watch(ctx, cancel)
		d := run(ctx, cells, j)
		refused, closed := end()
		if closed {
			d.interrupted(io.EOF)
		}
		if refused != "" {
			var frames []Frame
			if d.Failure != nil {
				frames = d.Failure.Frames
			}
			d = Done{N: j.N, Took: d.Took, Failure: &Failure{Kind: InputRefused, Message: refused, Frames: frames}}
		}
		nb.CellEnded(d.how())
		s.finish(d)
	}
}

// how says in a word how a job ended; "" means well.
func (d *Done) how() string {
	switch {
	case d.Failure != nil && d.Failure.Kind == string(engine.Interrupt):
		return "cancelled"
	case d.Failure != nil || d.Error != nil:
		return "failed"
	}
	return ""
}

// finish sends d; if its result cannot travel, it says so in its place.
func (s *server) finish(d Done) {
	s.mu.Lock()
	s.n = 0
	s.mu.Unlock()
	if err := s.write(kindDone, d); err != nil && !errors.Is(err, errWrite) {
		d.Result = map[string]any{"text/plain": fmt.Sprintf("(the value cannot be shown: %v)", err)}
		s.write(kindDone, d)
	}
}

func run(ctx context.Context, cells Cells, j Job) Done {
	j.Settings.restore(cells)
	if j.Command != nil && j.Command.Name == "rm" {
		cells.Scope.Forget(strings.Fields(j.Command.Args)...) // the parent says which it knows not
		return Done{N: j.N}
	}
	if j.Command != nil {
		return command(ctx, cells, j)
	}
	c, err := cells.Scope.Check(j.N, j.Source)
	if err != nil { // the parent has checked: its scope and ours differ
		return Done{N: j.N, Failure: &Failure{Kind: string(engine.Unsupported), Message: err.Error()}}
	}
	forgetFlags(j.Source)
	began := time.Now()
	out := cells.Engine.Run(ctx, c)
	took := time.Since(began)
	if out.Failure == nil || out.Failure.Kind != engine.Unsupported {
		cells.Scope.Commit(c)
	}
	d := done(j.N, out)
	d.Took = took
	if ctx.Err() != nil {
		d.interrupted(context.Canceled)
	}
	return d
}

// interrupted makes an interrupt of the error by which a call told the cell of
// one: as must and a last value show it.
func (d *Done) interrupted(by error) {
	told := func(message string) bool { return strings.HasSuffix(message, by.Error()) }
	switch {
	case d.Failure != nil && d.Failure.Kind == string(engine.Panic) && told(d.Failure.Message):
		d.Failure.Kind, d.Failure.Message = string(engine.Interrupt), ""
	case d.Error != nil && told(*d.Error):
		d.Error, d.Failure = nil, &Failure{Kind: string(engine.Interrupt)}
	}
}

func done(n int, out engine.Outcome) Done {
	d := Done{N: n}
	if f := out.Failure; f != nil {
		d.Failure = &Failure{Kind: string(f.Kind), Message: f.Message}
		for _, at := range f.Frames {
			d.Failure.Frames = append(d.Failure.Frames, Frame(at))
		}
		return d
	}
	if message, failed := display.Failure(out.Values); failed {
		d.Error = &message
		return d
	}
	d.Result = display.Result(out.Values)
	if len(out.Values) == 1 {
		d.Metadata = display.Metadata(out.Values[0])
	}
	return d
}

func (s *server) write(k kind, v any) error {
	frame, err := encodeFrame(k, v)
	if err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if _, err := s.sock.Write(frame); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// host shows what cells ask nb to show.
type host struct{ s *server }

func (h host) Show(v any, id string, update bool) {
	show := Show{Op: "display", ID: id, Data: display.Of(v), Metadata: display.Metadata(v)}
	if update {
		show.Op = "update"
	}
	h.send(show)
}

func (h host) Bundle(v any) map[string]any { return display.Of(v) }

func (h host) Clear(wait bool) { h.send(Show{Op: "clear", Wait: wait}) }

func (h host) Context() context.Context {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.s.ctx
}

// SendComm is how nb sends comm messages.
func (h host) SendComm(kind, id, target string, m nb.CommMessage) error {
	return h.send(Show{Op: "comm", Comm: &Comm{Type: kind, ID: id, Target: target, Data: m.Data, Metadata: m.Metadata, Buffers: m.Buffers}})
}

// CommTarget is how nb says which comms can be opened.
func (h host) CommTarget(name string, there bool) { h.send(Show{Op: "target", ID: name, There: there}) }

// send waits until the parent has forwarded the frame, so that what the cell
// prints next comes after it.
func (h host) send(show Show) error {
	h.s.showMu.Lock()
	defer h.s.showMu.Unlock()
	err := h.s.write(kindShow, show)
	if err != nil && !errors.Is(err, errWrite) && show.Comm == nil {
		show.Data = map[string]any{"text/plain": fmt.Sprintf("(cannot be shown: %v)", err)}
		err = h.s.write(kindShow, show)
	}
	if err == nil {
		<-h.s.ack
	}
	return err
}
