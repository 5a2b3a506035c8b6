package yaegi

import (
	"context"
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
