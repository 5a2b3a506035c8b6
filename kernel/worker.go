package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm"
	"github.com/branchbook/branchbook/kernel/internal/engine/yaegi"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/session"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// ServeWorker is the process that a kernel or a [Runner] runs cells in; they
// start it. It returns when they hang up, also while a cell runs: the caller
// must then end the process. The engine is one of [Engines]; an empty name
// means the first.
func ServeWorker(engine string) error {
	open, err := engineNamed(engine)
	if err != nil {
		return err
	}
	return worker.Serve(open)
}

// Engines names what cells can run on, the default first.
func Engines() []string { return []string{"yaegi", "vm"} }

// engineNamed returns what opens an engine and its scope.
func engineNamed(name string) (func() (worker.Cells, error), error) {
	switch name {
	case "", "yaegi":
		return opener(func() (engine.Engine, error) { return yaegi.New(yaegi.Options{Importer: exports.Importer()}) }), nil
	case "vm":
		return opener(func() (engine.Engine, error) { return vm.New(vm.Options{Importer: exports.Importer()}) }), nil
	}
	return nil, fmt.Errorf("kernel: open the engine: no engine is called %q; there are %s", name, strings.Join(Engines(), " and "))
}

// opener opens an engine and has it run the prelude.
func opener(open func() (engine.Engine, error)) func() (worker.Cells, error) {
	return func() (worker.Cells, error) { return openEngine(open) }
}

func openEngine(open func() (engine.Engine, error)) (worker.Cells, error) {
	set := modules.NewSet(true)
	scope, c, err := newScope(set)
	if err != nil {
		return worker.Cells{}, err
	}
	eng, err := open()
	if err != nil {
		return worker.Cells{}, fmt.Errorf("kernel: open the engine: %w", err)
	}
	if out := eng.Run(context.Background(), c); out.Failure != nil {
		return worker.Cells{}, fmt.Errorf("kernel: run the prelude: %s", out.Failure.Message)
	}
	scope.Commit(c)
	return worker.Cells{Scope: scope, Engine: eng, Modules: set}, nil
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
	if opts.Engine != "" {
		if _, err := engineNamed(opts.Engine); err != nil {
			return nil, err
		}
		command = append(slices.Clip(command), "--engine="+opts.Engine)
	}
	set := modules.NewSet(false)
	return session.Open(session.Options{
		NewScope: func() (*cell.Scope, error) {
			scope, c, err := newScope(set)
			if err != nil {
				return nil, err
			}
			scope.Commit(c)
			return scope, nil
		},
		Command: command, Dir: opts.Dir, Env: opts.Env, Log: opts.Log, Modules: set,
	})
}
