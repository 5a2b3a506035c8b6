package enginetest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// testInterrupt interrupts cells that would never end.
func testInterrupt(t *testing.T, open func() (engine.Engine, error)) {
	t.Run("a call that does not return", func(t *testing.T) { testStuck(t, open) })
	cells := []struct{ what, source string }{
		{"an empty loop", "for {}"},
		{"a loop that counts", "for { x++ }"},
		{"a loop in a function", "func spin() { for { x++ } }\nspin()"},
		{"a sleep", `import "time"` + "\ntime.Sleep(time.Hour)"},
		{"a receive", "<-make(chan int)"},
		{"a send", "make(chan int) <- 1"},
		{"a range over a channel", "for range make(chan int) {}"},
		{"a select", "select { case <-make(chan int): case make(chan string) <- \"\": }"},
		{"an empty select", "select {}"},
		{"a channel in a function of an earlier cell", "wait()"},
		{"a wait for goroutines", "import \"sync\"\nvar wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()"},
		{"a lock", "import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\nmu.Lock()"},
		{"the cell's context", "<-ctx.Done()\nselect {}"},
		{"a deferred call", "defer func() { for {} }()\nfor {}"},
		{"a closure called by compiled code", "import \"strings\"\nstrings.Map(func(r rune) rune { for {} }, \"abc\")"},
	}
	for _, c := range cells {
		t.Run(c.what, func(t *testing.T) {
			nb := Open(t, open)
			run := func(source string, want ...string) {
				t.Helper()
				got := Report(nb.Run(context.Background(), source))
				if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
					t.Errorf("%s: got %q, want %q", source, got, want)
				}
			}
			run("x := 1\nadd := func() int { x++; return x }\nch := make(chan int)\nfunc wait() { <-ch }")
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, out, err := nb.Run(ctx, c.source)
			if err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d > time.Second {
				t.Errorf("ended after %v", d)
			}
			if out.Failure == nil || out.Failure.Kind != engine.Interrupt {
				t.Fatalf("got %+v, want an interrupt", out.Failure)
			}
			run("x = 5\nadd()", "= int  6")
			run("go func() { ch <- 7 }()\n<-ch", "= int  7")
		})
	}
}

// testStuck interrupts a cell in compiled code that does not end: Run returns
// and says so, and cells run again once it ended.
func testStuck(t *testing.T, open func() (engine.Engine, error)) {
	nb := Open(t, open)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, o, err := nb.Run(ctx, "x := 1\nb := make([]byte, 1)\nos.Stdin.Read(b)")
	if err != nil {
		t.Fatal(err)
	}
	if o.Failure == nil || o.Failure.Kind != engine.Stuck || time.Since(start) > 3*time.Second {
		t.Fatalf("got %+v after %v, want it stuck", o.Failure, time.Since(start))
	}
	if _, o, _ := nb.Run(context.Background(), "x"); o.Failure == nil || o.Failure.Kind != engine.Stuck {
		t.Errorf("a cell ran beside the stuck one: %+v", o)
	}
	out.Write([]byte("."))
	out.Close()
	for deadline := time.Now().Add(5 * time.Second); ; {
		_, o, err := nb.Run(context.Background(), "x")
		if err == nil && o.Failure == nil && len(o.Values) == 1 && o.Values[0].Any == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no cell runs after the stuck one ended: %+v, %v", o.Failure, err)
		}
	}
}
