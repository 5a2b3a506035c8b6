package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
	"github.com/branchbook/branchbook/kernel/notebook"
)

// save is %save: it writes the cells that ran as a file that branchbook run
// runs.
func (t *turn) save(step cell.Step) error {
	t.mu.Lock()
	ran, gone := slices.Clone(t.ran), t.ranGone
	t.mu.Unlock()
	if gone > 0 {
		t.note(fmt.Sprintf("the oldest %d cells are too long ago, and not in the file", gone))
	}
	var text string
	var err error
	switch name := strings.Trim(step.Args, `"'`); filepath.Ext(name) {
	case ".ipynb":
		text, err = notebookOf(ran)
	case ".go":
		text, err = t.fileOf(ran)
	default:
		err = errors.New("usage: %save [-f] FILE.go or FILE.ipynb")
	}
	if err != nil {
		t.failMagic(step, "MagicError", err.Error())
		return nil
	}
	return t.command(cell.Step{Magic: step.Magic, Args: step.Args, Body: text, Line: step.Line, Col: step.Col})
}

// notebookOf writes cells as a notebook.
func notebookOf(sources []string) (string, error) {
	nb := notebook.Notebook{Minor: 5, Metadata: map[string]any{
		"kernelspec":    map[string]any{"name": "branchbook", "display_name": "Go (Branchbook)", "language": "go"},
		"language_info": map[string]any{"name": "go"},
	}}
	for i, source := range sources {
		nb.Cells = append(nb.Cells, notebook.Cell{Kind: notebook.Code, ID: "cell-" + strconv.Itoa(i+1), Source: source})
	}
	data, err := nb.Encode()
	return string(data), err
}

// fileOf writes cells as one. They must be a cell together: each name declared
// once, no magic that takes the rest of its cell.
func (t *turn) fileOf(sources []string) (string, error) {
	text := strings.Join(sources, "\n\n") + "\n"
	script, err := cell.ReadScript(text)
	if err == nil {
		var scope *cell.Scope
		if scope, err = t.opts.NewScope(); err != nil {
			return "", err
		}
		_, err = check(scope, 1, script.Go)
	}
	var wrong cell.Diagnostics
	if errors.As(err, &wrong) {
		return "", fmt.Errorf("the cells do not make one Go file (%s); %%save NAME.ipynb keeps them apart", wrong[0].Msg)
	}
	return text, err
}

// forget is %rm.
func (t *turn) forget(step cell.Step) error {
	names := strings.Fields(step.Args)
	if len(names) == 0 {
		t.failMagic(step, "MagicError", "usage: %rm NAME...")
		return nil
	}
	unknown := t.scope.Forget(names...)
	job := worker.Job{N: t.n, Command: &worker.Command{Name: "rm", Args: step.Args}}
	if _, err := t.do(job); err != nil || t.ended {
		return err
	}
	t.declared(job, t.scope) // in the place of a worker that dies, too
	for _, name := range names {
		if slices.Contains(unknown, name) {
			t.note(name + " is no name that a cell declared")
		} else {
			t.print("Forgot " + name + "\n")
		}
	}
	return nil
}

// A capture is what a cell prints after its %capture.
type capture struct {
	step cell.Step
	text strings.Builder
}

// capture begins to keep what the cell prints.
func (t *turn) capture(step cell.Step) error {
	if step.Args == "" || t.captured != nil {
		t.failMagic(step, "MagicError", "usage: %capture [-a] FILE, once in a cell")
		return nil
	}
	c := &capture{step: step}
	t.captured = c
	t.emitMu.Lock()
	defer t.emitMu.Unlock()
	emit := t.emit
	t.emit = func(o Output) {
		switch o.Type {
		case Stream:
			c.text.WriteString(o.Text)
		case Display, ExecuteResult:
			if text, ok := o.Data["text/plain"].(string); ok {
				c.text.WriteString(strings.TrimSuffix(text, "\n") + "\n")
			}
		}
		emit(o)
	}
	return nil
}

// keep writes what was captured.
func (t *turn) keep() error {
	if t.captured == nil {
		return nil
	}
	t.emitMu.Lock()
	text := t.captured.text.String()
	t.emitMu.Unlock()
	step := t.captured.step
	return t.command(cell.Step{Magic: step.Magic, Args: step.Args, Body: text, Line: step.Line, Col: step.Col})
}
