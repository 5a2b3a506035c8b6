package vm

import (
	"context"
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
