// Package enginetest is one suite of tests for all engines: scripts of cells
// with what they print, show and fail with.
//
// A script is a file of testdata. Its cells are separated by lines of three
// dashes; the lines at the end of a cell that begin with one of
//
//	> a line that the cell prints to standard output
//	= a shown value: its static type, two spaces, its text
//	! the kind and message of a failure, then its places: panic m @ In[1]:2 f
//
// say what must happen. A line "# compiled" at the head means that the cells
// are also one Go program: its output is compared with compiled Go's. With a
// line "# panics" it is the message of its panic, and the places.
package enginetest

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

//go:embed testdata
var scripts embed.FS

// Script is a list of cells.
type Script struct {
	Name     string
	Compiled bool
	Panics   bool
	Cells    []Cell
}

// Cell is a cell's source and what must happen, line by line.
type Cell struct {
	Source string
	Want   []string
}

// Scripts are the suite's.
func Scripts(t testing.TB) []Script {
	t.Helper()
	files, err := fs.Glob(scripts, "testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var r []Script
	for _, f := range files {
		b, err := fs.ReadFile(scripts, f)
		if err != nil {
			t.Fatal(err)
		}
		r = append(r, parse(strings.TrimSuffix(path.Base(f), ".txt"), string(b))...)
	}
	return r
}

// parse reads scripts; a line "=== name" begins one.
func parse(file, text string) []Script {
	var r []Script
	for _, part := range strings.Split("\n"+text, "\n=== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		s := Script{Name: file + "/" + name}
		if rest, ok := strings.CutPrefix(body, "# compiled\n"); ok {
			s.Compiled, body = true, rest
		} else if rest, ok := strings.CutPrefix(body, "# panics\n"); ok {
			s.Panics, body = true, rest
		}
		for _, chunk := range strings.Split("\n"+body, "\n---\n") {
			s.Cells = append(s.Cells, parseCell(chunk))
		}
		r = append(r, s)
	}
	return r
}

func parseCell(chunk string) Cell {
	lines := strings.Split(strings.Trim(chunk, "\n"), "\n")
	k := len(lines)
	for k > 0 && (strings.HasPrefix(lines[k-1], "> ") || lines[k-1] == ">" || strings.HasPrefix(lines[k-1], "= ") || strings.HasPrefix(lines[k-1], "! ")) {
		k--
	}
	return Cell{Source: strings.Join(lines[:k], "\n"), Want: lines[k:]}
}

// Prelude is the notebook of the suite: what the kernel preloads, as far as
// it concerns the language.
const Prelude = `import "context"
var ctx context.Context
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}`

// Notebook runs cells one after the other in a new engine and scope.
type Notebook struct {
	Engine engine.Engine
	Scope  *cell.Scope
	n      int
}

// Open makes a notebook and runs the prelude as In[0].
func Open(t testing.TB, open func() (engine.Engine, error)) *Notebook {
	t.Helper()
	nb := openBare(t, open)
	t.Cleanup(func() { nb.Engine.Close() })
	nb.n = -1
	if _, out, err := nb.Run(context.Background(), Prelude); err != nil || out.Failure != nil {
		t.Fatal("prelude:", err, out.Failure)
	}
	return nb
}

// openBare makes a notebook without the prelude, for the caller to close.
func openBare(t testing.TB, open func() (engine.Engine, error)) *Notebook {
	t.Helper()
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return &Notebook{Engine: e, Scope: cell.NewScope(exports.Importer(), cell.Prelude{Imports: exports.Names()})}
}

// Run checks and runs the next cell; printed is what went to standard output.
func (nb *Notebook) Run(ctx context.Context, source string) (printed string, out engine.Outcome, err error) {
	c, err := nb.check(source)
	if err != nil {
		return "", out, err
	}
	printed = capture(func() { out = nb.Engine.Run(ctx, c) })
	if out.Failure == nil || out.Failure.Kind != engine.Unsupported {
		nb.Scope.Commit(c)
	}
	return printed, out, nil
}

// check checks the next cell.
func (nb *Notebook) check(source string) (*cell.Cell, error) {
	nb.n++
	return nb.Scope.Check(nb.n, source)
}

// capture returns what f writes to os.Stdout.
func capture(f func()) string {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	old := os.Stdout
	os.Stdout = w
	got := make(chan string)
	go func() {
		var b bytes.Buffer
		io.Copy(&b, r)
		got <- b.String()
	}()
	f()
	os.Stdout = old
	w.Close()
	return <-got
}

// Report writes an outcome as scripts do.
func Report(printed string, out engine.Outcome, err error) []string {
	var r []string
	if printed != "" {
		for _, l := range strings.Split(strings.TrimSuffix(printed, "\n"), "\n") {
			r = append(r, strings.TrimRight("> "+l, " "))
		}
	}
	if err != nil {
		return append(r, "! check "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for _, v := range out.Values {
		text := fmt.Sprint(v.Any)
		switch {
		case v.Error != nil:
			text = v.Error()
		case v.String != nil:
			text = v.String()
		}
		r = append(r, "= "+v.Type+"  "+text)
	}
	if f := out.Failure; f != nil {
		s := "! " + string(f.Kind) + " " + strings.ReplaceAll(f.Message, "\n", "; ")
		for _, at := range f.Frames {
			file := at.File
			if file == "" {
				file = fmt.Sprintf("In[%d]", at.Cell)
			}
			s += strings.TrimRight(fmt.Sprintf(" @ %s:%d %s", file, at.Line, at.Func), " ")
		}
		r = append(r, s)
	}
	return r
}

// Run runs the suite on the engine that open makes. skip names scripts that
// the engine cannot pass, each with the reason.
func Run(t *testing.T, open func() (engine.Engine, error), skip map[string]string) {
	for _, s := range Scripts(t) {
		t.Run(s.Name, func(t *testing.T) {
			if why := skip[s.Name]; why != "" {
				t.Skip(why)
			}
			nb := Open(t, open)
			for i, c := range s.Cells {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				got := Report(nb.Run(ctx, c.Source))
				cancel()
				if g, w := strings.Join(got, "\n"), strings.Join(c.Want, "\n"); g != w {
					t.Errorf("In[%d]:\n%s\ngot\n%s\nwant\n%s", i+1, c.Source, g, w)
				}
			}
		})
	}
	t.Run("interrupt", func(t *testing.T) { testInterrupt(t, open) })
}
