package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Cells read their standard input as programs do: by fmt.Scan, a bufio.Reader,
// os.Stdin itself. It is a pipe that the child fills with what a user types.
// When to ask is seen from outside: a thread of ours, or a process that a cell
// has started, is in read(2) of descriptor 0, and the pipe is empty. proc(5)
// tells that (/proc/PID/task/TID/syscall); where it does not, the standard
// input is empty, and cells have nb.Input.

// Ask is a cell's question to its user.
type Ask struct {
	ID       int    `json:"id"`
	Prompt   string `json:"prompt,omitempty"`
	Password bool   `json:"password,omitempty"`
	// Line is set by nb.Input: the answer is a line. Else it is any part of
	// the standard input.
	Line bool `json:"line,omitempty"`
}

// Answer answers an Ask.
type Answer struct {
	ID      int    `json:"id"`
	Text    []byte `json:"text,omitempty"`
	End     bool   `json:"end,omitempty"`     // the input has ended
	Refused string `json:"refused,omitempty"` // why nobody can be asked; empty if somebody was
}

// InputRefused is the kind of failure of a cell that read its standard input
// where nobody can be asked, beside engine's.
const InputRefused = "input"

const (
	// lookSoon and lookLate are how often a cell that may read its input is
	// looked at: soon after an answer, for a loop that reads lines.
	lookSoon = time.Millisecond
	lookLate = 50 * time.Millisecond
)

// stdin is the child's descriptor 0.
type stdin struct {
	used   atomic.Bool // a cell mentions the standard input
	unseen bool        // what is typed for the job that runs is not to be seen

	mu   sync.Mutex
	w    int // the pipe's writing end; -1 for none
	link string
}

// openStdin puts a pipe in the place of descriptor 0. It returns nil where
// nobody could see that a cell waits for input.
func openStdin() *stdin {
	if _, err := os.ReadFile("/proc/thread-self/syscall"); err != nil {
		return nil
	}
	in := &stdin{w: -1}
	if in.renew() != nil {
		return nil
	}
	return in
}

// renew puts an empty pipe in the place of the one there is. Who waits for
// input then reads its end.
func (in *stdin) renew() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.w >= 0 && !in.ours() {
		return errors.New("worker: renew standard input: a cell has closed it")
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	err := unix.Dup3(fds[0], 0, 0)
	unix.Close(fds[0])
	if err != nil {
		unix.Close(fds[1])
		return os.NewSyscallError("dup3", err)
	}
	unix.FcntlInt(uintptr(fds[1]), unix.F_SETPIPE_SZ, pipeSize) // as it comes
	unix.SetNonblock(fds[1], true)
	if in.w >= 0 {
		unix.Close(in.w)
	}
	in.w = fds[1]
	in.link, err = os.Readlink("/proc/self/fd/0")
	return err
}

// ours reports whether descriptor 0 is our pipe still: a cell may have closed
// it, and opened a file, which then has that number.
func (in *stdin) ours() bool {
	link, err := os.Readlink("/proc/self/fd/0")
	return err == nil && link == in.link
}

// feed adds to what can be read.
func (in *stdin) feed(text []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(text) > 0 {
		n, err := unix.Write(in.w, text)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return fmt.Errorf("nb: feed the standard input: it is full; %d bytes more than it holds", len(text))
		}
		if err != nil {
			return os.NewSyscallError("write", err)
		}
		text = text[n:]
	}
	return nil
}

// unread reports whether there is something to read.
func (in *stdin) unread() bool {
	n, err := unix.IoctlGetInt(0, unix.TIOCINQ)
	return err == nil && n > 0
}

// mentions notes whether a job may read its standard input: most never do, and
// are not looked at.
func (in *stdin) mentions(j Job) {
	in.unseen = false
	if j.Command != nil {
		if j.Command.Reads != "" {
			in.used.Store(true)
			in.unseen = j.Command.Reads == "unseen"
		}
		return
	}
	for _, word := range []string{"Stdin", "stdin", "Scan", "NewFile", "RequestInput"} {
		if strings.Contains(j.Source, word) {
			in.used.Store(true)
		}
	}
}

// waited reports whether somebody waits for input.
func (in *stdin) waited() bool {
	if reads("/proc/self/task") {
		return true
	}
	in.mu.Lock()
	link := in.link
	in.mu.Unlock()
	for _, pid := range children("/proc/self") {
		if at, err := os.Readlink(pid + "/fd/0"); err == nil && at == link && reads(pid+"/task") {
			return true
		}
	}
	return false
}

var readsInput = fmt.Appendf(nil, "%d 0x0 ", unix.SYS_READ)

// reads reports whether one of a process's threads is in read(2) of descriptor
// 0.
func reads(tasks string) bool {
	list, _ := filepath.Glob(tasks + "/[0-9]*/syscall") // the pattern is well-formed
	for _, name := range list {
		if call, err := os.ReadFile(name); err == nil && bytes.HasPrefix(call, readsInput) {
			return true
		}
	}
	return false
}

// children lists the directories of the processes that one has started, and
// theirs.
func children(process string) (all []string) {
	lists, _ := filepath.Glob(process + "/task/[0-9]*/children") // the pattern is well-formed
	for _, name := range lists {
		pids, _ := os.ReadFile(name)
		for _, pid := range strings.Fields(string(pids)) {
			all = append(append(all, "/proc/"+pid), children("/proc/"+pid)...)
		}
	}
	return all
}

// watch asks for input when the job that runs waits for it. It returns what
// ends that; refused then says why nobody could be asked, if one was to be, and
// closed whether an interrupt ended the input.
func (s *server) watch(ctx context.Context, cancel context.CancelFunc) (end func() (refused string, closed bool)) {
	in := s.stdin
	if in == nil || !in.used.Load() {
		return func() (string, bool) { return "", false }
	}
	if in.unread() || in.waited() { // by, or for, an earlier cell
		in.renew()
	}
	over, ended, unseen := make(chan struct{}), make(chan struct{}), in.unseen
	var refused string
	var closed bool
	go func() {
		defer close(ended)
		interrupt := ctx.Done()
		stopped := false // who reads gets the end of the input until the cell is over
		for wait := lookSoon; ; wait = min(2*wait, lookLate) {
			select {
			case <-over:
				return
			case <-interrupt:
				interrupt, stopped = nil, true
			case <-time.After(wait):
			}
			if in.unread() || !in.waited() {
				continue
			}
			wait = lookSoon
			if stopped {
				in.renew()
				closed = true
				continue
			}
			switch a, err := s.ask(ctx, Ask{Password: unseen}); {
			case err != nil: // interrupted: see above
			case a.Refused != "":
				refused = a.Refused
				cancel()
			case a.End:
				in.renew()
			default:
				in.feed(a.Text)
			}
		}
	}()
	return func() (string, bool) {
		close(over)
		<-ended
		return refused, closed
	}
}

// ask has the parent ask the user. One question is asked at a time.
func (s *server) ask(ctx context.Context, a Ask) (Answer, error) {
	select {
	case s.asking <- struct{}{}:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	defer func() { <-s.asking }()
	s.asked++
	a.ID = s.asked
	if err := s.write(kindAsk, a); err != nil {
		return Answer{}, err
	}
	for {
		select {
		case answer := <-s.answers:
			if answer.ID == a.ID {
				return answer, nil
			}
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
}

// Input is nb.Input and nb.Password.
func (h host) Input(prompt string, password bool) (string, error) {
	h.s.mu.Lock()
	ctx, running := h.s.ctx, h.s.n != 0
	h.s.mu.Unlock()
	if !running {
		return "", errors.New("nb: read input: no cell runs that could ask for it")
	}
	a, err := h.s.ask(ctx, Ask{Prompt: prompt, Password: password, Line: true})
	switch {
	case err != nil:
		return "", fmt.Errorf("nb: read input: %w", err)
	case a.Refused != "":
		return "", errors.New("nb: read input: " + a.Refused)
	case a.End:
		return "", io.EOF
	}
	return strings.TrimSuffix(string(a.Text), "\n"), nil
}

// Feed is nb.Feed.
func (h host) Feed(text string) error {
	if h.s.stdin == nil {
		return errors.New("nb: feed the standard input: this system does not show who waits for it (proc(5), /proc/PID/task/TID/syscall)")
	}
	return h.s.stdin.feed([]byte(text))
}
