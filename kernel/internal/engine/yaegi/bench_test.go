package yaegi

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

func mustRun(t testing.TB, nb *enginetest.Notebook, source string) {
	t.Helper()
	if _, out, err := nb.Run(context.Background(), source); err != nil || out.Failure != nil {
		t.Fatal(source, err, out.Failure)
	}
}

// A cell's fixed cost: check, lower, compile, run, show.
func BenchmarkOneLineCell(b *testing.B) {
	nb := enginetest.Open(b, newEngine)
	mustRun(b, nb, "x := 1")
	for b.Loop() {
		mustRun(b, nb, "x + 1")
	}
}

const hotLoop = `
func hot(n int) int {
	xs := []int{1, 2, 3, 4}
	s := 0
	for i := 0; i < n; i++ {
		s += xs[i&3] * i
	}
	return s
}
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
`

func BenchmarkLoop(b *testing.B) {
	nb := enginetest.Open(b, newEngine)
	mustRun(b, nb, hotLoop)
	for b.Loop() {
		mustRun(b, nb, "hot(1000000)")
	}
}

func BenchmarkCalls(b *testing.B) {
	nb := enginetest.Open(b, newEngine)
	mustRun(b, nb, hotLoop)
	for b.Loop() {
		mustRun(b, nb, "fib(22)")
	}
}

func raw(b *testing.B, call string) {
	i := interp.New(interp.Options{})
	if _, err := i.Eval("package main\n" + hotLoop); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := i.Eval(call); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRawLoop(b *testing.B)  { raw(b, "hot(1000000)") }
func BenchmarkRawCalls(b *testing.B) { raw(b, "fib(22)") }

// Running a cell again and again needs the memory of one, but for what yaegi
// and the type checker keep. The bound is what they keep, measured.
func TestMemoryOfACellThatIsRunAgain(t *testing.T) {
	for _, c := range []struct {
		what, source string
		bytes        int // per evaluation, at most
	}{
		{"an expression", "1 + 1", 1024},
		{"variables", "x := 1\ny := \"a\"\nx += len(y)", 1024},
		{"declarations", "type T struct{ A int }\nfunc (t T) Get() int { return t.A }\nfunc f(t T) int { return t.Get() }\nvar v = T{1}\nfunc g[A any](a A) A { return a }", 8192},
		{"calls", "import \"fmt\"\nfunc f(n int) string { return fmt.Sprint(n) }\ndefer f(1)\nfor i := range 3 { func() { f(i) }() }\nf(2)", 1024},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := enginetest.Open(t, newEngine)
			heap := func() int {
				// finalizers and cleanups take a few collections
				for range 4 {
					runtime.GC()
					time.Sleep(5 * time.Millisecond)
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int(m.HeapAlloc)
			}
			for range 200 {
				mustRun(t, nb, c.source)
			}
			before := heap()
			const n = 2000
			for range n {
				mustRun(t, nb, c.source)
			}
			per := (heap() - before) / n
			t.Logf("%d bytes an evaluation", per)
			if per > c.bytes {
				t.Errorf("grows by %d bytes an evaluation, want at most %d", per, c.bytes)
			}
		})
	}
}
