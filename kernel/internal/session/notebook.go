package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// Options says what a notebook runs on. NewScope and Command are required.
type Options struct {
	// NewScope returns the scope that a new worker starts with: the prelude
	// checked and committed, as the worker does it.
	NewScope func() (*cell.Scope, error)
	Command  []string // starts a worker; with --engine=NAME where an engine is named
	// Engine names what cells run on, of Engines, which ChooseEngine knows.
	// %engine changes it. It may be empty where Engines are.
	Engine       string
	Engines      []string
	ChooseEngine func(name string) (engine, why string, err error)
	Dir          string   // the cells' working directory; default: the current one
	Env          []string // the cells' environment; default: this process's
	// Modules is what scopes import third-party packages from. %get changes it.
	Modules *modules.Set
	Limits  *worker.Limits // of cells; nil for the engine's. %limit changes them.
	Args    *[]string      // of os.Args, behind the first; nil for none. %args changes them.
	// Doc returns the doc comment of what a package declares: of a name, of
	// "Type.Method", of the package for "". It may be nil.
	Doc func(path, symbol string) string
	// Paths and Models list what strings can be completed to: import paths, and
	// names of models in calls of package llm. They may be nil.
	Paths, Models func() []string
	Log           *slog.Logger
	Endless       bool // pass on all that a cell prints, however much it is
	Server        bool // outputs go to a Jupyter server, which drops what comes too fast
}

// Notebook runs cells, one at a time, in a worker process, which it replaces
// when it dies. Execute is for one goroutine; the other methods may be called
// from any, also while a cell runs.
type Notebook struct {
	opts   Options
	engine string // guarded by mu

	executing sync.Mutex // held while a cell runs
	starting  sync.Mutex // held while a worker is started, so that Close misses none

	scratch  string // a directory, there or not, that goes with the notebook
	overflow *worker.Overflow

	mu                sync.Mutex // guards what follows
	process           *worker.Process
	scope             *cell.Scope
	sources           texts
	decls             []worker.Job // the cells that declare something, as they ran, and what %rm took away
	needed            int          // decls when they were last looked at
	ran               []string     // the sources of cells that ran to their end
	ranBytes, ranGone int          // of ran; sources that are no longer in it
	count             int          // the execution count
	hidden            int          // cells that did not count
	closed            bool

	comms comms

	emitMu sync.Mutex
	emit   func(Output) // the last cell's
	input  Input        // the last cell's; nil where nobody can be asked
	asked  context.Context
}

// ErrClosed is the error of using a Notebook after Close.
var ErrClosed = errors.New("session: the notebook is closed")

// Request asks for one cell.
type Request struct {
	Source string
	// Silent runs the cell without outputs and without counting it.
	Silent bool
	// NoStore runs the cell without counting it.
	NoStore bool
	// Input answers what the cell asks its user; nil where nobody can.
	Input Input
}

// Open starts a worker for a new notebook. It does not wait until the worker
// is ready.
func Open(opts Options) (*Notebook, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Modules == nil {
		opts.Modules = modules.NewSet(false)
	}
	nb := &Notebook{opts: opts, emit: func(Output) {}, engine: opts.Engine}
	nb.scratch = filepath.Join(os.TempDir(), "branchbook-"+rand.Text())
	nb.overflow = worker.NewOverflow(nb.scratch)
	if err := nb.start(); err != nil {
		return nil, err
	}
	return nb, nil
}

// start begins anew: a worker and a scope that know the prelude only.
func (nb *Notebook) start() error {
	nb.starting.Lock()
	defer nb.starting.Unlock()
	nb.mu.Lock()
	opts, engine, closed := nb.opts, nb.engine, nb.closed
	nb.mu.Unlock()
	if closed {
		return ErrClosed
	}
	listing := opts.Modules.Listing()
	command := opts.Command
	if engine != "" {
		command = append(slices.Clip(command), "--engine="+engine)
	}
	process, err := worker.Start(worker.Options{
		Command: command, Dir: opts.Dir, Env: opts.Env, Log: opts.Log,
		Settings: worker.Settings{Modules: &listing, Limits: opts.Limits, Args: opts.Args},
		Stream:   func(name, text string) { nb.send(Output{Type: Stream, Name: name, Text: text}) },
		Show:     nb.show,
		Ask:      nb.ask,
		Scratch:  nb.scratch, Overflow: nb.overflow, Endless: opts.Endless, Server: opts.Server,
	})
	if err != nil {
		return err
	}
	scope, err := nb.opts.NewScope()
	if err != nil {
		process.Close()
		return err
	}
	nb.comms.serve(process)
	nb.mu.Lock()
	defer nb.mu.Unlock()
	nb.process, nb.scope = process, scope
	return nil
}

func (nb *Notebook) send(o Output) {
	nb.emitMu.Lock()
	defer nb.emitMu.Unlock()
	nb.emit(o)
}

func (nb *Notebook) show(s worker.Show) {
	switch s.Op {
	case "clear":
		nb.send(Output{Type: Clear, Wait: s.Wait})
	case "comm":
		if s.Comm != nil {
			nb.comms.sent(*s.Comm)
		}
	case "target":
		nb.comms.target(s.ID, s.There)
	case "update":
		nb.send(Output{Type: Update, DisplayID: s.ID, Data: s.Data, Metadata: s.Metadata})
	default:
		nb.send(Output{Type: Display, DisplayID: s.ID, Data: s.Data, Metadata: s.Metadata})
	}
}

// Use lets cells import what l has. It must not be called while a cell runs.
func (nb *Notebook) Use(l modules.Listing) {
	process, _, _ := nb.current()
	nb.opts.Modules.Use(l)
	process.Use(l)
}

// Count is the execution count of the last cell that counted.
func (nb *Notebook) Count() int {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	return nb.count
}

// Engine names what cells run on.
func (nb *Notebook) Engine() string {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	return nb.engine
}

// hiddenBase is where the numbers of cells that do not count begin: names and
// positions in the worker go by number, so each cell has one of its own.
const hiddenBase = 1_000_000

// begin gives the next cell its number, and the execution count to report.
func (nb *Notebook) begin(req Request) (n, count int) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	if req.Silent || req.NoStore {
		nb.hidden++
		n = hiddenBase + nb.hidden
	} else {
		nb.count++
		n = nb.count
	}
	nb.sources.add(n, req.Source)
	return n, nb.count
}

// skip counts a cell that was answered without being run.
func (nb *Notebook) skip(hidden bool) (count int) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	if !hidden {
		nb.count++
	}
	return nb.count
}

// Execute runs one cell and passes its outputs to emit, in order, one at a
// time. What goroutines of the cell print later goes there too, until the next
// Execute. When ctx ends the cell is interrupted. A failure of the cell is in
// the Result; err says that no worker can be started, or is ErrClosed.
func (nb *Notebook) Execute(ctx context.Context, req Request, emit func(Output)) (Result, error) {
	if req.Silent {
		emit = func(Output) {}
	}
	nb.executing.Lock()
	defer nb.executing.Unlock()
	return nb.execute(ctx, req, emit)
}

// Evaluate runs a cell that does not count, and whose outputs are for emit
// only.
func (nb *Notebook) Evaluate(ctx context.Context, source string, emit func(Output)) (Result, error) {
	nb.executing.Lock()
	defer nb.executing.Unlock()
	return nb.evaluate(ctx, source, emit)
}

// evaluate is Evaluate for who holds executing.
func (nb *Notebook) evaluate(ctx context.Context, source string, emit func(Output)) (Result, error) {
	nb.emitMu.Lock()
	emitLast, inputLast, askedLast := nb.emit, nb.input, nb.asked
	nb.emitMu.Unlock()
	defer func() {
		nb.emitMu.Lock()
		nb.emit, nb.input, nb.asked = emitLast, inputLast, askedLast
		nb.emitMu.Unlock()
	}()
	return nb.execute(ctx, Request{Source: source, Silent: true}, emit)
}

func (nb *Notebook) execute(ctx context.Context, req Request, emit func(Output)) (Result, error) {
	process, scope, notice, err := nb.ready()
	if err != nil {
		return Result{}, err
	}
	process.Settle() // to the cell before, what it printed
	nb.emitMu.Lock()
	nb.emit, nb.input, nb.asked = emit, req.Input, ctx
	nb.emitMu.Unlock()
	if notice != "" {
		nb.send(Output{Type: Stream, Name: "stderr", Text: notice})
	}

	n, count := nb.begin(req)
	t := turn{
		Notebook: nb, ctx: ctx, process: process, scope: scope,
		n: n, source: req.Source, res: Result{Status: OK, Count: count},
	}
	res, err := t.run()
	if err == nil && res.Status == OK && n < hiddenBase && t.acts {
		nb.remember(req.Source)
	}
	return res, err
}

func (nb *Notebook) commit(scope *cell.Scope, c *cell.Cell) {
	scope.Commit(c)
	if c.Declares() {
		nb.declared(worker.Job{N: c.N, Source: c.Source}, scope)
	}
}

// ready returns the worker and its scope, new ones if the worker died between
// cells, and then what there is to say of that.
func (nb *Notebook) ready() (process *worker.Process, scope *cell.Scope, notice string, err error) {
	process, scope, closed := nb.current()
	if closed {
		return nil, nil, "", ErrClosed
	}
	select {
	case <-process.Gone():
		lost, err := nb.replace()
		if err != nil {
			return nil, nil, "", err
		}
		notice = ansi.ReplaceAllString(strings.Join(deathFailure(process.Death(), lost).traceback, "\n"), "") + "\n"
		process, scope, _ = nb.current()
	default:
	}
	return process, scope, notice, nil
}

// ansi is a colour of ours.
var ansi = regexp.MustCompile("\x1b\\[[0-9]*m")

// owner returns the cell that n is a step of; n if it is no step's number.
func (nb *Notebook) owner(n int) int {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	if owner, ok := nb.sources.owners[n]; ok {
		return owner
	}
	return n
}

func (nb *Notebook) current() (*worker.Process, *cell.Scope, bool) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	return nb.process, nb.scope, nb.closed
}

// fail shows a failure and enters it in the result.
func (nb *Notebook) fail(res Result, f failure) Result {
	res.Status, res.EName, res.EValue, res.Traceback = Failed, f.name, f.value, f.traceback
	nb.send(Output{Type: Error, EName: f.name, EValue: f.value, Traceback: f.traceback})
	return res
}

// died reports a worker that ended in a cell, and starts the next one.
func (nb *Notebook) died(res Result, err error) (Result, error) {
	var death *worker.Death
	if !errors.As(err, &death) {
		return res, err
	}
	res.Lost = true
	lost, err := nb.replace()
	switch {
	case errors.Is(err, ErrClosed):
		return nb.fail(res, plainFailure("Shutdown", "the kernel was shut down while the cell ran")), nil
	case err != nil:
		return res, fmt.Errorf("session: replace the worker that ended (%w): %w", death, err)
	}
	return nb.fail(res, deathFailure(death, lost)), nil
}

// Close ends the worker and what it started. It may be called more than once,
// and while a cell runs, which then fails.
func (nb *Notebook) Close() error {
	nb.mu.Lock()
	nb.closed = true
	nb.mu.Unlock()
	nb.starting.Lock()
	defer nb.starting.Unlock()
	process, _, _ := nb.current()
	return errors.Join(process.Close(), os.RemoveAll(nb.scratch))
}
