package worker

import (
	"bufio"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ends are the parent's and the child's ends of the socket and the two pipes.
type ends struct {
	sock                          *os.File
	out                           [2]int // the pipes' reading ends, non-blocking
	childSock, childOut, childErr *os.File
}

// pipeSize is asked of the system for each pipe, so that a cell that prints
// much seldom waits. It is Linux's default limit.
const pipeSize = 1 << 20

func openEnds() (ends, error) {
	var e ends
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return e, os.NewSyscallError("socketpair", err)
	}
	e.sock, e.childSock = os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "parent")
	child := []**os.File{&e.childOut, &e.childErr}
	for i := range e.out {
		e.out[i] = -1
	}
	for i := range e.out {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			e.closeChild()
			e.closeParent()
			return e, os.NewSyscallError("pipe2", err)
		}
		unix.SetNonblock(fds[0], true)
		unix.FcntlInt(uintptr(fds[0]), unix.F_SETPIPE_SZ, pipeSize) // as it comes
		e.out[i], *child[i] = fds[0], os.NewFile(uintptr(fds[1]), streamNames[i])
	}
	return e, nil
}

func (e *ends) closeChild() {
	for _, f := range []*os.File{e.childSock, e.childOut, e.childErr} {
		f.Close() // of a nil *os.File: an error, no panic
	}
}

func (e *ends) closeParent() {
	e.sock.Close()
	for _, fd := range e.out {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// read moves all that comes from the child, until the child is gone.
func (p *Process) read(e ends) {
	r := reader{p: p, ends: e, frames: bufio.NewReaderSize(e.sock, 64<<10), buf: make([]byte, 256<<10)}
	r.loop()
	for i := range r.out {
		r.drain(i) // what it printed last
		unix.Close(r.out[i])
	}
	p.finish()
}

// reader is the one goroutine that reads a child's three descriptors. It
// waits for them itself: only so can it look at the pipes after it has seen
// that a frame is there.
type reader struct {
	p *Process
	ends
	frames *bufio.Reader
	buf    []byte
	more   [2]bool // the pipe was not read to its end, and no event will tell
	hellod bool
	from   int // the stream that was read last
	same   int // how often it was on end
}

func (r *reader) loop() {
	queue, err := r.watch()
	if err != nil {
		r.p.opts.Log.Error("worker: watch the worker's output", "err", err)
		return
	}
	defer unix.Close(queue)
	var events [3]unix.EpollEvent
	for {
		timeout := -1
		if wait := r.p.capture.wait(time.Now()); wait >= 0 {
			timeout = int((wait + time.Millisecond - 1) / time.Millisecond)
		}
		if r.frames.Buffered() > 0 || r.more[0] || r.more[1] {
			timeout = 0
		}
		r.rest()
		n, err := unix.EpollWait(queue, events[:], timeout)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		frame := r.frames.Buffered() > 0
		for _, e := range events[:max(n, 0)] { // in the order in which they became ready
			stream := int(e.Fd)
			if stream == frameEvent {
				frame = true
			} else if r.drain(stream) { // closed by the child
				unix.EpollCtl(queue, unix.EPOLL_CTL_DEL, r.out[stream], nil)
			}
		}
		for stream := range r.out { // what was printed before a frame is in the pipes, seen or not
			if frame || r.more[stream] {
				r.drain(stream)
			}
		}
		r.p.capture.tick(time.Now())
		if frame {
			if err := r.frame(); err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
					r.p.opts.Log.Warn("worker: broken pipe protocol", "err", err)
				}
				return
			}
		}
	}
}

// frameEvent marks the socket's events; the pipes' are marked by their index.
const frameEvent = len(streamNames)

// watch returns an epoll descriptor, which tells what is ready in the order in
// which it became so: that keeps a line to stderr before the line to stdout
// that was printed right after it. The pipes are edge-triggered, for a pipe
// that is not keeps its place in that order although it was emptied.
func (r *reader) watch() (int, error) {
	queue, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("epoll_create1", err)
	}
	for mark, fd := range []int{r.out[0], r.out[1], int(r.sock.Fd())} {
		var events uint32 = unix.EPOLLIN
		if mark != frameEvent {
			events |= unix.EPOLLET
		}
		if err := unix.EpollCtl(queue, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(mark)}); err != nil {
			unix.Close(queue)
			return -1, os.NewSyscallError("epoll_ctl", err)
		}
	}
	return queue, nil
}

// rest lets a flood that nobody sees gather in its pipe, so that it takes one
// processor and not two, until a frame comes. Who writes to both pipes in turn
// waits for us each time, and is not kept.
func (r *reader) rest() {
	const (
		while = 5 * time.Millisecond
		onEnd = 8
	)
	if r.same < onEnd || r.frames.Buffered() > 0 || !r.p.capture.full() {
		return
	}
	unix.Poll([]unix.PollFd{{Fd: int32(r.sock.Fd()), Events: unix.POLLIN}}, int(while/time.Millisecond))
}

// drain reads what is in a pipe now, and reports whether it has ended. When
// more comes all the time, it returns to let frames have their turn.
func (r *reader) drain(stream int) (ended bool) {
	r.more[stream] = false
	for range 64 {
		n, err := unix.Read(r.out[stream], r.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // EAGAIN: empty
			return false
		case n == 0:
			return true
		}
		if r.same++; stream != r.from {
			r.from, r.same = stream, 0
		}
		data := r.buf[:n]
		if stream == 1 {
			data = r.p.stderr.pass(data)
			if r.p.stderr.overflowed() {
				r.p.Kill()
			}
		}
		r.p.capture.add(stream, data)
		if n < len(r.buf) { // empty; what is written from now on makes an event, in its order
			return false
		}
	}
	r.more[stream] = true
	return false
}

// frame reads one frame and acts on it.
func (r *reader) frame() error {
	k, payload, err := readFrame(r.frames)
	if err != nil {
		return err
	}
	r.p.capture.add(1, r.p.stderr.release()) // it lives: that was no crash
	switch k {
	case kindHello:
		var h Hello
		if err := decodeFrame(k, payload, &h); err != nil {
			return err
		}
		if r.hellod {
			return errFrame
		}
		r.hellod, r.p.unfit = true, h.Error
		close(r.p.hello)
	case kindShow:
		var s Show
		if err := decodeFrame(k, payload, &s); err != nil {
			return err
		}
		if r.p.capture.show(s.Op, len(payload)) {
			r.p.opts.Show(s)
		}
		return r.p.write(kindAck, nil)
	case kindAsk:
		var a Ask
		if err := decodeFrame(k, payload, &a); err != nil {
			return err
		}
		r.p.capture.end() // what stands before the cursor, a prompt most likely
		if r.p.opts.Ask == nil {
			return r.p.Answer(Answer{ID: a.ID, Refused: "there is nobody to ask"})
		}
		r.p.opts.Ask(a)
	case kindDone:
		var d Done
		if err := decodeFrame(k, payload, &d); err != nil {
			return err
		}
		r.p.capture.note()
		select {
		case r.p.done <- d:
		default: // nobody asked for it
			r.p.opts.Log.Warn("worker: unexpected end of a job", "n", d.N)
		}
	default:
		return errFrame
	}
	return nil
}
