package kernel

import (
	"context"
	"fmt"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/yaegi"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/session"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// ServeWorker is the process that a kernel or a [Runner] runs cells in; they
// start it. It returns when they hang up, also while a cell runs: the caller
// must then end the process.
func ServeWorker() error { return worker.Serve(openEngine) }

// openEngine makes the engine and has it run the prelude.
func openEngine() (worker.Scope, engine.Engine, error) {
	scope, c, err := newScope()
	if err != nil {
		return nil, nil, err
	}
	eng, err := yaegi.New(yaegi.Options{Importer: exports.Importer()})
	if err != nil {
		return nil, nil, fmt.Errorf("kernel: open the engine: %w", err)
	}
	if out := eng.Run(context.Background(), c); out.Failure != nil {
		return nil, nil, fmt.Errorf("kernel: run the prelude: %s", out.Failure.Message)
	}
	scope.Commit(c)
	return scope, eng, nil
}

// newNotebook starts a worker, and checks the prelude for this side.
func newNotebook(opts RunnerOptions) (*session.Notebook, error) {
	command := opts.Command
	if len(command) == 0 {
		var err error
		if command, err = defaultCommand(); err != nil {
			return nil, err
		}
	}
	return session.Open(session.Options{
		NewScope: func() (*cell.Scope, error) {
			scope, c, err := newScope()
			if err != nil {
				return nil, err
			}
			scope.Commit(c)
			return scope, nil
		},
		Command: command, Dir: opts.Dir, Env: opts.Env, Log: opts.Log,
	})
}
