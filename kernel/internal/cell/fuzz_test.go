package cell_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// hostile are sources that ask much of a parser.
var hostile = map[string]string{
	"nothing":                       "",
	"a NUL":                         "x := \"\x00\"\x00",
	"invalid UTF-8":                 "x := \"\xff\xfe\"; \xff",
	"a byte order mark":             "\ufeffx := 1",
	"a byte order mark inside":      "x := 1\n\ufeffy := 2",
	"carriage returns":              "x := `a\r\nb`\r\ny := 1\r\nx\r\n",
	"an open string":                "x := \"abc",
	"an open raw string":            "x := `abc",
	"an open comment":               "x /* abc",
	"deep parentheses":              strings.Repeat("(", 100000),
	"deep balanced parentheses":     strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000),
	"deep blocks":                   strings.Repeat("{", 900) + strings.Repeat("}", 900),
	"a long sum":                    "x := 1" + strings.Repeat("+1", 200000),
	"a long chain of calls":         "x" + strings.Repeat(".f()", 50000),
	"many unary operators":          "x := " + strings.Repeat("-", 100000) + "1",
	"many pointers":                 "var x " + strings.Repeat("*", 100000) + "int",
	"a long chain of else":          "if a {}" + strings.Repeat(" else if a {}", 20000),
	"a megabyte of names":           strings.Repeat("abc ", 1<<18),
	"many statements":               strings.Repeat("x // comment ..\n", 1<<14),
	"many definitions":              strings.Repeat("a, b := b, a // .......\n", 1<<13),
	"a megabyte of text":            "x := `" + strings.Repeat("a", 1<<20) + "`",
	"a megabyte of garbage":         strings.Repeat("\x01\x80({[", 1<<18),
	"many different errors":         strings.Repeat("un := defined; f(1, 2)\n", 5000),
	"line directives":               "//line a.go:1\n/*line b:2:3*/x\n//line :1\ny",
	"our own names":                 "cell__1 := 1\nfunc cell__1() {}\ncell__1_x := 2",
	"a recursive type":              "type T struct{ T }\nvar x T",
	"types in a circle":             "type A B\ntype B A",
	"a recursive generic type":      "type T[P any] struct{ f *T[T[P]] }\nvar x T[int]",
	"a method on nothing":           "func () M() {}",
	"a method on a literal":         "func (struct{}) M() {}",
	"a method on a variable":        "x := 1\nfunc (x) M() {}",
	"a method on an alias":          "type A = int\nfunc (A) M() {}",
	"an empty declaration":          "var ()\ntype ()\nconst ()\nimport ()",
	"a var of nothing":              "var x",
	"a define of nothing":           "x, := 1",
	"a type of nothing":             "type",
	"a type in parentheses":         "type (\n)\ntype (x",
	"constant out of all bounds":    "x := 1 << 100000000",
	"an enormous array":             "var x [1<<40]int",
	"a label alone":                 "L:",
	"import of nothing":             "import",
	"import of an empty path":       `import ""`,
	"import of a broken path":       `import "a b\x00"`,
	"import C":                      `import "C"`,
	"import unsafe":                 "import \"unsafe\"\nunsafe.Sizeof(1)",
	"itself":                        "x := func() { x() }\nx()",
	"a declaration that ends early": "cell__0 :  1\nfunc cel1\nfu() {}\ncell__1_x := 2",
	"a type of nothing known":       "type A T ",
	"blank everything":              "_ := 1\nvar _ = 2\nfunc _() {}\ntype _ int\nconst _ = 3",
	"main as variable":              "main := 1",
	"init as variable":              "init := 1",
	"a name of the file's package":  "main.x",
}

// notebook is a scope with a little of everything.
func notebook(t testing.TB) *cell.Scope {
	return newScope(t,
		"type T struct{ a int; b string }\nfunc (t T) M() int { return t.a }\nfunc f(x, y int) int { return x + y }",
		"x := T{1, \"a\"}\ny := []T{x}\nvar e error",
		"type G[P any] struct{ p P }\nfunc (g *G[P]) Set(p P) { g.p = p }\nconst k = 1",
		"import . \"math\"\nimport str \"strings\"\n_ = str.ToUpper(\"\")",
	)
}

// within fails the test if f does not end in time.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d > limit {
		t.Errorf("took %v, more than %v", d, limit)
	}
}

func TestHostileSourcesEnd(t *testing.T) {
	s := notebook(t)
	for name, src := range hostile {
		t.Run(name, func(t *testing.T) {
			within(t, 20*time.Second, func() { s.Check(5, src) })
			within(t, 10*time.Second, func() { cell.Status(src) })
			n := utf8.RuneCountInString(src)
			for _, cursor := range []int{-1, 0, 1, n / 2, n, n + 1} {
				within(t, 20*time.Second, func() { s.Complete(src, cursor) })
			}
		})
	}
}

// seeds adds the hostile sources of moderate size and the cells of testdata.
func seeds(f *testing.F, add func(src string)) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		if src := hostile[name]; len(src) < 1000 {
			add(src)
		}
	}
	names, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, src := range strings.Split(string(data), "\n---\n") {
			add(src)
		}
	}
}

func FuzzCheck(f *testing.F) {
	seeds(f, func(src string) { f.Add(src) })
	s := notebook(f)
	f.Fuzz(func(t *testing.T, src string) {
		c, err := s.Check(7, src)
		if err == nil {
			for _, v := range c.Hoisted {
				if v.Type() == nil {
					t.Errorf("%s has no type", v.Name())
				}
			}
			return
		}
		lines := strings.Split(src, "\n")
		for _, d := range err.(cell.Diagnostics) {
			if d.Line < 1 || d.Line > len(lines) || d.Col < 1 || d.Col > len(lines[d.Line-1])+1 {
				t.Errorf("%d:%d is not in the source: %s", d.Line, d.Col, d.Msg)
			}
			if d.Msg == "" || strings.Contains(d.Msg, "the type checker failed") {
				t.Errorf("%d:%d: message %q of %q", d.Line, d.Col, d.Msg, src)
			}
		}
	})
}

func FuzzStatus(f *testing.F) {
	seeds(f, func(src string) { f.Add(src) })
	f.Fuzz(func(t *testing.T, src string) {
		status, indent := cell.Status(src)
		switch status {
		case "complete", "invalid":
			if indent != "" {
				t.Errorf("%s with an indent", status)
			}
		case "incomplete":
		default:
			t.Errorf("status %q", status)
		}
	})
}

func FuzzComplete(f *testing.F) {
	seeds(f, func(src string) { f.Add(src, len(src)/2) })
	s := notebook(f)
	f.Fuzz(func(t *testing.T, src string, cursor int) {
		c := s.Complete(src, cursor)
		if c.Matches == nil || c.Start < 0 || c.Start > c.End || c.End > utf8.RuneCountInString(src) {
			t.Errorf("%d to %d, matches nil: %v", c.Start, c.End, c.Matches == nil)
		}
	})
}
