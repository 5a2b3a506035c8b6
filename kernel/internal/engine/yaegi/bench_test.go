package yaegi

import (
	"context"
	"fmt"
	"testing"

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

// The same in a scope of 500 names.
func BenchmarkOneLineCellAmong500Names(b *testing.B) {
	nb := enginetest.Open(b, newEngine)
	for i := range 125 {
		mustRun(b, nb, fmt.Sprintf("x%d := %d\nfunc f%d(n int) int { return n + x%d }\ntype T%d struct{ n int }\nconst c%d = %d", i, i, i, i, i, i, i))
	}
	for b.Loop() {
		mustRun(b, nb, "f7(x3) + 1")
	}
}

// hot are functions of one loop each, for cells and raw yaegi alike.
var hot = []struct{ kind, source string }{
	{"integers", "func hot(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i & 7 }; return s }"},
	{"slice", "func hot(n int) int { xs := []int{1, 2, 3, 4}; s := 0; for i := 0; i < n; i++ { s += xs[i&3] }; return s }"},
	{"map", "func hot(n int) int { m := map[int]int{0: 1, 1: 2}; s := 0; for i := 0; i < n; i++ { s += m[i&1] }; return s }"},
	{"string", "func hot(n int) int { t := \"abcd\"; s := 0; for i := 0; i < n; i++ { s += int(t[i&3]) }; return s }"},
	{"floats", "func hot(n int) float64 { s := 0.5; for i := 0; i < n; i++ { s = s*0.99 + 1.5 }; return s }"},
	{"calls", "func inc(n int) int { return n + 1 }\nfunc hot(n int) int { s := 0; for i := 0; i < n; i++ { s = inc(s) }; return s }"},
	{"methods", "type T struct{ n int }\nfunc (t T) Get() int { return t.n }\nfunc hot(n int) int { t := T{3}; s := 0; for i := 0; i < n; i++ { s += t.Get() }; return s }"},
	{"closures", "func hot(n int) int { s := 0; add := func(k int) { s += k }; for i := 0; i < n; i++ { add(2) }; return s }"},
}

// Loops in a cell and in raw yaegi.
func BenchmarkHot(b *testing.B) {
	const call = "hot(100000)"
	for _, h := range hot {
		b.Run(h.kind+"/cell", func(b *testing.B) {
			nb := enginetest.Open(b, newEngine)
			mustRun(b, nb, h.source)
			for b.Loop() {
				mustRun(b, nb, call)
			}
		})
		b.Run(h.kind+"/raw", func(b *testing.B) {
			i := interp.New(interp.Options{})
			if _, err := i.Eval("package main\n" + h.source); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := i.Eval(call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
