package vm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	engines := both(b)
	for _, nb := range engines {
		runCell(b, nb, benchSource)
	}
	for _, c := range benchCalls {
		b.Run(c.name, func(b *testing.B) { against(b, engines, func() string { return c.call }, nil) })
	}
	n := 0
	for _, c := range []struct {
		name   string
		repeat int // of benchCell
	}{{"compile 20 lines", 1}, {"compile 200 lines", 10}, {"compile 1000 lines", 50}} {
		b.Run(c.name, func(b *testing.B) {
			against(b, engines, func() string {
				var text strings.Builder
				for range c.repeat {
					n++
					fmt.Fprintf(&text, benchCell+"\n", n)
				}
				return text.String()
			}, nil)
		})
	}
	b.Run("one line cell", func(b *testing.B) { against(b, engines, func() string { return "1 + 1" }, nil) })
}

// BenchmarkPrograms runs testdata/programs.txt on both engines and as compiled
// Go, in turn: the median times on this one, by how much yaegi takes longer,
// and how much longer this one takes than compiled Go.
func BenchmarkPrograms(b *testing.B) {
	programs := readPrograms(b)
	compiled := buildPrograms(b, programs)
	for _, p := range programs {
		b.Run(p.name, func(b *testing.B) {
			engines := both(b)
			for i, nb := range engines {
				if _, out, err := nb.Run(context.Background(), p.source); err != nil || out.Failure != nil {
					if i == 0 {
						b.Fatal(err, out.Failure)
					}
					engines[i] = nil // what yaegi cannot run has no ratio
				}
			}
			against(b, engines, func() string { return p.call }, func() time.Duration {
				took, _ := compiled(p.name)
				return took
			})
		})
	}
}

// The programs of the benchmarks return what they return as compiled Go.
func TestPrograms(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil && os.Getenv("BRANCHBOOK_REQUIRE") != "1" {
		t.Skip("no go command")
	}
	programs := readPrograms(t)
	compiled := buildPrograms(t, programs)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			nb := enginetest.Open(t, newEngine)
			runCell(t, nb, p.source)
			_, out, err := nb.Run(context.Background(), p.call)
			if err != nil || out.Failure != nil {
				t.Fatal(err, out.Failure)
			}
			if _, want := compiled(p.name); fmt.Sprint(out.Values[0].Any) != want {
				t.Errorf("%s: got %v, want %s", p.call, out.Values[0].Any, want)
			}
		})
	}
}

type ordinary struct{ name, call, source string }

func readPrograms(t testing.TB) []ordinary {
	text, err := os.ReadFile("testdata/programs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var r []ordinary
	for _, p := range strings.Split(string(text), "\n=== ")[1:] {
		head, source, _ := strings.Cut(p, "\n")
		name, call, _ := strings.Cut(head, ": ")
		r = append(r, ordinary{name, call, source})
	}
	return r
}

// both are notebooks on this engine and on yaegi.
func both(b *testing.B) [2]*enginetest.Notebook {
	other := func() (engine.Engine, error) {
		return yaegi.New(yaegi.Options{Importer: exports.Importer(), Symbols: symbols.All()})
	}
	return [2]*enginetest.Notebook{enginetest.Open(b, newEngine), enginetest.Open(b, other)}
}

func runCell(b testing.TB, nb *enginetest.Notebook, source string) time.Duration {
	began := time.Now()
	if _, out, err := nb.Run(context.Background(), source); err != nil || out.Failure != nil {
		b.Fatal(source, err, out.Failure)
	}
	return time.Since(began)
}

// against runs a cell on the engines, and what compiled runs, in turn.
func against(b *testing.B, engines [2]*enginetest.Notebook, source func() string, compiled func() time.Duration) {
	var took [3][]float64
	for b.Loop() {
		text := source()
		for i, nb := range engines {
			if nb != nil {
				took[i] = append(took[i], float64(runCell(b, nb, text)))
			}
		}
		if compiled != nil {
			took[2] = append(took[2], float64(compiled()))
		}
	}
	median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
	own := median(took[0])
	b.ReportMetric(own/1e3, "µs")
	if took[1] != nil {
		b.ReportMetric(median(took[1])/own, "times-faster")
	}
	if took[2] != nil {
		b.ReportMetric(own/median(took[2]), "times-compiled")
	}
	b.ReportMetric(0, "ns/op")
}

// buildPrograms compiles programs, and returns what runs one and tells how long
// that took and what it returned.
func buildPrograms(t testing.TB, programs []ordinary) func(name string) (time.Duration, string) {
	dir := t.TempDir()
	var imports, table strings.Builder
	files := map[string]string{"go.mod": "module programs\n\ngo 1.26\n"}
	for _, p := range programs {
		files[p.name+"/"+p.name+".go"] = "package " + p.name + "\n" + p.source + "\nfunc Run() any { return " + p.call + " }\n"
		fmt.Fprintf(&imports, "import %q\n", "programs/"+p.name)
		fmt.Fprintf(&table, "\t%q: %s.Run,\n", p.name, p.name)
	}
	files["main.go"] = "package main\n\nimport \"fmt\"\nimport \"os\"\nimport \"time\"\n" + imports.String() +
		"\nvar runs = map[string]func() any{\n" + table.String() + "}\n\n" +
		"func main() {\n\tbegan := time.Now()\n\tx := runs[os.Args[1]]()\n\tfmt.Println(time.Since(began).Nanoseconds(), x)\n}\n"
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "programs.exe", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(name string) (time.Duration, string) {
		out, err := exec.Command(filepath.Join(dir, "programs.exe"), name).Output()
		if err != nil {
			t.Fatal(err)
		}
		took, value, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		ns, err := strconv.ParseInt(took, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(ns), value
	}
}
