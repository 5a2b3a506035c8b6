package enginetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// fastEvery is how many programs of the list there are to one that runs when
// not all are asked for.
const fastEvery = 10

// Conformance runs the Go project's own tests of the language, the programs
// of $GOROOT/test that testdata/goroot.txt names: each must run to its end and
// print what the file beside it says, or nothing. They check themselves: a
// failed check panics, exits or prints. With BRANCHBOOK_CONFORMANCE=all it
// runs every program of the list, else a part that takes a few seconds.
func Conformance(t *testing.T, open func() (engine.Engine, error)) {
	dir := goTests(t)
	list, err := scripts.ReadFile("testdata/goroot.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range strings.Fields(string(list)) {
		if !everything() && i%fastEvery != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if why := racy[name]; Race && why != "" {
				t.Skip(why)
			}
			if class, why := classify(t, open, dir, name, time.Minute); class != pass {
				t.Errorf("%s: %s", class, why)
			}
		})
	}
}

// racy are programs that have a data race of their own.
var racy = map[string]string{
	"chan/powser1.go": "goroutines count chnameserial",
	"chan/powser2.go": "goroutines count chnameserial",
}

// everything tells whether all programs are asked for.
func everything() bool { return os.Getenv("BRANCHBOOK_CONFORMANCE") == "all" }

// goTests is the folder of the Go project's tests.
func goTests(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	dir := filepath.Join(strings.TrimSpace(string(root)), "test")
	if _, statErr := os.Stat(filepath.Join(dir, "helloworld.go")); err != nil || statErr != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no Go tests in " + dir)
		}
		t.Skip("no Go tests in " + dir)
	}
	return dir
}

// Classes of what an engine does with a program.
const (
	pass    = "pass"
	refused = "refused" // before anything ran, at the place and with the reason
	loud    = "loud"    // stopped by the engine at run time
	slow    = "slow"    // did not end in time
	silent  = "silent"  // another output, or the program's own check failed
)

// slowAfter is when a program that is known to be slow is left alone.
const slowAfter = 5 * time.Second

// knownFailure is what an engine is known to fail, and how.
type knownFailure struct{ name, class string }

// known reads a table of failures: a line has a name, a class and a cause.
func known(t *testing.T, table string) (all []knownFailure) {
	t.Helper()
	for line := range strings.Lines(table) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		class, cause, _ := strings.Cut(rest, " ")
		if name == "" || name == "#" {
			continue
		}
		if cause == "" {
			t.Errorf("%s: no cause", name)
		}
		all = append(all, knownFailure{name, class})
	}
	return all
}

// Remaining checks the table of those programs of $GOROOT/test that an engine
// fails, see known. Each must fail as it says, so that the table cannot rot. It
// runs with BRANCHBOOK_CONFORMANCE=all.
func Remaining(t *testing.T, open func() (engine.Engine, error), table string) {
	if !everything() {
		t.Skip("BRANCHBOOK_CONFORMANCE is not all")
	}
	dir := goTests(t)
	counts := map[string]int{}
	for _, f := range known(t, table) {
		name, class := f.name, f.class
		counts[class]++
		t.Run(name, func(t *testing.T) {
			limit := time.Minute
			if class == slow {
				limit = slowAfter
			}
			got, why := classify(t, open, dir, name, limit)
			if class == slow && got == pass {
				return // a faster machine
			}
			if got != class {
				t.Errorf("is %s now, the table says %s: %s", got, class, why)
			}
		})
	}
	t.Logf("remaining: %v", counts)
}

// classify runs a program of the Go project's tests.
func classify(t *testing.T, open func() (engine.Engine, error), dir, name string, limit time.Duration) (class, why string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	source, err := os.ReadFile(path)
	if err != nil {
		t.Skip("not in this Go: ", err)
	}
	want, err := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	printed, out := program(t, open, string(source), limit)
	f := out.Failure
	switch {
	case f == nil || f.Kind == engine.Exit && f.Message == "exit status 0":
		if printed == string(want) {
			return pass, ""
		}
		return silent, fmt.Sprintf("printed %q, want %q", printed, want)
	case f.Kind == engine.Unsupported:
		return refused, f.Message
	case f.Kind == engine.Interrupt || f.Kind == engine.Stuck:
		return slow, f.Message
	case f.Kind == engine.Panic && engines.MatchString(f.Message):
		return loud, f.Message
	}
	return silent, string(f.Kind) + " " + f.Message + "; " + printed
}

// engines matches messages that no program of the list makes itself.
var engines = regexp.MustCompile(`^(reflect|runtime error|interface conversion|interp|-: |comparing|[a-z]+ of nil)|interp\.|yaegi`)

// program runs a whole program as the only cell of a notebook.
func program(t *testing.T, open func() (engine.Engine, error), source string, limit time.Duration) (printed string, out engine.Outcome) {
	t.Helper()
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := cell.NewScope(exports.Importer(), cell.Prelude{}).Check(1, source)
	if err != nil {
		t.Fatal("check: ", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	printed = capture(func() { out = e.Run(ctx, c) })
	return printed, out
}
