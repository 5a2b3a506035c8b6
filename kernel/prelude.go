package kernel

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/modules"
)

// preferred says which package a name means where several have it, and which
// packages outside the standard library need no import.
var preferred = map[string]string{
	"llm":      "github.com/branchbook/branchbook/lib/llm",
	"samplers": "github.com/branchbook/branchbook/lib/samplers",
	"plot":     "github.com/branchbook/branchbook/lib/plot",
	"nb":       "github.com/branchbook/branchbook/kernel/nb",
	"display":  "github.com/branchbook/branchbook/kernel/nb/display",

	"cell__lgo":     "github.com/branchbook/branchbook/kernel/nb/lgo",     // of _ctx
	"cell__testrun": "github.com/branchbook/branchbook/kernel/nb/testrun", // of %test

	"charts":     "github.com/go-echarts/go-echarts/v2/charts",
	"components": "github.com/go-echarts/go-echarts/v2/components",
	"opts":       "github.com/go-echarts/go-echarts/v2/opts",
	"distuv":     "gonum.org/v1/gonum/stat/distuv",
	"floats":     "gonum.org/v1/gonum/floats",
	"integrate":  "gonum.org/v1/gonum/integrate",
	"interp":     "gonum.org/v1/gonum/interp",
	"mat":        "gonum.org/v1/gonum/mat",
	"optimize":   "gonum.org/v1/gonum/optimize",
	"plotter":    "gonum.org/v1/plot/plotter",
	"plotutil":   "gonum.org/v1/plot/plotutil",
	"stat":       "gonum.org/v1/gonum/stat",
	"vg":         "gonum.org/v1/plot/vg",

	"constraints": "golang.org/x/exp/constraints",

	"pprof":    "runtime/pprof",
	"rand":     "math/rand/v2",
	"scanner":  "text/scanner",
	"template": "text/template",
}

// preludeSource is cell 0: what every cell has besides packages.
const preludeSource = `// ctx ends when the running cell is interrupted.
var ctx context.Context = nb.Context()

// _ctx is lgo's: ctx with a Display.
var _ctx = cell__lgo.NewContext()

// Display shows a value under the cell, as in gophernotes. The error is nil.
func Display(v any) error {
	nb.Display(v)
	return nil
}

// must returns v; if err is not nil, it ends the cell with it.
func must[T any](v T, err error) T {
	must0(err)
	return v
}

// must0 ends the cell with err if it is not nil.
func must0(err error) {
	if err != nil {
		panic(err)
	}
}

// must2 returns a and b; if err is not nil, it ends the cell with it.
func must2[A, B any](a A, b B, err error) (A, B) {
	must0(err)
	return a, b
}

// cell__timeit is %timeit: it runs loop(loops) several times. With 0 loops, they
// are as many of 1, 2, 5, 10, 20... as take a fifth of a second or more, as in
// IPython.
func cell__timeit(loops, runs int, loop func(n int)) {
	if loops == 0 {
		for factor := 1; loops == 0; factor *= 10 {
			for _, step := range []int{1, 2, 5} {
				began := time.Now()
				loop(step * factor)
				if time.Since(began) >= 200*time.Millisecond {
					loops = step * factor
					break
				}
			}
		}
	}
	var sum, squares float64
	best := math.Inf(1)
	for range runs {
		began := time.Now()
		loop(loops)
		each := float64(time.Since(began)) / float64(loops)
		sum += each
		squares += each * each
		best = min(best, each)
	}
	mean := sum / float64(runs)
	deviation := math.Sqrt(max(0, squares/float64(runs)-mean*mean))
	show := func(ns float64) string {
		switch {
		case ns < 999.5: // which %.3g rounds up to 1e+03
			return fmt.Sprintf("%.3g ns", ns)
		case ns < 999.5e3:
			return fmt.Sprintf("%.3g µs", ns/1e3)
		case ns < 999.5e6:
			return fmt.Sprintf("%.3g ms", ns/1e6)
		}
		return fmt.Sprintf("%.3g s", ns/1e9)
	}
	fmt.Printf("%s ± %s per loop (mean ± std. dev. of %d runs, %d loops each; best %s)\n", show(mean), show(deviation), runs, loops, show(best))
}
`

// prelude is what cells may use without import: the packages of preferred,
// those of the standard library whose name is nobody else's, and others of
// these names where a cell means one of theirs: rand.Intn is math/rand's.
func prelude() cell.Prelude {
	imports, taken := map[string]string{}, map[string]bool{}
	names := exports.Names()
	for path, name := range names {
		if !standard(path) || strings.Contains(path, "internal") {
			continue
		}
		if taken[name] {
			delete(imports, name)
			continue
		}
		taken[name] = true
		imports[name] = path
	}
	for name, path := range preferred {
		imports[name] = path
	}
	others := map[string][]string{}
	for _, path := range slices.SortedFunc(maps.Keys(names), standardFirst) {
		if name := names[path]; imports[name] != "" && imports[name] != path {
			others[name] = append(others[name], path)
		}
	}
	return cell.Prelude{Imports: imports, Others: others}
}

// standardFirst orders import paths: math/rand before crypto/rand.
func standardFirst(a, b string) int {
	rank := func(path string) int {
		switch {
		case strings.HasPrefix(path, "crypto/"):
			return 1
		case standard(path):
			return 0
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// standard reports whether path is the standard library's: no dot in its
// first element.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// newScope returns the scope that every notebook starts with, and its cell 0.
func newScope(set *modules.Set) (*cell.Scope, *cell.Cell, error) {
	scope := cell.NewScope(set, prelude())
	c, err := scope.Check(0, preludeSource)
	if err != nil {
		return nil, nil, fmt.Errorf("kernel: check the prelude: %w", err)
	}
	return scope, c, nil
}

// defaultCommand is this executable as a worker.
func defaultCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("kernel: find this executable, which is the worker's too: %w", err)
	}
	return []string{self, "worker"}, nil
}
