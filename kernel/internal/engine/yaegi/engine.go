// Package yaegi runs checked cells in the yaegi interpreter.
//
// A cell is lowered to text that yaegi v0.16.1 runs right (lower*.go, pure),
// compiled together with the names that earlier cells left, and its function
// called once, in a goroutine of its own. The notebook's variables are the
// interpreter's globals.
//
//	e, err := yaegi.New(yaegi.Options{Importer: imp})
//	out := e.Run(ctx, c) // c from cell.Scope.Check
//	if out.Failure != nil { ... }
//
// What it never does: checking (package cell does), or printing.
package yaegi

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/types"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/traefik/yaegi/interp"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/symbols"
)

// Options are an engine's.
type Options struct {
	// Importer gives the types of imported packages: the one that cells were
	// checked with.
	Importer types.Importer
	// Grace is how long Run waits for an interrupted cell to end before it
	// reports that it is stuck; 0 means 1500 ms.
	Grace time.Duration
}

// Engine is an interpreter with the names of one notebook.
type Engine struct {
	opts   Options
	i      *interp.Interpreter
	reach  *reach
	nb     *notebook
	lib    *library
	runner *runner
	tracer *tracer
	used   map[string]bool // packages that cells imported
	tables map[string]bool // packages that the interpreter has
	file   int             // for file names
	entry  func()          // of the program that was executed last

	mu      sync.Mutex
	current *run
	stuck   *run // of an interrupt that did not end the cell
}

var _ engine.Engine = (*Engine)(nil)

// run is one evaluation.
type run struct {
	ctx   context.Context
	stop  chan struct{} // closed when the cell is to end
	ended chan struct{} // closed when its goroutine did

	mu      sync.Mutex
	values  []engine.Value
	failure *engine.Failure // the first
	over    bool            // stop is closed
}

// New returns an engine without names. The error tells a version of yaegi that
// it does not know.
func New(opts Options) (*Engine, error) {
	if opts.Grace == 0 {
		opts.Grace = 1500 * time.Millisecond
	}
	t := &tracer{traces: map[string]*trace{}}
	e := &Engine{
		opts: opts, nb: newNotebook(), lib: newLibrary(opts.Importer), tracer: t,
		runner: &runner{tracer: t, running: map[string]*D{}}, used: map[string]bool{}, tables: map[string]bool{},
		i: interp.New(interp.Options{Stdout: io.Discard, Stderr: io.Discard, Unrestricted: true}),
	}
	var err error
	if e.reach, err = newReach(e.i); err != nil {
		return nil, err
	}
	// the last element of the key is the package's name, which lowered text
	// never relies on; "fmt/fmt" would make Use replace fmt's functions
	if err := e.i.Use(interp.Exports{hostPackage + "/_": e.host()}); err != nil {
		return nil, err
	}
	if err := e.use("fmt"); err != nil { // fmt.Stringer, which host.go's functions take
		return nil, err
	}
	stringer, _ := e.reach.binary("fmt", "_Stringer")
	return e, e.i.Use(e.reach.wrappers(stringer))
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
	p, err := lowerCell(e.nb, e.lib, c)
	if err != nil {
		return engine.Outcome{Failure: unsupportedFailure(c, err)}
	}
	r := &run{ctx: ctx, stop: make(chan struct{}), ended: make(chan struct{})}
	e.mu.Lock()
	e.current = r
	e.mu.Unlock()
	e.entry = nil
	if err := e.load(p); err != nil {
		close(r.ended)
		return engine.Outcome{Failure: unsupportedFailure(c, err)}
	}
	if e.entry == nil {
		close(r.ended)
		return engine.Outcome{}
	}
	out := e.call(r, e.entry)
	e.entry = nil
	if p.run != "" {
		e.reach.remove(p.run)
	}
	return out
}

func unsupportedFailure(c *cell.Cell, err error) *engine.Failure {
	f := &engine.Failure{Kind: engine.Unsupported, Message: err.Error()}
	var u *unsupported
	if errors.As(err, &u) && u.pos.Line > 0 {
		f.Frames = []engine.Frame{{Cell: c.N, Line: u.pos.Line, Col: u.pos.Column}}
		f.Message = "cannot run this: " + u.msg
	}
	return f
}

// load compiles a program. After an error the interpreter's names mean what
// they meant before.
func (e *Engine) load(p *program) error {
	for _, path := range p.imports() {
		if err := e.use(path); err != nil {
			return err
		}
	}
	e.file++
	name := "cell" + strconv.Itoa(e.file) + ".go"
	f, err := parser.ParseFile(e.i.FileSet(), name, p.text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("yaegi: lowered text does not parse: %w", err)
	}
	file := e.i.FileSet().File(f.FileStart)
	changed := append(append([]string(nil), p.removes...), p.declare...)
	for _, r := range p.renames {
		changed = append(changed, r[0], r[1])
	}
	before := e.reach.save(changed)
	var old []unsafe.Pointer
	for _, n := range p.patches {
		old = append(old, e.reach.funcNode(n.current))
	}
	for _, r := range p.renames {
		e.reach.rename(r[0], r[1])
	}
	for _, n := range p.removes {
		e.reach.remove(n)
	}
	defer e.reach.forgetFile(name, p.draftImports)
	prog, err := e.reach.compile(f)
	if err == nil {
		e.tracer.install(e.reach, e.reach.root(prog), file, p)
		err = e.execute(prog)
	}
	if err != nil {
		e.reach.restore(before)
		return p.explain(err, name)
	}
	for i, n := range p.patches {
		latest := e.reach.funcNode(n.current)
		e.reach.become(old[i], latest)
		n.nodes = append(n.nodes, old[i])
		for _, earlier := range n.nodes {
			e.reach.become(earlier, latest)
		}
	}
	p.commit()
	return nil
}

// use gives the interpreter the table of a package, and those of the packages
// that it imports: they hold the wrappers for interface types in its API.
func (e *Engine) use(path string) error {
	if e.used[path] || path == "unsafe" {
		return nil
	}
	t := symbols.Table(path)
	if t == nil {
		return &unsupported{msg: "package " + strconv.Quote(path) + " has no compiled functions here"}
	}
	tables := interp.Exports{path + "/_": t}
	if pkg, err := e.opts.Importer.Import(path); err == nil {
		for _, q := range pkg.Imports() {
			if t := symbols.Table(q.Path()); t != nil && !e.used[q.Path()] && !e.tables[q.Path()] {
				tables[q.Path()+"/_"] = t
				e.tables[q.Path()] = true
			}
		}
	}
	e.used[path], e.tables[path] = true, true
	return e.i.Use(tables)
}

func (e *Engine) execute(p *interp.Program) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	_, err = e.i.Execute(p)
	return err
}

// call runs the cell's function.
func (e *Engine) call(r *run, f func()) engine.Outcome {
	go func() {
		defer close(r.ended)
		returned := false
		defer func() {
			x := recover()
			frames := e.tracer.take()
			switch {
			case x != nil:
				r.fail(&engine.Failure{Kind: engine.Panic, Message: panicMessage(x), Frames: frames})
			case !returned:
				r.fail(&engine.Failure{Kind: engine.Exit, Message: "runtime.Goexit", Frames: frames})
			}
		}()
		f()
		returned = true
	}()
	select {
	case <-r.ended:
	case <-r.ctx.Done():
		r.fail(&engine.Failure{Kind: engine.Interrupt, Message: "interrupted"})
		e.interrupt(r)
	case <-r.stop:
		e.interrupt(r)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return engine.Outcome{Failure: r.failure}
	}
	return engine.Outcome{Values: r.values}
}

// fail makes f the cell's failure unless it has one.
func (r *run) fail(f *engine.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = f
	}
}

// halt tells a running cell to end.
func (r *run) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over = true
		close(r.stop)
	}
}

// interrupt ends the cell's frames, and with them those of the goroutines that
// are running or waiting on channels.
//
// Frames end when they see that the interpreter's run id is not theirs.
// Channel operations also wait for the done channel: it is never closed,
// because closures of earlier cells hold it, but sent to until the cell ended.
func (e *Engine) interrupt(r *run) {
	r.halt()
	id := e.reach.runID()
	e.reach.stop()
	timeout := time.NewTimer(e.opts.Grace)
	defer timeout.Stop()
	for {
		select {
		case e.reach.done <- struct{}{}:
			continue
		case <-r.ended:
			e.reach.resume(id)
			return
		case <-timeout.C:
		}
		break
	}
	r.mu.Lock()
	r.failure = &engine.Failure{Kind: engine.Stuck, Message: "interrupted, but compiled code that the cell called does not return"}
	r.mu.Unlock()
	e.mu.Lock()
	e.stuck = r
	e.mu.Unlock()
	go func() {
		<-r.ended
		e.mu.Lock()
		e.reach.resume(id)
		e.stuck = nil
		e.mu.Unlock()
	}()
}

func (e *Engine) waitForStuck() *engine.Failure {
	e.mu.Lock()
	r := e.stuck
	e.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.ended:
		return nil
	case <-time.After(100 * time.Millisecond):
		return &engine.Failure{Kind: engine.Stuck, Message: "an interrupted cell still runs"}
	}
}

// now is the evaluation that runs, or ran last.
func (e *Engine) now() *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == nil {
		return &run{ctx: context.Background(), stop: make(chan struct{})}
	}
	return e.current
}

func (e *Engine) stopping() <-chan struct{} { return e.now().stop }

// end makes f the failure of the cell and ends the calling goroutine; the cell
// follows.
func (e *Engine) end(f *engine.Failure) {
	r := e.now()
	r.fail(f)
	e.goexitNow(r)
}

func (e *Engine) panicked(x any) *engine.Failure {
	return &engine.Failure{Kind: engine.Panic, Message: panicMessage(x), Frames: e.tracer.take()}
}

// goroutinePanicked makes a goroutine's panic the failure of the cell that
// runs, or says it on standard error when none does.
func (e *Engine) goroutinePanicked(f *engine.Failure) {
	f.Message += " [in a goroutine]"
	r := e.now()
	select {
	case <-r.ended:
		fmt.Fprintln(stderr{}, "panic: "+f.Message)
		for _, at := range f.Frames {
			fmt.Fprintf(stderr{}, "\tIn[%d], line %d\n", at.Cell, at.Line)
		}
	default:
		r.fail(f)
		r.halt()
	}
}

// explain turns an error of yaegi's compiler into one about the cell.
func (p *program) explain(err error, file string) error {
	msg := err.Error()
	u := &unsupported{msg: cleanNames(msg)}
	if rest, ok := strings.CutPrefix(msg, file+":"); ok {
		var line, col int
		if n, _ := fmt.Sscanf(rest, "%d:%d:", &line, &col); n == 2 {
			u.msg = cleanNames(strings.TrimSpace(rest[strings.Index(rest, " ")+1:]))
			if sp := p.spot(offset(p.text, line, col)); sp != nil {
				u.pos.Line, u.pos.Column = sp.at.line+sp.line, sp.col
			}
		}
	}
	u.msg = "the interpreter says: " + u.msg
	return u
}

func offset(text string, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at + col - 1
}

// cleanNames takes the names that lowering made out of a message.
func cleanNames(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "__")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+2:]
		s = strings.TrimLeft(s, "0123456789")
	}
}

var _ = reflect.TypeOf

// Lowered returns the text that c is lowered to, for tests and for curious
// people.
func (e *Engine) Lowered(c *cell.Cell) string {
	p, err := lowerCell(e.nb, e.lib, c)
	if err != nil {
		return "error: " + err.Error()
	}
	return p.text
}
