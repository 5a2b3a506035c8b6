package cell_test

import (
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

func TestNamesSayWhatLives(t *testing.T) {
	s := newScope(t,
		"import str \"strings\"\ntype T struct{ a int }\nfunc f(n int) T { return T{n} }\nconst k = 3",
		"v := f(k)\n_ = str.ToUpper(\"\")",
		"func (T) M() {}",
	)
	want := []cell.Name{
		{Name: "T", Kind: "type", Type: "struct{a int}", Cell: 1},
		{Name: "f", Kind: "func", Type: "func(n int) T", Cell: 1},
		{Name: "k", Kind: "const", Type: "untyped int", Cell: 1},
		{Name: "str", Kind: "package", Type: "strings"},
		{Name: "v", Kind: "var", Type: "T", Cell: 2},
	}
	if got := s.Names(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestCheckChangesNothing(t *testing.T) {
	s := newScope(t, "x := 1")
	before := s.Names()
	for _, src := range []string{"x := \"a\"\ny := 2", "type x int", "undefined"} {
		s.Check(2, src)
		if got := s.Names(); !reflect.DeepEqual(got, before) {
			t.Errorf("after %q: %v", src, got)
		}
	}
}

// TestInstancesAreRecorded holds the information on a generic function that
// crosses cells to what an engine needs.
func TestInstancesAreRecorded(t *testing.T) {
	s := newScope(t, "func Map[A, B any](xs []A, f func(A) B) (r []B) { for _, x := range xs { r = append(r, f(x)) }; return }")
	c, err := s.Check(2, "ys := Map([]int{1}, func(i int) string { return \"\" })")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for id, inst := range c.Info.Instances {
		// one in the cell's file, one in that of the declarations
		if c.File.FileStart <= id.Pos() && id.Pos() < c.File.FileEnd {
			got = append(got, fmt.Sprintf("%s[%s, %s]", id.Name, inst.TypeArgs.At(0), inst.TypeArgs.At(1)))
		}
	}
	if want := []string{"Map[int, string]"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPositionsLeadBackToTheCell looks every identifier of the syntax up in
// the source.
func TestPositionsLeadBackToTheCell(t *testing.T) {
	s := newScope(t, "count := 1\nfunc bump(by int) int { return count + by }")
	src := "import \"strings\"\nvar (\n\talpha, beta = 1, \"b\"\n\tgamma []int\n)\n\tcount := bump(count); delta :=\n\t\tstrings.Repeat(beta, alpha)\nfunc (r rec) show() rec { return r }\ntype rec struct{ gamma int }\nvar _, eps any = nil, rec{1}\ndelta"
	c, err := s.Check(2, src)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(src, "\n")
	n := 0
	for id := range c.Info.Uses {
		pos := c.Fset.Position(id.Pos())
		if pos.Filename != "In[2]" || id.Name == "new" {
			continue // new is ours: gamma = *new([]int)
		}
		n++
		name := id.Name
		if name == "cell__1_count" {
			name = "count"
		}
		if pos.Line > len(lines) || !strings.HasPrefix(lines[pos.Line-1][pos.Column-1:], name) {
			t.Errorf("%s is not at %v", id.Name, pos)
		}
	}
	if n < 15 {
		t.Errorf("only %d identifiers", n)
	}
}

func TestScopeServesSeveralGoroutines(t *testing.T) {
	s := newScope(t, "type T struct{ A int }\nfunc f(t T) int { return t.A }", "x := T{1}")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20 {
				switch g {
				case 0:
					c, err := s.Check(3+i, fmt.Sprintf("type T struct{ A, B%d int }\ny%d := T{}\nx := T{}\nf(x)", i, i))
					if err != nil {
						t.Error(err)
						return
					}
					s.Commit(c)
				case 1:
					s.Complete("x.", 2)
				case 2:
					s.Names()
					s.Check(1000, "f(x) + x.A")
				case 3:
					s.Complete("strings.Sp", 10)
					s.Check(1000, "slices.Max([]int{x.A})")
				}
			}
		})
	}
	wg.Wait()
}

// A notebook that runs for days keeps the files of the cells whose names live.
func TestFilesOfForgottenCellsAreDropped(t *testing.T) {
	s := newScope(t)
	var fset *token.FileSet
	for i := range 200 {
		c, err := s.Check(1+i, fmt.Sprintf("x := %d\ny%d := 1\nx + y%d", i, i%3, i%3))
		if err != nil {
			t.Fatal(err)
		}
		s.Commit(c)
		fset = c.Fset
	}
	files := func() (n int) {
		fset.Iterate(func(*token.File) bool { n++; return true })
		return n
	}
	for end := time.Now().Add(10 * time.Second); files() > 20 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if n := files(); n > 20 {
		t.Errorf("%d files are left of the cells of 4 names", n)
	}
	_, err := s.Check(999, "func y1() {}\nfunc y1() {}")
	if err == nil || !strings.Contains(err.Error(), "line 1, column 6") {
		t.Errorf("got %v", err)
	}
}

// large returns a scope of 500 names.
func large(b *testing.B) *cell.Scope {
	var src strings.Builder
	for i := range 100 {
		fmt.Fprintf(&src, "type T%d struct{ a, b int }\nfunc (t T%d) Sum() int { return t.a + t.b }\nfunc f%d(t T%d) int { return t.Sum() }\nconst k%d = %d\nvar v%d = T%d{1, 2}\nvar w%d = []T%d{v%d}\n", i, i, i, i, i, i, i, i, i, i, i)
	}
	s := newScope(b, src.String())
	if n := len(s.Names()); n != 500 {
		b.Fatalf("%d names", n)
	}
	return s
}

func BenchmarkCheck(b *testing.B) {
	s := large(b)
	for name, src := range map[string]string{
		"expression":   "f1(v1) + k2",
		"define":       "x := f1(v1) + k2",
		"import":       "fmt.Sprint(strings.Repeat(\"a\", k3))",
		"error":        "f1(v1) + kk",
		"changed type": "type T7 struct{ a, b, c int }",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Check(2, src)
			}
		})
	}
}

func BenchmarkComplete(b *testing.B) {
	s := large(b)
	for name, src := range map[string]string{"member": "f1(v1.", "name": "for i := range 3 { v", "package": "strings.Sp"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Complete(src, len(src))
			}
		})
	}
}

func TestOddLayoutsCheck(t *testing.T) {
	for name, src := range map[string]string{
		"lines that end in CR LF":    "x := 1\r\ny := `a\r\nb`\r\nif x > 0 {\r\n\t_ = y\r\n}\r\nx\r\n",
		"a byte order mark":          "\ufeffx := 1\nx",
		"no newline at the end":      "x := 1; x",
		"blank lines and comments":   "\n\n// a\n/* b\nc */\nx := 1 // d\n\n/* e */ x /* f */\n// g",
		"everything on one line":     "import \"fmt\"; type T int; func f() T { return 1 }; x := f(); fmt.Sprint(x)",
		"line directives of others":  "//line foo.go:7\nx := 1\n/*line bar.go:1:2*/x",
		"names that are not ASCII":   "größe := 1\n世界 := größe\n世界",
		"a value over several lines": "x := []int{\n\t1,\n\t2,\n}\nx",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := newScope(t).Check(1, src)
			if err != nil {
				t.Fatal(err)
			}
			if c.Show == nil {
				t.Fatal("nothing is shown")
			}
			pos := c.Fset.Position(c.Show.Pos())
			if lines := strings.Count(strings.TrimRight(src, "\r\n"), "\n") + 1; pos.Filename != "In[1]" || pos.Line > lines {
				t.Errorf("the shown value is at %v", pos)
			}
		})
	}
}

func TestForget(t *testing.T) {
	s := newScope(t, "import str \"strings\"\nx := 1\nfunc f() int { return x }\ntype T int\nfunc (T) M() {}")
	if unknown := s.Forget("f", "str", "nobody", "T"); len(unknown) != 1 || unknown[0] != "nobody" {
		t.Errorf("unknown: %q", unknown)
	}
	for src, want := range map[string]string{
		"f()": "undefined: f", "str.ToUpper(\"\")": "undefined: str", "T(1)": "undefined: T", "x": "", "func f() string { return \"\" }\nf() + \"\"": "", "type T struct{}\nT{}": "",
	} {
		_, err := s.Check(2, src)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
}

func TestAPackageWithoutImportIsTheOneThatHasTheMembers(t *testing.T) {
	s := cell.NewScope(exports.Importer(), cell.Prelude{
		Imports: map[string]string{"rand": "math/rand/v2"},
		Others:  map[string][]string{"rand": {"math/rand", "crypto/rand"}},
	})
	for src, want := range map[string]string{
		"rand.IntN(3)":                    "",
		"rand.Float64()":                  "", // of all three, the first
		"rand.Intn(3)":                    "",
		"rand.Read(nil)":                  "",
		"x := rand.Reader":                "",
		"rand.New(rand.NewSource(1))":     "",
		"rand.Intn(3) + rand.IntN(3)":     "undefined: rand.Intn",
		"rand.Nobody()":                   "undefined: rand.Nobody",
		"rand := 1\nrand":                 "",
		"rand.Perm(3)[rand.Int31n(2)]":    "",
		"var r *rand.PCG\nr.Uint64()":     "",
		"type p struct{ rand rand.Zipf }": "",
	} {
		c, err := s.Check(1, src)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", src, err, want)
			continue
		}
		if err == nil && src == "rand.Float64()" && c.Pkg.Imports()[0].Path() != "math/rand/v2" {
			t.Errorf("%s is of %s", src, c.Pkg.Imports()[0].Path())
		}
	}
}
