package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/modules"
)

// grace is how long an interrupted cell may take to stop. Interpreted code
// stops at once; a call of compiled code that does not look at its context
// cannot be stopped but by ending the worker.
const grace = 2 * time.Second

// Options says how to start a worker. Command is required.
type Options struct {
	Command  []string
	Dir      string   // default: the current directory
	Env      []string // default: this process's
	Log      *slog.Logger
	Settings Settings // of the first job: Modules, Limits and Args
	// Scratch is a directory, there or not, that goes with the kernel: the child
	// makes files in it, and removes it if the parent is killed. Default: none.
	Scratch string
	// Overflow keeps what cells print beyond what is passed on; nil for nothing.
	Overflow *Overflow
	Endless  bool // all that cells print is passed on
	Server   bool // Stream and Show are for a Jupyter server, which drops what comes too fast

	// Stream and Show get what the child prints and shows, also between
	// jobs, in order, from one goroutine at a time. They must not call the
	// Process.
	Stream func(name, text string)
	Show   func(Show)
	// Ask gets what a cell asks its user, who may take their time: it returns
	// at once, and somebody calls Answer later, or never, if the cell is
	// interrupted. Where Ask is nil, cells are told that nobody can be asked.
	Ask func(Ask)
}

// Process is a running worker.
type Process struct {
	opts    Options
	cmd     *exec.Cmd
	sock    *os.File
	capture *capture
	mark    string // of what the child starts

	writeMu  sync.Mutex    // a frame is written whole
	hello    chan struct{} // closed when the child has said hello
	unfit    string        // why it cannot run cells; valid once hello is closed
	done     chan Done
	stderr   crash
	settings *Settings // for the next job

	gone  chan struct{} // closed when the child has been waited for
	death *Death        // why; valid once gone is closed
}

// Death is the error of a job whose worker ended.
type Death struct {
	Cause    string // "killed", "exit status 2", ...
	Detail   string // what the Go runtime said last, "fatal error: ..."; may be empty
	Unending bool   // we killed it: it did not stop when interrupted
}

func (d *Death) Error() string {
	msg := "worker: run cell: the worker process ended: " + d.Cause
	if d.Detail != "" {
		msg += ": " + d.Detail
	}
	return msg
}

// Start starts a worker. The child says itself when it is ready; Run waits for
// that.
func Start(opts Options) (*Process, error) {
	if len(opts.Command) == 0 {
		return nil, errors.New("worker: start: no command")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	p := &Process{
		opts:     opts,
		settings: &opts.Settings,
		hello:    make(chan struct{}),
		done:     make(chan Done, 1),
		gone:     make(chan struct{}),
		capture:  &capture{emit: opts.Stream, pace: newPace(opts.Server), rest: opts.Overflow, endless: opts.Endless},
	}
	ends, err := openEnds()
	if err != nil {
		return nil, fmt.Errorf("worker: start: %w", err)
	}
	cmd := exec.Command(opts.Command[0], opts.Command[1:]...)
	cmd.Dir = opts.Dir
	cmd.Env = opts.Env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	// A crash's message is for the user, who knows no goroutine of ours.
	p.mark = rand.Text()
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "GOTRACEBACK=none", markVariable+"="+p.mark)
	if opts.Scratch != "" {
		cmd.Env = append(cmd.Env, scratchVariable+"="+opts.Scratch)
	}
	cmd.Stdout, cmd.Stderr = ends.childOut, ends.childErr
	cmd.ExtraFiles = []*os.File{ends.childSock} // becomes fd 3
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true, // Ctrl-C in a terminal is for the parent, which interrupts
		Pdeathsig: parentDied,
	}
	err = cmd.Start()
	ends.closeChild()
	if err != nil {
		ends.closeParent()
		return nil, fmt.Errorf("worker: start: %w", err)
	}
	// When memory runs out, the worker is to go, not the kernel. It is Linux's
	// own scale, to 1000; elsewhere there is no such file.
	os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), []byte("500"), 0)
	p.cmd, p.sock = cmd, ends.sock
	go p.read(ends)
	return p, nil
}

// Pid is the child's process id, which is also its process group's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Gone is closed when the child has ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Death says what the child ended of, once it is gone.
func (p *Process) Death() *Death {
	<-p.gone
	return p.death
}

// Use lets cells import what l has, from the next Run on.
func (p *Process) Use(l modules.Listing) {
	if p.settings == nil {
		p.settings = &Settings{}
	}
	p.settings.Modules = &l
}

// Settle passes on what was printed so far, and starts a new cell's count of
// output. What comes later belongs to the next Run.
func (p *Process) Settle() { p.capture.begin() }

// Run runs one cell; only one at a time. When ctx is cancelled the cell is
// interrupted, and if it goes on for two seconds the worker is killed. All
// that the cell printed and showed has been passed on when Run returns. If
// the worker ended, err is a *Death.
func (p *Process) Run(ctx context.Context, job Job) (Done, error) {
	select {
	case <-p.hello:
	case <-p.gone:
		return Done{}, p.death
	case <-ctx.Done(): // before the child was ready
		return Done{N: job.N, Failure: &Failure{Kind: string(engine.Interrupt)}}, nil
	}
	if p.unfit != "" {
		return Done{}, errors.New("worker: start: " + p.unfit)
	}
	if job.Settings == nil {
		job.Settings, p.settings = p.settings, nil // with the first job
	}
	if err := p.write(kindRun, job); err != nil {
		if errors.Is(err, errWrite) {
			<-p.gone
			return Done{}, p.death
		}
		return Done{}, err
	}
	var deadline <-chan time.Time
	cancelled, unending := ctx.Done(), false
	for {
		select {
		case d := <-p.done:
			if d.N != job.N {
				continue
			}
			if d.Failure != nil && d.Failure.Kind == string(engine.Stuck) {
				unending = true // the engine has waited long enough
				p.Kill()
				continue
			}
			return d, nil
		case <-p.gone:
			select { // the child may have answered before it ended
			case d := <-p.done:
				if d.N == job.N {
					return d, nil
				}
			default:
			}
			p.death.Unending = unending
			return Done{}, p.death
		case <-cancelled:
			cancelled = nil
			p.capture.pace.now()
			p.write(kindInterrupt, interruptFrame{job.N}) // if the child is gone, that is seen above
			timer := time.NewTimer(grace)
			defer timer.Stop()
			deadline = timer.C
		case <-deadline:
			unending = true
			p.Kill()
		}
	}
}

// Answer answers an Ask. An answer that comes too late changes nothing.
func (p *Process) Answer(a Answer) error { return p.write(kindAnswer, a) }

// SendComm passes a comm message to the cells' code.
func (p *Process) SendComm(c Comm) error { return p.write(kindComm, c) }

// Kill ends the child and what it started, at once.
func (p *Process) Kill() {
	p.capture.pace.now()
	syscall.Kill(-p.Pid(), syscall.SIGKILL)
}

// Close ends the child and waits for it. It may be called more than once.
func (p *Process) Close() error {
	select {
	case <-p.gone:
		return nil
	default:
	}
	p.capture.pace.now()
	if raw, err := p.sock.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_WR) }) // the child reads EOF and ends
	}
	select {
	case <-p.gone:
	case <-time.After(grace):
		p.Kill()
		<-p.gone
	}
	return nil
}

var errWrite = errors.New("worker: write frame: the worker process is gone")

func (p *Process) write(k kind, v any) error {
	frame, err := encodeFrame(k, v)
	if err != nil {
		return err
	}
	p.writeMu.Lock()
	defer p.writeMu.Unlock()
	if _, err := p.sock.Write(frame); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// finish waits for the child once its socket has ended, and says what it
// died of.
func (p *Process) finish() {
	killed := make(chan struct{})
	timer := time.AfterFunc(grace, func() { p.Kill(); close(killed) }) // it closed the socket and lives on
	for {
		err := unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if !timer.Stop() {
		<-killed
	}
	p.Kill() // what the child started: as long as the child is a zombie its group is no other's
	p.cmd.Wait()
	killMarked(p.mark)
	p.sock.Close()
	p.death = &Death{Cause: p.cmd.ProcessState.String(), Detail: p.stderr.reason()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.death.Cause = status.Signal().String()
	}
	p.capture.note()
	close(p.gone)
}
