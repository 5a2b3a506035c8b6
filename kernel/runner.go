package kernel

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/session"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// Output is one thing that a cell showed, in the shape of the notebook format.
type Output = session.Output

// Result is how a cell ended.
type Result = session.Result

// OutputType names a kind of output.
type OutputType = session.OutputType

// The kinds of output.
const (
	Stream        = session.Stream
	Display       = session.Display
	Update        = session.Update // replaces every display with its DisplayID
	Clear         = session.Clear
	ExecuteResult = session.ExecuteResult
	Error         = session.Error
)

// Status is how a cell ended, in a word.
type Status = session.Status

// The ways a cell ends.
const (
	OK      = session.OK
	Failed  = session.Failed
	Aborted = session.Aborted
)

// RunnerOptions says how a [Runner] runs cells. Its zero value works.
type RunnerOptions struct {
	// Command starts a worker; the default is this executable with the
	// argument "worker".
	Command []string
	Engine  string   // one of [Engines]; the worker is told so by --engine=NAME
	Dir     string   // the cells' working directory; default: the current one
	Env     []string // the cells' environment; default: this process's
	Log     *slog.Logger
	// Models lists the names of models, which complete in calls of package llm.
	// It may be nil.
	Models func() []string
	// Stdin is what cells read from their standard input; nil where there is
	// none, and cells that ask for input fail.
	Stdin io.Reader
	// File is a Go file that is run: cells can import what the module that it
	// lies in requires. That is looked up with the go command when the first
	// cell imports what Branchbook has not, and changes nothing there.
	File string
}

// Runner runs cells in a worker process, without Jupyter.
type Runner struct {
	nb    *session.Notebook
	stdin *stdin // nil for none
	file  string // until its module is looked up
}

// NewRunner starts a worker for a new notebook.
func NewRunner(opts RunnerOptions) (*Runner, error) {
	nb, err := newNotebook(opts, false)
	if err != nil {
		return nil, err
	}
	r := &Runner{nb: nb, file: opts.File}
	if opts.Stdin != nil {
		r.stdin = &stdin{r: bufio.NewReaderSize(opts.Stdin, 64<<10), turn: make(chan struct{}, 1)}
	}
	return r, nil
}

// Execute runs the next cell and passes its outputs to emit, in order, one at
// a time, until it returns. When ctx is cancelled the cell is
// interrupted; variables are kept, and the runner stays usable. A cell's own
// failure is in the Result; err is for a worker that cannot be started.
func (r *Runner) Execute(ctx context.Context, source string, emit func(Output)) (Result, error) {
	if r.file != "" {
		l, err := modules.Command{}.Beside(ctx, r.file, []byte(source))
		if err != nil {
			return Result{}, fmt.Errorf("kernel: look up the imports of %s: %w", r.file, err)
		}
		r.nb.Use(l)
		r.file = ""
	}
	var mu sync.Mutex
	over := false
	defer func() {
		mu.Lock()
		over = true
		mu.Unlock()
	}()
	send := func(o Output) {
		mu.Lock()
		defer mu.Unlock()
		if !over { // not what a goroutine of the cell prints later
			emit(o)
		}
	}
	req := session.Request{Source: source}
	if r.stdin != nil {
		req.Input = func(ctx context.Context, a worker.Ask) ([]byte, error) {
			if a.Prompt != "" {
				send(Output{Type: Stream, Name: "stdout", Text: a.Prompt})
			}
			return r.stdin.read(ctx, a.Line)
		}
	}
	res, err := r.nb.Execute(ctx, req, send)
	if res.NextInput != "" { // there is no cell to put it into
		send(Output{Type: Stream, Name: "stdout", Text: res.NextInput})
	}
	return res, err
}

// Engine is the one of [Engines] that cells run on now.
func (r *Runner) Engine() string { return r.nb.Engine() }

// LanguageInfo is what a front end writes into the metadata of a notebook that
// the kernel ran, as language_info.
func (r *Runner) LanguageInfo() map[string]any {
	l := languageInfo(r.Engine())
	return map[string]any{
		"name": l.Name, "version": l.Version, "mimetype": l.MIMEType, "file_extension": l.FileExtension,
		"pygments_lexer": l.PygmentsLexer, "codemirror_mode": l.CodeMirrorMode, "nbconvert_exporter": l.NBConvertExporter,
		"engine": l.Engine,
	}
}

// Close ends the worker and what it started.
func (r *Runner) Close() error { return r.nb.Close() }

// stdin is the input of a runner's cells.
type stdin struct {
	turn chan struct{} // holds a token while somebody reads, who may wait for long
	r    *bufio.Reader
}

// read returns a line, or what there is: what a terminal gives at a time, or a
// part of a file.
func (in *stdin) read(ctx context.Context, line bool) ([]byte, error) {
	select {
	case in.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type part struct {
		text []byte
		err  error
	}
	read := make(chan part, 1)
	go func() { // which a cell that is interrupted does not wait for
		defer func() { <-in.turn }()
		if line {
			text, err := in.r.ReadBytes('\n')
			if len(text) > 0 {
				err = nil
			}
			read <- part{text, err}
			return
		}
		_, err := in.r.Peek(1)
		text := make([]byte, in.r.Buffered())
		if len(text) > 0 {
			in.r.Read(text) // of what is there: all of it
			err = nil
		}
		read <- part{text, err}
	}()
	select {
	case p := <-read:
		return p.text, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
