package kernel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm"
	"github.com/branchbook/branchbook/kernel/internal/engine/yaegi"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/session"
	"github.com/branchbook/branchbook/kernel/internal/symbols/lab"
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

// engineKind is a kind of engine.
type engineKind struct {
	name  string
	unfit string // why it does not run in this program; empty where it does
	open  func() (engine.Engine, error)
}

// engines are what cells can run on, the default first.
var engines = []engineKind{
	{"vm", vm.Unfit(), func() (engine.Engine, error) {
		return vm.New(vm.Options{Importer: exports.Importer(), Symbols: engine.Ordered(lab.All())})
	}},
	{"yaegi", "", func() (engine.Engine, error) {
		return yaegi.New(yaegi.Options{Importer: exports.Importer(), Symbols: engine.Ordered(lab.All())})
	}},
}

// Engines names what cells can run on, the default first.
func Engines() (names []string) {
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}

// ChooseEngine returns the one of [Engines] that cells run on where name is
// asked for; an empty name means the first. If that does not run in this
// program, with its processor or Go, it is another one, and why says so.
func ChooseEngine(name string) (engine, why string, err error) {
	if name == "" {
		name = engines[0].name
	}
	for _, e := range engines {
		if e.name != name {
			continue
		}
		if e.unfit == "" {
			return name, "", nil
		}
		for _, other := range engines {
			if other.unfit == "" {
				return other.name, fmt.Sprintf("cells run on %s: the engine %s does not run here, %s", other.name, name, e.unfit), nil
			}
		}
	}
	return "", "", fmt.Errorf("kernel: choose the engine: none is called %q; there are %s", name, strings.Join(Engines(), " and "))
}

// engineNamed returns what opens an engine and its scope.
func engineNamed(name string) (func() (worker.Cells, error), error) {
	name, _, err := ChooseEngine(name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(engines, func(e engineKind) bool { return e.name == name })
	return func() (worker.Cells, error) { return openEngine(engines[i].open) }, nil
}

// openEngine opens an engine and has it run the prelude.
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

// newNotebook starts a worker, and checks the prelude for this side. Outputs of
// its cells may be for a Jupyter server.
func newNotebook(opts RunnerOptions, server bool) (*session.Notebook, error) {
	command := opts.Command
	if len(command) == 0 {
		var err error
		if command, err = defaultCommand(); err != nil {
			return nil, err
		}
	}
	engine, why, err := ChooseEngine(opts.Engine)
	if err != nil {
		return nil, err
	}
	if why != "" && opts.Log != nil {
		opts.Log.Warn("kernel: " + why)
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
		Command: command, Engine: engine, ChooseEngine: ChooseEngine, Engines: Engines(), Dir: opts.Dir, Env: opts.Env, Log: opts.Log, Modules: set,
		Doc: exports.Doc, Models: opts.Models,
		Paths:   func() []string { return slices.Collect(maps.Keys(exports.Names())) },
		Endless: opts.File != "", Server: server,
	})
}
