package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// An example is one of the Go project's for its standard library, as a program
// of its own.
type example struct {
	dir, name string // slices, BinarySearch
	pkg       string // slices_test
	source    string
	want      string
	unordered bool
}

// Examples runs the examples of the standard library that have an output, each
// as a cell in its package's folder, and compares the output as go test does.
// remaining is a table of those that the engine fails, see known.
func Examples(t *testing.T, open func() (engine.Engine, error), remaining string) {
	fails := map[string]string{}
	for _, f := range known(t, remaining) {
		fails[f.name] = f.class
	}
	pacific, err := time.LoadLocation("America/Los_Angeles") // as the tests of package time do
	if err != nil {
		t.Fatal(err)
	}
	local := time.Local
	time.Local = pacific
	defer func() { time.Local = local }()
	counts := map[string]int{}
	for _, x := range standardExamples(t) {
		name := x.dir + "." + x.name
		t.Run(name, func(t *testing.T) {
			t.Chdir(filepath.Join(filepath.Dir(goTests(t)), "src", filepath.FromSlash(x.dir)))
			want := pass
			if class := fails[name]; class != "" {
				want = class
			}
			limit := 20 * time.Second
			if want == slow {
				limit = slowAfter
			}
			class, why := x.classify(t, open, limit)
			counts[class]++
			if class != want {
				t.Errorf("is %s, not %s: %s\n%s", class, want, why, x.source)
			}
			if class != pass { // a cleanup that is late must not print into the next example
				runtime.GC()
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	t.Logf("examples: %v", counts)
}

// standardExamples are those of the packages that cells can import.
func standardExamples(t *testing.T) (list []example) {
	t.Helper()
	src := filepath.Join(filepath.Dir(goTests(t)), "src")
	importer := exports.Importer()
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		dir, _ := filepath.Rel(src, path)
		if slices.Contains([]string{"testdata", "vendor", "internal", "cmd"}, d.Name()) {
			return filepath.SkipDir
		}
		if _, err := importer.Import(filepath.ToSlash(dir)); err != nil {
			return nil
		}
		files, err := filepath.Glob(filepath.Join(path, "*_test.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !bytes.Contains(source, []byte("func Example")) {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, source, parser.ParseComments)
			if err != nil {
				return err
			}
			if !strings.HasSuffix(f.Name.Name, "_test") {
				continue // it is of the package
			}
			for _, x := range doc.Examples(f) {
				if x.Play == nil || x.Output == "" && !x.EmptyOutput {
					continue
				}
				list = append(list, example{filepath.ToSlash(dir), strings.TrimPrefix(x.Name, "_"), f.Name.Name, formatted(t, fset, x.Play), x.Output, x.Unordered})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no examples in " + src)
	}
	return list
}

func formatted(t *testing.T, fset *token.FileSet, f *ast.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := format.Node(&b, fset, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// classify runs the example.
func (x example) classify(t *testing.T, open func() (engine.Engine, error), limit time.Duration) (class, why string) {
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := cell.NewScope(exports.Importer(), cell.Prelude{}).Check(1, x.source)
	if err != nil {
		return refused, "check: " + err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out engine.Outcome
	printed := capture(func() { out = e.Run(ctx, c) })
	if f := out.Failure; f != nil {
		switch f.Kind {
		case engine.Unsupported:
			return refused, f.Message
		case engine.Interrupt, engine.Stuck:
			return slow, f.Message
		}
		return loud, fmt.Sprint(f.Kind, " ", f.Message, " after ", printed)
	}
	got, want := x.comparable(printed), x.comparable(x.want)
	if x.unordered {
		got, want = sortedLines(got), sortedLines(want)
	}
	if got != want {
		return silent, fmt.Sprintf("printed\n%s\nwant\n%s", got, want)
	}
	return pass, ""
}

// place is one in the example's file, or in the cell that has its text.
var place = regexp.MustCompile(`\b(\w+_test\.go|In\[1\]):[1-9]\d*`)

// comparable is an output without what the program has otherwise than the
// example: its package's name, its file and lines.
func (x example) comparable(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), x.pkg+".", "main.")
	return place.ReplaceAllString(s, "PLACE")
}

func sortedLines(s string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(s, "\n")), "\n")
}
