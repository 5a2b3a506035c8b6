package vm

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

func mustRun(t testing.TB, nb *enginetest.Notebook, source string) {
	t.Helper()
	if _, out, err := nb.Run(context.Background(), source); err != nil || out.Failure != nil {
		t.Fatal(source, err, out.Failure)
	}
}

// A cell that is run again and again leaves nothing behind but what its names
// mean now.
func TestMemoryOfACellThatIsRunAgain(t *testing.T) {
	if enginetest.Race {
		t.Skip("the race detector's memory would be the cells'")
	}
	for _, c := range []struct {
		what, source string
	}{
		{"an expression", "1 + 1"},
		{"variables", "x := 1\ny := \"a\"\nx += len(y)"},
		{"declarations", "type T struct{ A int }\nfunc (t T) Get() int { return t.A }\nfunc f(t T) int { return t.Get() }\nvar v = T{1}\nfunc g[A any](a A) A { return a }"},
		{"calls", "import \"fmt\"\nfunc f(n int) string { return fmt.Sprint(n) }\ndefer f(1)\nfor i := range 3 { func() { f(i) }() }\nf(2)"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := enginetest.Open(t, newEngine)
			heap := func() int {
				for range 4 {
					runtime.GC()
					time.Sleep(5 * time.Millisecond)
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int(m.HeapAlloc)
			}
			for range 100 {
				mustRun(t, nb, c.source)
			}
			before := heap()
			const n = 500
			for range n {
				mustRun(t, nb, c.source)
			}
			per := (heap() - before) / n
			t.Logf("%d bytes an evaluation", per)
			if most := 1024; per > most {
				t.Errorf("grows by %d bytes an evaluation, want at most %d", per, most)
			}
		})
	}
}

// A session may declare methods for days: each gets a piece of code, of which
// the program has 4096, and others are made.
func TestMemoryOfMethods(t *testing.T) {
	nb := enginetest.Open(t, newEngine)
	mustRun(t, nb, "import \"fmt\"\nvar all []fmt.Stringer")
	const cells, methods = 250, 40 // with those of the pointer, 20,000
	for n := range cells {
		var b strings.Builder
		fmt.Fprintf(&b, "type T struct{ n int }\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.n) }\n")
		for m := range methods - 1 {
			fmt.Fprintf(&b, "func (t T) M%d() int { return t.n + %d }\n", m, m)
		}
		fmt.Fprintf(&b, "all = append(all, T{%d})\n", n)
		mustRun(t, nb, b.String())
	}
	// The first types are as good as the last.
	for _, n := range []int{0, cells / 2, cells - 1} {
		source := fmt.Sprintf("fmt.Sprint(all[%d], all[%[1]d].(interface{ M7() int }).M7())", n)
		want := fmt.Sprintf("= string  T%d %d", n, n+7)
		if got := strings.Join(enginetest.Report(nb.Run(context.Background(), source)), " "); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}
