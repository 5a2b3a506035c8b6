package enginetest

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

const (
	fewPrograms = 60  // of a test that takes seconds
	batch       = 200 // programs that are compiled at once
	maxShrunk   = 3   // differences that are made small
)

// Differential compares what generated programs print as cells, in three
// forms, with what they print compiled. Programs say nothing of what is in
// without. What the engine refuses is counted, by reason.
//
// BRANCHBOOK_PROGRAMS says how many programs there are, BRANCHBOOK_SEED which
// is the first. The first few that print something else are made small.
func Differential(t *testing.T, open func() (engine.Engine, error), without Feature) {
	needGo(t)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // programs leave much behind, and soon
	n, seed := envInt(t, "BRANCHBOOK_PROGRAMS", fewPrograms), envInt(t, "BRANCHBOOK_SEED", 1)
	d := &differential{open: open, without: without, refused: map[string]int{}}
	for _, path := range imports { // while nobody checks types: see exports.Importer
		if _, err := exports.Importer().Import(path); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	type compiled struct {
		seeds []int
		ps    []generated
		want  []string
		err   error
	}
	next := make(chan compiled, 1)
	go func() { // compiles while the engine runs what was compiled before
		defer close(next)
		for from := seed; from < seed+n; from += batch {
			var c compiled
			for s := from; s < min(from+batch, seed+n); s++ {
				p := generate(s, d.without)
				if err := p.vet(); err != nil {
					d.invalid = append(d.invalid, fmt.Sprintf("seed %d: %v", s, err))
					continue
				}
				c.seeds, c.ps = append(c.seeds, s), append(c.ps, p)
			}
			c.want, c.err = compilePrograms(c.ps, from, time.Minute)
			next <- c
		}
	}()
	ran := 0
	for c := range next {
		if c.err != nil {
			t.Fatal(c.err)
		}
		for i, s := range c.seeds {
			ran++
			if diff := d.compare(t, c.ps[i], c.want[i]); diff != "" {
				d.differ = append(d.differ, s)
				t.Errorf("seed %d: %s", s, diff)
				if len(d.differ) <= maxShrunk {
					t.Logf("seed %d, smaller: %s", s, d.shrink(t, c.ps[i], diff))
				}
			}
		}
	}
	t.Logf("%d programs, %.0f a minute; %d differ %v; %d are no Go", ran, float64(ran)/time.Since(start).Minutes(), len(d.differ), d.differ, len(d.invalid))
	for _, why := range slices.Sorted(maps.Keys(d.refused)) {
		t.Logf("refused %d times: %s", d.refused[why], why)
	}
	for _, s := range d.invalid[:min(len(d.invalid), 5)] {
		t.Log("no Go: ", s)
	}
	if len(d.invalid) > ran/20 {
		t.Errorf("%d programs of %d are no Go", len(d.invalid), ran)
	}
}

func envInt(t *testing.T, name string, or int) int {
	s := os.Getenv(name)
	if s == "" {
		return or
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

type differential struct {
	open    func() (engine.Engine, error)
	without Feature
	refused map[string]int
	invalid []string
	differ  []int
}

// vet says why the program is not for comparison: a compiler would refuse it.
func (p generated) vet() error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", p.program(), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range f.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body == nil {
			return fmt.Errorf("%s has no body", f.Name.Name)
		}
	}
	conf := types.Config{Importer: exports.Importer(), GoVersion: "go1.26"}
	_, err = conf.Check("p", fset, []*ast.File{f}, nil)
	return err
}

// compilePrograms returns what programs print, which get numbers from first on;
// nothing for those that take longer than limit.
func compilePrograms(ps []generated, first int, limit time.Duration) ([]string, error) {
	files := map[string]string{"library.go": "package p\n" + importing(library(), "")}
	var functions []string
	for i, p := range ps {
		functions = append(functions, fmt.Sprintf("p.Run_%d", first+i))
		files[fmt.Sprintf("p%d.go", first+i)] = p.file(first + i)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	printed, err := runCompiled(dir, packages{"p": files}, functions, limit)
	if err != nil {
		return nil, err
	}
	r := make([]string, len(ps))
	for i, f := range functions {
		s := strings.ReplaceAll(printed[f], fmt.Sprintf("_%d", first+i), "")
		r[i] = strings.NewReplacer("compiled/p.", "main.", "p.", "main.").Replace(s)
	}
	return r, nil
}

// compare runs a program in all its forms. The result says what is different.
func (d *differential) compare(t testing.TB, p generated, want string) string {
	for _, form := range []struct {
		what  string
		cells []string
	}{
		{"many cells", p.cells()},
		{"one cell", []string{p.cell()}},
		{"a program", []string{p.program()}},
	} {
		got, refused := d.run(t, form.cells)
		if refused != "" {
			d.refused[refused]++
			continue
		}
		if got != want {
			return fmt.Sprintf("%s:\n%s\nprint\n%s\ncompiled Go prints\n%s\n%s", form.what, strings.Join(form.cells, "\n---\n"), got, want, firstDifference(got, want))
		}
	}
	return ""
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, g[i], w[i])
		}
	}
	return ""
}

// run returns what cells print, or why the engine refuses them.
func (d *differential) run(t testing.TB, cells []string) (printed, refused string) {
	nb := openBare(t, d.open)
	defer nb.Engine.Close()
	var b strings.Builder
	for _, c := range cells {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		s, out, err := nb.Run(ctx, c)
		cancel()
		b.WriteString(s)
		if err != nil {
			return b.String() + "check: " + err.Error(), ""
		}
		if f := out.Failure; f != nil {
			if f.Kind == engine.Unsupported {
				return "", f.Message
			}
			fmt.Fprintf(&b, "%s: %s\n", f.Kind, f.Message)
			break
		}
	}
	return b.String(), ""
}
