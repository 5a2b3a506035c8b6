package cell_test

import (
	"errors"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

var update = flag.Bool("update", false, "rewrite the golden texts")

var prelude = cell.Prelude{Imports: map[string]string{
	"errors": "errors", "fmt": "fmt", "maps": "maps", "math": "math", "os": "os", "path": "path", "rand": "math/rand/v2",
	"slices": "slices", "strconv": "strconv", "strings": "strings", "time": "time", "missing": "example.com/missing",
}}

var saying = regexp.MustCompile(`^// (show|hoisted|defines|replaces|imports|main): ?(.*)$`)

// newScope returns a scope in which the cells have run.
func newScope(t testing.TB, cells ...string) *cell.Scope {
	t.Helper()
	s := cell.NewScope(exports.Importer(), prelude)
	for i, src := range cells {
		c, err := s.Check(i+1, src)
		if err != nil {
			t.Fatalf("In[%d]: %v", i+1, err)
		}
		s.Commit(c)
	}
	return s
}

// chunks reads a file of cells, one after the other between lines of ---.
func chunks(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n---\n")
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return names
}

// TestCheck runs the notebooks of testdata/check. A comment ERROR "text"
// stands behind the token at which a diagnostic begins whose message and hint
// contain the text; what a cell gets right is told by comments that begin
// with show:, hoisted:, defines:, replaces:, imports: or main:.
func TestCheck(t *testing.T) {
	for _, name := range files(t, "testdata/check/*.txt") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			s := cell.NewScope(exports.Importer(), prelude)
			for i, src := range chunks(t, name) {
				t.Run(fmt.Sprintf("In[%d]", i+1), func(t *testing.T) { checkCell(t, s, i+1, src) })
			}
		})
	}
}

func checkCell(t *testing.T, s *cell.Scope, n int, src string) {
	wanted, says := expectations(t, src)
	c, err := s.Check(n, src)
	var diags cell.Diagnostics
	if err != nil && !errors.As(err, &diags) {
		t.Fatalf("error is a %T", err)
	}
	for _, d := range diags {
		at := fmt.Sprintf("%d:%d", d.Line, d.Col)
		text := d.Msg + " (" + d.Hint + ")"
		want, ok := wanted[at]
		delete(wanted, at)
		switch {
		case !ok:
			t.Errorf("%s: unexpected: %s", at, text)
		case !strings.Contains(text, want):
			t.Errorf("%s: got %s, want %q", at, text, want)
		}
	}
	for at, want := range wanted {
		t.Errorf("%s: no error, want %q", at, want)
	}
	if err != nil {
		if len(says) > 0 {
			t.Error("the cell does not check")
		}
		return
	}
	s.Commit(c)
	for what, want := range says {
		if got := describe(t, c, what); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
}

// expectations reads the comments of a cell: messages by position, and what
// is said of it.
func expectations(t *testing.T, src string) (wanted, says map[string]string) {
	wanted, says = map[string]string{}, map[string]string{}
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var sc scanner.Scanner
	sc.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	last, length := token.Position{Line: 1, Column: 1}, 0
	for {
		pos, tok, lit := sc.Scan()
		switch {
		case tok == token.EOF:
			return wanted, says
		case tok == token.COMMENT && strings.HasPrefix(lit, "/* ERROR "):
			want, err := strconv.Unquote(strings.TrimSpace(lit[len("/* ERROR ") : len(lit)-len("*/")]))
			if err != nil {
				t.Fatalf("%s: %v", lit, err)
			}
			if strings.Contains(want, "newline") {
				last.Column += length // the semicolon that the scanner puts there
			}
			wanted[fmt.Sprintf("%d:%d", last.Line, last.Column)] = want
		case tok == token.COMMENT:
			if m := saying.FindStringSubmatch(lit); m != nil {
				says[m[1]] = m[2]
			}
		case tok != token.SEMICOLON || lit != "\n":
			last, length = fset.PositionFor(pos, false), max(len(lit), 1)
		}
	}
}

func describe(t *testing.T, c *cell.Cell, what string) string {
	var list []string
	switch what {
	case "show":
		if c.Show == nil {
			return ""
		}
		tv := c.Info.Types[c.Show]
		return types.TypeString(tv.Type, cell.Qualify)
	case "hoisted":
		for _, v := range c.Hoisted {
			list = append(list, v.Name()+" "+types.TypeString(v.Type(), cell.Qualify))
		}
	case "defines":
		for _, o := range c.Defines {
			list = append(list, o.Name())
		}
	case "replaces":
		for _, o := range c.Defines {
			if c.Replaces[o] != nil {
				list = append(list, o.Name())
			}
		}
	case "imports":
		for _, p := range c.Imports {
			list = append(list, p.Name()+" "+p.Imported().Path())
		}
	case "main":
		return strconv.FormatBool(c.Main)
	}
	return strings.Join(list, ", ")
}

// TestText compares the texts of the cells of testdata/text with those that
// stand behind them.
func TestText(t *testing.T) {
	for _, name := range files(t, "testdata/text/*.txt") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			s := cell.NewScope(exports.Importer(), prelude)
			var out []string
			for i, chunk := range chunks(t, name) {
				src, _, _ := strings.Cut(chunk, "\n-- text --\n")
				c, err := s.Check(i+1, src)
				if err != nil {
					t.Fatalf("In[%d]: %v", i+1, err)
				}
				s.Commit(c)
				out = append(out, src+"\n-- text --\n"+strings.TrimSuffix(string(c.Text), "\n"))
			}
			got := strings.Join(out, "\n---\n") + "\n"
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := strings.Join(chunks(t, name), "\n---\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
