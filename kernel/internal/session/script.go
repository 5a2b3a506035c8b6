package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// A turn is one cell on its way through the steps of its script.
type turn struct {
	*Notebook
	ctx     context.Context
	process *worker.Process
	scope   *cell.Scope
	n       int // the cell's number
	source  string
	res     Result

	captured *capture // by %capture; nil where there is none
	acts     bool     // the cell does more than ask about names
	reads    string   // how the shell command that follows reads its input (worker.Command)

	took  time.Duration // by Go since a %time about the rest of the cell
	ended bool          // the cell failed, or no worker can be started
}

// run runs the cell, and keeps what %capture asked for.
func (t *turn) run() (Result, error) {
	res, err := t.steps()
	if err == nil && !res.Lost {
		t.ended = false
		err = t.keep()
		res = t.res
	}
	return res, err
}

// steps takes the steps in their order, up to the first that fails.
func (t *turn) steps() (Result, error) {
	var script *cell.Script
	var err error
	if bug := protect(func() { script, err = cell.ReadScript(t.source) }); bug != nil {
		err = bug
	}
	if err != nil {
		t.refuse(err)
		return t.res, nil
	}
	checked, err := t.checkWhole(script)
	if err != nil {
		t.refuse(err)
		return t.res, nil
	}
	last := -1 // the step of Go that has the cell's number, and shows its value
	for i, step := range script.Steps {
		if step.Go != "" && step.Magic != "timeit" || len(script.Steps) == 1 {
			last = i
		}
	}
	t.acts = slices.ContainsFunc(script.Steps, func(step cell.Step) bool {
		m, _ := cell.MagicOf(step.Magic)
		return step.Go != "" || m.Runs != cell.InFront
	})
	began := time.Duration(-1) // a %time about the rest
	for i, step := range script.Steps {
		switch {
		case step.Magic == "" || step.Magic == "time" && step.Go != "":
			before := t.took
			if err = t.goStep(step, i == last, checked); err == nil && step.Magic != "" && !t.ended {
				t.printWall(t.took - before)
			}
		case step.Magic == "time":
			began = t.took
		default:
			err = t.magic(step)
		}
		if err != nil || t.ended {
			return t.res, err
		}
	}
	if began >= 0 {
		t.printWall(t.took - began)
	}
	return t.res, nil
}

// checkWhole checks the Go of all steps as one, so that a cell whose Go is
// wrong runs nothing, not even the magics before it. The cell that it returns
// is nil where a step has to be checked when it is its turn: it is one of
// several, or comes after a %reset or a %get.
func (t *turn) checkWhole(script *cell.Script) (*cell.Cell, error) {
	steps := 0
	for _, step := range script.Steps {
		if step.Magic == "reset" || step.Magic == "get" {
			return nil, nil // the Go that follows has other names, or packages
		}
		if step.Go != "" && step.Magic != "timeit" {
			steps++
		}
	}
	if steps == 0 && len(script.Steps) > 0 && script.Steps[0].Magic != "" {
		return nil, nil
	}
	c, err := check(t.scope, t.n, script.Go)
	if err != nil || steps > 1 {
		return nil, err
	}
	return c, nil
}

// refuse shows what is wrong with the cell.
func (t *turn) refuse(err error) {
	t.ended = true
	var wrong cell.Diagnostics
	if !errors.As(err, &wrong) {
		t.res = t.fail(t.res, plainFailure("CompileError", err.Error()))
		return
	}
	for i := range wrong {
		wrong[i].Msg, wrong[i].Hint = t.ownNumbers(wrong[i].Msg), t.ownNumbers(wrong[i].Hint)
	}
	t.res = t.fail(t.res, compileFailure(t.n, t.source, wrong))
}

// hiddenCell is a cell that has no number of its own, in a message.
var hiddenCell = regexp.MustCompile(`\bIn\[[0-9]{7,}\]`)

// ownNumbers names the cells in a message whose steps are in it.
func (t *turn) ownNumbers(text string) string {
	return hiddenCell.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(s[len("In[") : len(s)-1])
		return fmt.Sprintf("In[%d]", t.owner(n))
	})
}

// goStep runs the Go of a step. The last of a cell has its number and shows
// its value; c is that, if it is checked already.
func (t *turn) goStep(step cell.Step, last bool, c *cell.Cell) error {
	n := t.n
	if !last {
		n = t.part(t.n)
	}
	if c == nil {
		var err error
		if c, err = check(t.scope, n, step.Go); err != nil {
			t.refuse(err)
			return nil
		}
	}
	done, err := t.do(worker.Job{N: n, Source: c.Source})
	if err != nil || t.ended {
		return err
	}
	if done.Failure == nil || done.Failure.Kind != "unsupported" {
		t.commit(t.scope, c)
	}
	switch {
	case done.Failure != nil:
		t.end(t.runFailure(*done.Failure))
	case done.Error != nil:
		t.end(t.errorFailure(c, *done.Error))
	case done.Result != nil && last:
		t.send(Output{Type: ExecuteResult, Count: t.res.Count, Data: done.Result, Metadata: done.Metadata})
	}
	return nil
}

// do has the worker do a job.
func (t *turn) do(job worker.Job) (worker.Done, error) {
	done, err := t.process.Run(t.ctx, job)
	if err != nil {
		t.ended = true
		t.res, err = t.died(t.res, err)
		return done, err
	}
	t.took += done.Took
	return done, nil
}

// end ends the cell with a failure.
func (t *turn) end(f failure) {
	t.ended = true
	t.res = t.fail(t.res, f)
}

// part gives a step of cell n a number of its own.
func (nb *Notebook) part(n int) int {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	nb.hidden++
	part := hiddenBase + nb.hidden
	nb.sources.add(part, nb.sources.all[n])
	nb.sources.owners[part] = n
	return part
}

// settle keeps what a command changed for the workers to come.
func (nb *Notebook) settle(s *worker.Settings) {
	if s == nil {
		return
	}
	if s.Modules != nil {
		nb.opts.Modules.Use(*s.Modules)
	}
	nb.mu.Lock()
	defer nb.mu.Unlock()
	if s.Dir != "" {
		nb.opts.Dir = s.Dir
	}
	if s.Limits != nil {
		nb.opts.Limits = s.Limits
	}
	if s.Args != nil {
		nb.opts.Args = s.Args
	}
	if len(s.Env) > 0 {
		if nb.opts.Env == nil {
			nb.opts.Env = os.Environ()
		}
		nb.opts.Env = slices.Concat(nb.opts.Env, s.Env)
	}
}
