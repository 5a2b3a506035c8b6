// Package yaegi runs checked cells in the yaegi interpreter.
//
// A cell is lowered to text that yaegi v0.16.1 runs right (lower*.go, pure),
// compiled together with the names that earlier cells left, and its function
// called once, in a goroutine of its own. The notebook's variables are the
// interpreter's globals.
//
//	e, err := yaegi.New(yaegi.Options{Importer: imp, Symbols: symbols})
//	out := e.Run(ctx, c) // c from cell.Scope.Check
//	if out.Failure != nil { ... }
//
// What it never does: checking (package cell does), or printing.
//
// Packages of modules (cell.Cell.Packages) are lowered in the same way, see
// module.go.
//
// # Limits
//
// What yaegi cannot compile is a failure of kind Unsupported that names the
// place; nothing ran then. What it runs in another way than Go:
//   - Values that compiled code hands back as any have lost the names of types
//     that are no structs, and so has a []Celsius in an interface.
//   - Reflection and encoders see shapes instead of names, and no methods.
//     Displays, fmt, log and assertions see both.
//   - Two struct types of which one holds the other and that other points back,
//     as container/list's List and Element do, panic when a pointer is set.
//   - So do two struct types that refer to themselves and to each other: a node
//     with a next node, an edge with a next edge, and each with the other.
//   - An interrupt also ends goroutines of earlier cells that are running at
//     that moment, and does not run deferred calls of the interrupted cell.
//
// README.md counts the causes; testdata/remaining.txt has programs that show
// them.
package yaegi

import (
	"context"
	"errors"
	"go/types"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traefik/yaegi/interp"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// Options are an engine's.
type Options struct {
	// Importer gives the types of imported packages: the one that cells were
	// checked with.
	Importer types.Importer
	// Symbols are the values of the same packages.
	Symbols engine.Symbols
	// Grace is how long Run waits for an interrupted cell to end before it
	// reports that it is stuck; 0 means 1500 ms.
	Grace time.Duration
}

// Engine is an interpreter with the names of one notebook.
type Engine struct {
	opts    Options
	i       *interp.Interpreter
	reach   *reach
	nb      *notebook
	lib     *library
	methods methods // of interpreted types
	types   typeTable
	runner  *runner
	tracer  *tracer
	used    map[string]bool // packages that cells imported
	tables  map[string]bool // packages that the interpreter has
	file    int             // for file names
	entry   func()          // of the program that was executed last
	pending []func()        // make single variables of modules
	starts  map[int]func()  // initialise packages of modules, and did not end yet

	goroutines atomic.Int64 // of cells, that run

	stuck *run // of an interrupt that did not end the cell

	mu      sync.Mutex
	current *run
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine without names. The error tells a version of yaegi that
// it does not know.
func New(opts Options) (*Engine, error) {
	if opts.Grace == 0 {
		opts.Grace = 1500 * time.Millisecond
	}
	t := &tracer{traces: map[string]*trace{}}
	e := &Engine{
		opts: opts, nb: newNotebook(), lib: newLibrary(opts.Importer), tracer: t,
		runner: &runner{tracer: t, running: map[string]*D{}}, used: map[string]bool{}, tables: map[string]bool{}, starts: map[int]func(){},
		i: interp.New(interp.Options{Stdout: io.Discard, Stderr: io.Discard, Unrestricted: true}),
	}
	var err error
	if e.reach, err = newReach(e.i); err != nil {
		return nil, err
	}
	// The last element of a key is the package's name, which lowered text does
	// not rely on: "fmt/fmt" would make Use replace fmt's functions.
	if err := e.i.Use(interp.Exports{hostPackage + "/_": e.host()}); err != nil {
		return nil, err
	}
	if err := e.use("fmt"); err != nil {
		return nil, err
	}
	return e, e.i.Use(e.reach.wrappers())
}

// Close ends what the cells left running, as far as an interrupt can.
func (e *Engine) Close() error {
	e.reach.stop()
	return nil
}

// Run runs c. See engine.Engine.
//
// A cell that does not end within Options.Grace of its interrupt, because
// compiled code does not return, gets a failure of kind Stuck; its goroutine
// goes on, and every Run fails in the same way until it ended.
func (e *Engine) Run(ctx context.Context, c *cell.Cell) engine.Outcome {
	if f := e.waitForStuck(); f != nil {
		return engine.Outcome{Failure: f}
	}
	r := &run{ctx: ctx, stop: make(chan struct{}), ended: make(chan struct{})}
	e.mu.Lock()
	e.current = r
	e.mu.Unlock()
	e.entry = nil
	p, err := e.compile(c)
	if err != nil {
		close(r.ended)
		return engine.Outcome{Failure: unsupportedFailure(err)}
	}
	start := e.start(c)
	if e.entry == nil && start == nil {
		close(r.ended)
		return engine.Outcome{}
	}
	entry := e.entry
	e.entry = nil
	out := e.call(r, func() {
		if start != nil {
			start()
		}
		if entry != nil {
			entry()
		}
	})
	if p.run != "" {
		e.reach.remove(p.run)
	}
	return out
}

// compile lowers and compiles c. Where the interpreter does not compile a
// function of a module, it is compiled again with one in its place that says
// so: most functions of a module are never called.
func (e *Engine) compile(c *cell.Cell) (*program, error) {
	for _, s := range e.nb.forget() {
		e.reach.remove(s)
	}
	for {
		p, err := lowerCell(e.nb, e.lib, c)
		if err != nil {
			return nil, err
		}
		if err = e.load(p); err == nil {
			return p, nil
		}
		var u *unsupported
		if !errors.As(err, &u) || u.decl == nil || e.lib.refused[u.decl] != nil {
			return nil, err
		}
		e.lib.refused[u.decl] = u
	}
}

// start returns what initialises the packages that c needs; nil for nothing.
// What fails, or is interrupted, is done again for the next cell that needs it.
func (e *Engine) start(c *cell.Cell) func() {
	var ids []int
	for _, p := range c.Packages {
		if id := e.lib.add(p).id; e.starts[id] != nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 && len(e.pending) == 0 {
		return nil
	}
	return func() {
		for len(e.pending) > 0 {
			e.pending[0]()
			e.pending = e.pending[1:]
		}
		for _, id := range ids {
			e.starts[id]()
			delete(e.starts, id)
		}
	}
}

func unsupportedFailure(err error) *engine.Failure {
	f := &engine.Failure{Kind: engine.Unsupported, Message: err.Error()}
	var u *unsupported
	if errors.As(err, &u) {
		f.Message = "cannot run this: " + u.msg
		if n, ok := cellNumber(u.pos.Filename); ok {
			f.Frames = []engine.Frame{{Cell: n, Line: u.pos.Line, Col: u.pos.Column}}
		} else if u.pos.IsValid() {
			f.Frames = []engine.Frame{{File: u.pos.Filename, Line: u.pos.Line, Col: u.pos.Column}}
		}
	}
	return f
}

// Lowered returns the text that c is lowered to, for tests and for curious
// people.
func (e *Engine) Lowered(c *cell.Cell) string {
	p, err := lowerCell(e.nb, e.lib, c)
	if err != nil {
		return "error: " + err.Error()
	}
	return p.text
}
