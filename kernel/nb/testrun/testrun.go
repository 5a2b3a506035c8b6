// Package testrun runs tests that cells declare, for the magic %test.
package testrun

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is held by a run: package testing knows one at a time.
var running sync.Mutex

// atStart is where the flags of package testing are in a program that is a test
// itself.
var atStart = flag.CommandLine

// flags are those of package testing. They are registered once in a process, on
// what is flag.CommandLine then; the notebook's own is left alone.
var flags = sync.OnceValue(func() *flag.FlagSet {
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	defer func(before *flag.FlagSet) { flag.CommandLine = before }(flag.CommandLine)
	flag.CommandLine = set
	testing.Init()
	if set.Lookup("test.v") == nil {
		atStart.VisitAll(func(f *flag.Flag) { set.Var(f.Value, f.Name, f.Usage) })
	}
	return set
})

// Run runs tests and benchmarks as go test -v does, and prints what that
// prints. args are flags of go test, with or without "test." before their
// names: -run=A, -bench=. and so on. The error says that a test failed.
func Run(args []string, tests []testing.InternalTest, benchmarks []testing.InternalBenchmark) error {
	running.Lock()
	defer running.Unlock()
	set := flags()
	set.SetOutput(io.Discard)
	set.Visit(func(f *flag.Flag) { f.Value.Set(f.DefValue) }) // as the run before set it
	defer func(before *flag.FlagSet) { flag.CommandLine = before }(flag.CommandLine)
	flag.CommandLine = set
	if err := set.Parse(append([]string{"-test.v=true"}, prefixed(args)...)); err != nil {
		return fmt.Errorf("testrun: read flags: %w", err)
	}
	for i, t := range tests {
		tests[i].F = func(tb *testing.T) { guard(tb, func() { t.F(tb) }) }
	}
	for i, b := range benchmarks {
		benchmarks[i].F = func(tb *testing.B) { guard(tb, func() { b.F(tb) }) }
	}
	if testing.MainStart(deps{}, tests, benchmarks, nil, nil).Run() != 0 {
		return errors.New("a test failed")
	}
	return nil
}

// prefixed turns -run into -test.run.
func prefixed(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if name := strings.TrimLeft(a, "-"); name != a && !strings.HasPrefix(name, "test.") {
			out[i] = "-test." + name
		}
	}
	return out
}

// guard makes a panic a failure: package testing would end the process.
func guard(tb testing.TB, f func()) {
	defer func() {
		if x := recover(); x != nil {
			tb.Errorf("panic: %v", x)
		}
	}()
	f()
}

// deps is what package testing asks of the program that go test builds. It has
// neither a log of what tests read nor fuzzing.
type deps struct{}

// corpusEntry is package testing's, which has no name for others.
type corpusEntry = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}

func (deps) MatchString(pattern, s string) (bool, error) { return regexp.MatchString(pattern, s) }
func (deps) ImportPath() string                          { return "main" }
func (deps) ModulePath() string                          { return "" }
func (deps) SetPanicOnExit0(bool)                        {}
func (deps) StartCPUProfile(io.Writer) error             { return errors.New("no profiles in a notebook") }
func (deps) StopCPUProfile()                             {}
func (deps) WriteProfileTo(string, io.Writer, int) error {
	return errors.New("no profiles in a notebook")
}
func (deps) StartTestLog(io.Writer)                                   {}
func (deps) StopTestLog() error                                       { return nil }
func (deps) ResetCoverage()                                           {}
func (deps) SnapshotCoverage()                                        {}
func (deps) CheckCorpus([]any, []reflect.Type) error                  { return nil }
func (deps) ReadCorpus(string, []reflect.Type) ([]corpusEntry, error) { return nil, nil }
func (deps) RunFuzzWorker(func(corpusEntry) error) error {
	return errors.New("no fuzzing in a notebook")
}
func (deps) CoordinateFuzzing(time.Duration, int64, time.Duration, int64, int, []corpusEntry, []reflect.Type, string, string) error {
	return errors.New("no fuzzing in a notebook")
}
func (deps) InitRuntimeCoverage() (mode string, tearDown func(string, string) (string, error), snapcov func() float64) {
	return "", nil, nil
}
