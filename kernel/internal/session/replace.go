package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// A loss is what a new worker in the place of one that ended does not know.
type loss struct {
	again  []int             // the cells whose declarations were made again
	values []string          // variables
	failed map[string]string // what else cells declared, and why it was not declared again
	names  []cell.Name       // what it knows
}

// replace puts a new worker in the place of one that ended, and declares again
// what cells declared and needs no value that is lost.
func (nb *Notebook) replace() (loss, error) {
	_, old, _ := nb.current()
	before := old.Names()
	nb.mu.Lock()
	decls := nb.decls
	nb.mu.Unlock()
	const tries = 3
	for range tries {
		plan, l, err := nb.plan(decls, before)
		if err != nil {
			return loss{}, err
		}
		culprit, err := nb.declare(plan)
		if err != nil {
			return loss{}, err
		}
		if culprit < 0 {
			nb.mu.Lock()
			nb.decls = plan
			nb.mu.Unlock()
			return l, nil
		}
		// It is what ends workers: without it.
		n := plan[culprit].N
		decls = slices.DeleteFunc(slices.Clone(decls), func(j worker.Job) bool { return j.N == n })
	}
	nb.mu.Lock()
	nb.decls = nil
	nb.mu.Unlock()
	_, l, err := nb.plan(nil, before)
	return l, errors.Join(err, nb.start())
}

// plan says what to do in a new worker so that it knows what decls declared and
// needs no lost value, and what is missing of the names before. Where the last
// declaration of a name cannot be made, an earlier one of that name is not made
// either: it would be in use where the last was meant.
func (nb *Notebook) plan(decls []worker.Job, before []cell.Name) (plan []worker.Job, l loss, err error) {
	without := map[string]string{}
	for {
		scope, err := nb.opts.NewScope()
		if err != nil {
			return nil, l, err
		}
		plan, l = nil, loss{}
		failed := map[string]string{}
		for _, job := range decls {
			if job.Command != nil {
				scope.Forget(strings.Fields(job.Command.Args)...)
				plan = append(plan, job)
				continue
			}
			var c *cell.Cell
			var made []string
			var wrong map[string]string
			if bug := protect(func() { c, made, wrong = scope.Redeclare(job.N, job.Source, without) }); bug != nil {
				nb.opts.Log.Error("session: declare again", "err", bug, "source", job.Source)
				continue
			}
			maps.Copy(failed, wrong)
			for _, name := range made {
				delete(failed, name)
			}
			if c != nil {
				scope.Commit(c)
				plan = append(plan, worker.Job{N: job.N, Source: c.Source})
				l.again = append(l.again, nb.owner(job.N))
			}
		}
		if len(failed) > 0 {
			maps.Copy(without, failed)
			continue
		}
		now := map[string]string{}
		l.names = scope.Names()
		for _, name := range l.names {
			now[name.Name] = name.Kind
		}
		var hidden []string // functions, say, whose name was a lost variable's at last
		for _, name := range before {
			switch {
			case name.Cell == 0 && name.Kind != "package":
			case name.Kind == "var":
				l.values = append(l.values, name.Name)
				if now[name.Name] != "" {
					hidden = append(hidden, name.Name)
				}
			case now[name.Name] == "" && without[name.Name] == "":
				without[name.Name] = "it cannot be made again"
			}
		}
		if len(hidden) > 0 {
			n := plan[len(plan)-1].N
			plan = append(plan, worker.Job{N: n, Command: &worker.Command{Name: "rm", Args: strings.Join(hidden, " ")}})
		}
		l.failed = without
		l.again = slices.Compact(l.again)
		return plan, l, nil
	}
}

// declare starts a worker and carries the plan out. It returns the place of the
// job that ended the worker, or -1.
func (nb *Notebook) declare(plan []worker.Job) (culprit int, err error) {
	if err := nb.start(); err != nil {
		return -1, err
	}
	process, scope, _ := nb.current()
	for i, job := range plan {
		var c *cell.Cell
		if job.Command == nil {
			if c, err = check(scope, job.N, job.Source); err != nil {
				continue // it has just been checked
			}
		}
		done, err := process.Run(context.Background(), job)
		var death *worker.Death
		switch {
		case errors.As(err, &death):
			if _, _, closed := nb.current(); closed {
				return -1, ErrClosed
			}
			return i, nil
		case err != nil:
			return -1, err
		case job.Command != nil:
			scope.Forget(strings.Fields(job.Command.Args)...)
		case done.Failure == nil:
			scope.Commit(c)
		default:
			nb.opts.Log.Warn("session: declare again", "cell", job.N, "failure", done.Failure.Message)
		}
	}
	return -1, nil
}

// told says what is lost, one line each.
func (l loss) told() []string {
	var lines []string
	if len(l.values) > 0 {
		verb := "are"
		if len(l.values) == 1 {
			verb = "is"
		}
		lines = append(lines, fmt.Sprintf("%s %s gone.", shortList(l.values), verb))
	}
	if len(l.failed) > 0 {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(l.failed)) {
			list = append(list, name+" ("+l.failed[name]+")")
		}
		lines = append(lines, "Not declared again: "+shortList(list)+".")
	}
	if len(l.again) > 0 {
		lines = append(lines, "Functions, types, constants and imports are kept: "+declaredAgain(l.again))
	}
	return lines
}

// shortList joins names, up to a number that can be read.
func shortList(names []string) string {
	const most = 30
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// declaredAgain says what a new worker knows.
func declaredAgain(cells []int) string {
	var names []string
	for _, n := range cells {
		name := fmt.Sprintf("In[%d]", n)
		if n > hiddenBase {
			name = "an uncounted cell"
		}
		names = append(names, name)
	}
	verb := "declare"
	if len(names) == 1 {
		verb = "declares"
	}
	return "what " + shortList(names) + " " + verb + " has been declared again."
}
