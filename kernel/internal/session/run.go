package session

import (
	"fmt"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// exec is %exec: it calls a function without parameters as main would.
func (t *turn) exec(step cell.Step) error {
	name, args, _ := strings.Cut(step.Args, " ")
	if !token.IsIdentifier(name) {
		t.failMagic(step, "MagicError", "usage: %exec FUNCTION [ARG...]")
		return nil
	}
	if err := t.command(cell.Step{Magic: "args", Args: args, Line: step.Line, Col: step.Col}); err != nil || t.ended {
		return err
	}
	return t.goStep(cell.Step{Go: strings.Repeat("\n", step.Line-1) + "func() { flag.Parse(); " + name + "() }()"}, false, nil)
}

var (
	testType      = regexp.MustCompile(`^func\((\w+ )?\*testing\.T\)$`)
	benchmarkType = regexp.MustCompile(`^func\((\w+ )?\*testing\.B\)$`)
)

// test is %test: it runs the tests of the cell, or of all cells if it has none.
func (t *turn) test(step cell.Step) error {
	var tests, benchmarks [2][]string // of all cells, and of this one
	for _, n := range t.scope.Names() {
		list := &tests
		switch {
		case n.Kind == "func" && strings.HasPrefix(n.Name, "Test") && testType.MatchString(n.Type):
		case n.Kind == "func" && strings.HasPrefix(n.Name, "Benchmark") && benchmarkType.MatchString(n.Type):
			list = &benchmarks
		default:
			continue
		}
		entry := fmt.Sprintf("{Name: %q, F: %s}", n.Name, n.Name)
		list[0] = append(list[0], entry)
		if t.owner(n.Cell) == t.n {
			list[1] = append(list[1], entry)
		}
	}
	own := 0
	if len(tests[1])+len(benchmarks[1]) > 0 {
		own = 1
	}
	if len(tests[own])+len(benchmarks[own]) == 0 {
		t.failMagic(step, "MagicError", "no cell declares a test: func TestXxx(t *testing.T)")
		return nil
	}
	var flags []string
	if step.Args == "" && len(benchmarks[own]) > 0 && own == 1 {
		flags = []string{strconv.Quote("-bench=.")} // as in GoNB
	}
	for _, f := range strings.Fields(step.Args) {
		flags = append(flags, strconv.Quote(f))
	}
	n := t.part(t.n)
	source := fmt.Sprintf("cell__testrun.Run([]string{%s}, []testing.InternalTest{%s}, []testing.InternalBenchmark{%s})",
		strings.Join(flags, ", "), strings.Join(tests[own], ", "), strings.Join(benchmarks[own], ", "))
	if _, err := check(t.scope, n, source); err != nil {
		t.refuse(err)
		return nil
	}
	done, err := t.do(worker.Job{N: n, Source: source})
	switch {
	case err != nil || t.ended:
		return err
	case done.Failure != nil:
		t.end(t.runFailure(*done.Failure))
	case done.Error != nil:
		t.failMagic(step, "TestFailure", *done.Error)
	}
	return nil
}
