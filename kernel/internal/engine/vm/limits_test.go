package vm

import (
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/symbols"
)

// Cells that take without end get an error, and the next cell runs.
func TestLimits(t *testing.T) {
	if enginetest.Race {
		t.Skip("the race detector's memory would be the cell's")
	}
	steps := engine.Limits{Steps: 1_000_000}
	others := engine.Limits{Memory: 300 << 20, Goroutines: 2000}
	for _, c := range []struct {
		what, source, want string
		limits             engine.Limits
	}{
		{"a loop", "var p *int = &kept\nfor { *p = 1 }", "1000000 calls and turns of loops", steps},
		{"a loop in goroutines", "for range 3 { go func() { for {} }() }\nselect {}", "1000000 calls and turns of loops", steps},
		{"calls", "func f(n int) int { if n == 0 { return 0 }; return f(n-1) + f(n-1) }\nf(60)", "1000000 calls and turns of loops", steps},
		{"slices", "var list [][]byte\nfor { list = append(list, make([]byte, 1<<20)) }", "out of memory: ", others},
		{"one slice", "n := 1 << 40\nb := make([]byte, n)", "out of memory: the cell asks for ", others},
		{"a constant slice", "b := make([]int, 1<<36)", "out of memory: the cell asks for ", others},
		{"an array", "a := new([1 << 30]int)", "out of memory: the cell asks for ", others},
		{"a string", "s := \"ab\"\nfor { s += s }", "out of memory: the cell asks for ", others},
		{"bytes appended", "b := []byte(\"abcdefgh\")\nfor { b = append(b, b...) }", "out of memory: the cell asks for ", others},
		{"conversions", "s := string(make([]byte, 100<<20))\nvar list [][]byte\nfor { list = append(list, []byte(s)) }", "out of memory: the cell asks for ", others},
		{"runes", "r := []rune(string(make([]byte, 100<<20)))", "out of memory: the cell asks for ", others},
		{"a map", "m := map[int][4]int{}\nfor i := 0; ; i++ { m[i] = [4]int{} }", "out of memory: ", others},
		{"a list", "type node struct{ next *node; b [100]int }\nvar head *node\nfor { head = &node{next: head} }", "out of memory: ", others},
		{"goroutines", "for { go func() { select {} }() }", "more than 2000 goroutines", others},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := enginetest.Open(t, func() (engine.Engine, error) {
				return New(Options{Importer: exports.Importer(), Symbols: symbols.All(), Limits: c.limits})
			})
			mustRun(t, nb, "kept := 1")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, out, err := nb.Run(ctx, c.source)
			if err != nil {
				t.Fatal(err)
			}
			if f := out.Failure; f == nil || f.Kind != engine.Panic || !strings.Contains(f.Message, c.want) || len(f.Frames) == 0 || f.Frames[0].Cell != 2 {
				t.Errorf("got %+v, want %q", f, c.want)
			}
			if got := enginetest.Report(nb.Run(ctx, "kept")); len(got) != 1 || got[0] != "= int  1" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

// Recursion without end is an error, whichever way it goes. It has a process of
// its own, as cells have; see "What fails" in README.md.
func TestRecursionWithoutEnd(t *testing.T) {
	const child = "BRANCHBOOK_RECURSION"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, c := range []struct{ what, source string }{
		{"a function", "func f(n int) int { return f(n+1) + 1 }\nf(0)"},
		{"two functions", "func f(n int) int { return g(n+1) + 1 }\nfunc g(n int) int { return f(n+1) + 1 }\nf(0)"},
		{"a closure", "var f func(int) int\nf = func(n int) int { return f(n+1) + 1 }\nf(0)"},
		{"a generic function", "func f[T any](x T) int { return f(x) + 1 }\nf(0)"},
		{"a method of an interface", "type i interface{ f() int }\ntype c struct{ i }\nfunc (x c) f() int { return x.i.f() + 1 }\nx := &c{}\nx.i = x\nx.f()"},
		{"large frames", "func f(a [4096]int) int { a[0]++; return f(a) + 1 }\nf([4096]int{})"},
		{"a goroutine", "func f(n int) int { return f(n+1) + 1 }\ngo f(0)\nselect {}"},
		{"deferred calls", "func f(n int) { defer func() { f(n + 1) }() }\nf(0)"},
		{"panics in deferred calls", "func f(n int) { defer func() { recover(); f(n + 1) }(); panic(n) }\nf(0)"},
		{"a String method", "import \"fmt\"\ntype T struct{ n int }\nfunc (t T) String() string { return fmt.Sprint(t) }\ns := fmt.Sprint(T{1})"},
		{"a function that sort calls", "import \"sort\"\nfunc f(xs []int) { sort.Slice(xs, func(i, j int) bool { f(xs); return false }) }\nf([]int{1, 2, 3})"},
		{"a sequence", "func f(yield func(int) bool) { for x := range f { yield(x) } }\nfor range f {}"},
	} {
		t.Run(c.what, func(t *testing.T) {
			defer debug.SetMaxStack(debug.SetMaxStack(256 << 20)) // as workers have it
			nb := enginetest.Open(t, newEngine)
			mustRun(t, nb, "kept := 1")
			_, out, err := nb.Run(context.Background(), c.source)
			if err != nil {
				t.Fatal(err)
			}
			if f := out.Failure; f == nil || f.Kind != engine.Panic || !strings.HasPrefix(f.Message, "stack overflow") || len(f.Frames) == 0 {
				t.Errorf("got %+v", f)
			}
			if got := enginetest.Report(nb.Run(context.Background(), "kept")); len(got) != 1 || got[0] != "= int  1" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

func TestAPanicWhoseValueCannotBeTold(t *testing.T) {
	nb := enginetest.Open(t, newEngine)
	for _, source := range []string{
		"type E struct{}\nfunc (e E) Error() string { panic(e) }\npanic(E{})",
		"type S struct{}\nfunc (s S) String() string { panic(s) }\npanic(S{})",
		"type E struct{}\nfunc (e *E) Error() string { panic(e) }\ngo panic(&E{})\nselect {}",
	} {
		_, out, err := nb.Run(context.Background(), source)
		if err != nil {
			t.Fatal(err)
		}
		if f := out.Failure; f == nil || f.Kind != engine.Panic || !strings.Contains(f.Message, "whose method panics") {
			t.Errorf("%s: got %+v", source, f)
		}
	}
}
