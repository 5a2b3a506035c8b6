package enginetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
	root, err := exec.Command("go", "env", "GOROOT").Output()
	dir := filepath.Join(strings.TrimSpace(string(root)), "test")
	if _, statErr := os.Stat(filepath.Join(dir, "helloworld.go")); err != nil || statErr != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no Go tests in " + dir)
		}
		t.Skip("no Go tests in " + dir)
	}
	list, err := scripts.ReadFile("testdata/goroot.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := os.Getenv("BRANCHBOOK_CONFORMANCE") == "all"
	for i, name := range strings.Fields(string(list)) {
		if !all && i%fastEvery != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			source, err := os.ReadFile(path)
			if err != nil {
				t.Skip("not in this Go: ", err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			printed, out := program(t, open, string(source))
			if f := out.Failure; f != nil && (f.Kind != engine.Exit || f.Message != "exit status 0") {
				t.Fatalf("%s: %s", f.Kind, f.Message)
			}
			if printed != string(want) {
				t.Errorf("printed %q, want %q", printed, want)
			}
		})
	}
}

// program runs a whole program as the only cell of a notebook.
func program(t *testing.T, open func() (engine.Engine, error), source string) (printed string, out engine.Outcome) {
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	printed = capture(func() { out = e.Run(ctx, c) })
	return printed, out
}
