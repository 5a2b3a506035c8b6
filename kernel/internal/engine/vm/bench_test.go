package vm

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
	"github.com/branchbook/branchbook/kernel/internal/engine/yaegi"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/symbols"
)

// The functions that both engines are measured with: each takes a size and
// returns a number.
const benchSource = `
import "strings"
type point struct{ x, y int }
func (p point) sum() int { return p.x + p.y }
func (p *point) move(d int) { p.x += d }
type adder interface{ sum() int }
func loop(n int) int { s := 0; for i := 0; i < n; i++ { s += i ^ 3 }; return s }
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func slice(n int) int { xs := make([]int, 1000); s := 0; for i := 0; i < n; i++ { xs[i%1000] += i; s += xs[(i*7)%1000] }; return s }
func floats(n int) int { xs := make([]float64, 1000); t := 0.0; for i := 0; i < n; i++ { xs[i%1000] = float64(i) * 0.5; t += xs[i%1000] * 1.5 }; return int(t) }
func maps(n int) int { m := map[int]int{}; for i := 0; i < n; i++ { m[i%512] += i }; return len(m) + m[5] }
func words(n int) int { m := map[string]int{}; ks := []string{"a", "bb", "ccc", "dddd"}; for i := 0; i < n; i++ { m[ks[i&3]]++ }; return m["bb"] }
func text(n int) int { var b strings.Builder; for i := 0; i < n; i++ { b.WriteString("ab"); b.WriteByte('c') }; return b.Len() }
func methods(n int) int { p := point{1, 2}; s := 0; for i := 0; i < n; i++ { p.move(1); s += p.sum() }; return s }
func ifaces(n int) int { var a adder = point{1, 2}; s := 0; for i := 0; i < n; i++ { s += a.sum() }; return s }
func closures(n int) int { s := 0; f := func(d int) { s += d }; for i := 0; i < n; i++ { f(i) }; return s }
`

var benchCalls = []struct{ name, call string }{
	{"integer loop", "loop(1000000)"}, {"call", "fib(22)"}, {"slice loop", "slice(300000)"}, {"float slice loop", "floats(300000)"},
	{"map loop", "maps(100000)"}, {"string map loop", "words(100000)"}, {"string building", "text(100000)"},
	{"method calls", "methods(100000)"}, {"interface calls", "ifaces(100000)"}, {"closure calls", "closures(100000)"},
}

func bench(b *testing.B, open func() (engine.Engine, error)) {
	nb := enginetest.Open(b, open)
	run := func(source string) {
		if _, out, err := nb.Run(context.Background(), source); err != nil || out.Failure != nil {
			b.Fatal(source, err, out.Failure)
		}
	}
	run(benchSource)
	for _, c := range benchCalls {
		b.Run(c.name, func(b *testing.B) {
			run(c.call)
			for b.Loop() {
				run(c.call)
			}
		})
	}
	b.Run("one line cell", func(b *testing.B) {
		run("z := 1")
		for b.Loop() {
			run("z + 1")
		}
	})
}

func BenchmarkVM(b *testing.B) { bench(b, newEngine) }

// benchCell is a cell with a name of its own each time: what is measured is
// check and compilation.
const benchCell = `func made%[1]d(xs []float64) (mean, deviation float64, err error) {
	if len(xs) == 0 {
		return 0, 0, fmt.Errorf("made%[1]d: no values")
	}
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		deviation += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(xs))), nil
}
type result%[1]d struct{ Name string; Mean float64 }
func (r result%[1]d) String() string { return fmt.Sprintf("%%s: %%.3f", r.Name, r.Mean) }
mean%[1]d, _, _ := made%[1]d([]float64{1, 2, %[1]d})
byName%[1]d := map[string]result%[1]d{"a": {"a", mean%[1]d}}
for _, r := range byName%[1]d {
	_ = r.String()
}`

// BenchmarkAgainstYaegi runs the same cells on both engines in turn, and tells
// the median times of this one and by how much the other one takes longer.
func BenchmarkAgainstYaegi(b *testing.B) {
	other := func() (engine.Engine, error) {
		return yaegi.New(yaegi.Options{Importer: exports.Importer(), Symbols: symbols.All()})
	}
	engines := [2]*enginetest.Notebook{enginetest.Open(b, newEngine), enginetest.Open(b, other)}
	run := func(nb *enginetest.Notebook, source string) time.Duration {
		began := time.Now()
		if _, out, err := nb.Run(context.Background(), source); err != nil || out.Failure != nil {
			b.Fatal(source, err, out.Failure)
		}
		return time.Since(began)
	}
	compare := func(name string, source func() string) {
		b.Run(name, func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				text := source()
				for i, nb := range engines {
					took[i] = append(took[i], run(nb, text))
				}
			}
			var medians [2]float64
			for i := range took {
				slices.Sort(took[i])
				medians[i] = float64(took[i][len(took[i])/2])
			}
			b.ReportMetric(medians[0]/1e3, "µs")
			b.ReportMetric(medians[1]/medians[0], "times-faster")
			b.ReportMetric(0, "ns/op")
		})
	}
	for _, nb := range engines {
		run(nb, benchSource)
	}
	for _, c := range benchCalls {
		compare(c.name, func() string { return c.call })
	}
	n := 0
	compare("compile", func() string { n++; return fmt.Sprintf(benchCell, n) })
	compare("one line cell", func() string { return "1 + 1" })
}
