package yaegi

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// Running cells again and again grows the process by less than a kibibyte a
// cell, also where each redefines what another defined: $n in a source is the
// number of the evaluation, $2 one or two by its parity. BRANCHBOOK_PROGRAMS, which says how
// long a soak is, says how many evaluations there are.
func TestMemoryOfCellsThatAreRunAgain(t *testing.T) {
	if enginetest.Race {
		t.Skip("the race detector's memory would be the cells'")
	}
	n := 600
	if s := os.Getenv("BRANCHBOOK_PROGRAMS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ what, source string }{
		{"an expression", "1 + 1"},
		{"variables", "x := 1\ny := \"a\"\nx += len(y)"},
		{"declarations", "type T struct{ A int }\nfunc (t T) Get() int { return t.A }\nfunc f(t T) int { return t.Get() }\nvar v = T{1}\nfunc g[A any](a A) A { return a }"},
		{"calls", "import \"fmt\"\nfunc f(n int) string { return fmt.Sprint(n) }\ndefer f(1)\nfor i := range 3 { func() { f(i) }() }\nf(2)"},
		{"a function that changes", "func f(x int) int { return x + $n }\nf(1)"},
		{"a type that changes", "type T struct{ A$2 int }\nT{3}.A$2"},
		{"a method that changes", "type T struct{ a int }\nfunc (t T) Get() int { return t.a + $n }\nT{3}.Get()"},
		{"a variable of another type", "x := []any{1, \"a\"}[:$2]\nvar y [$2]int\ny"},
		{"a closure", "k := 1\nadd := func() int { k++; return k }\nadd()"},
		{"an instance", "func id[T any](x T) T { return x }\nid([]int{$n})\nid($2)"},
		{"an import", "import \"strings\"\nstrings.ToUpper(\"a$n\")"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := enginetest.Open(t, newEngine)
			k := 0
			run := func(n int) {
				for range n {
					mustRun(t, nb, strings.NewReplacer("$n", fmt.Sprint(k), "$2", fmt.Sprint(k%2+1)).Replace(c.source))
					k++
				}
			}
			settled := func() (heap, resident int) {
				memory(t)
				run(1) // forgets what the collector found
				return memory(t)
			}
			run(300)
			heap, resident := settled()
			run(n)
			heapAfter, residentAfter := settled()
			per := (heapAfter - heap) / n
			t.Logf("%d bytes an evaluation, %d resident", per, (residentAfter-resident)/n)
			if per > 1024 {
				t.Errorf("grows by %d bytes an evaluation, want at most 1024", per)
			}
			if grown := residentAfter - resident; grown > n*1024+8<<20 { // pages are freed late
				t.Errorf("%d bytes more are resident after %d evaluations", grown, n)
			}
		})
	}
}

// memory is the heap in use and the resident size, in bytes.
func memory(t *testing.T) (heap, resident int) {
	for range 4 { // finalizers and cleanups take a few collections
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil { // not Linux
		return int(m.HeapAlloc), 0
	}
	var total, pages int
	if _, err := fmt.Sscan(string(b), &total, &pages); err != nil {
		t.Fatal(err)
	}
	return int(m.HeapAlloc), pages * os.Getpagesize()
}
