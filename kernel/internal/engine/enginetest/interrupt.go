package enginetest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// testInterrupt interrupts cells that would never end.
func testInterrupt(t *testing.T, open func() (engine.Engine, error)) {
	leaves := false
	t.Run("a call that does not return", func(t *testing.T) { leaves = testStuck(t, open) })
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
		{"a read lock", "import \"sync\"\nvar mu sync.RWMutex\nmu.Lock()\nmu.RLock()"},
		{"a write lock", "import \"sync\"\nvar mu sync.RWMutex\nmu.RLock()\nmu.Lock()"},
		{"a nil channel", "var none chan int\n<-none"},
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
			if d := time.Since(start) - 50*time.Millisecond; d > time.Second {
				t.Errorf("ended %v after the interrupt", d)
			} else {
				t.Logf("ended %v after the interrupt", d)
			}
			if out.Failure == nil || out.Failure.Kind != engine.Interrupt {
				t.Fatalf("got %+v, want an interrupt", out.Failure)
			}
			run("x = 5\nadd()", "= int  6")
			run("go func() { ch <- 7 }()\n<-ch", "= int  7")
		})
	}
	if leaves {
		t.Run("compiled code", func(t *testing.T) { testLeft(t, open) })
	}
}

// testLeft interrupts cells in compiled code that does not return, on an engine
// that leaves it behind: it says what goes on, and runs the next cell.
func testLeft(t *testing.T, open func() (engine.Engine, error)) {
	for _, c := range []struct{ what, source, names string }{
		{"a condition", "import \"sync\"\nc := sync.NewCond(&sync.Mutex{})\nc.L.Lock()\nc.Wait()", ""},
		{"a sort that does not end", "import \"sort\"\nsort.Slice(make([]int, 10_000_000), func(i, j int) bool { return i*7919%10007 < j*7919%10007 })", ""},
		{"a command", "import \"os/exec\"\nexec.Command(\"sleep\", \"2\").Run()", "os/exec.(*Cmd).Run"},
		{"a connection", "import \"net\"\nl, _ := net.Listen(\"tcp\", \"127.0.0.1:0\")\nx = 2\nl.Accept()", "net.(*TCPListener).Accept"},
		{"a large number", "import \"math/big\"\nnew(big.Int).Exp(big.NewInt(7), big.NewInt(6_000_000), nil)", "math/big.(*Int).Exp"},
		{"an expression", "import (\n\"regexp\"\n\"strings\"\n)\nregexp.MustCompile(\"(x+x+)+y\").MatchString(strings.Repeat(\"x\", 10_000_000))", "regexp.(*Regexp).MatchString"},
		{"a goroutine", "import \"os/exec\"\ngo exec.Command(\"sleep\", \"2\").Run()\nselect {}", "In[2], line 2"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := Open(t, open)
			nb.Run(context.Background(), "x := 1\ny := &x")
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, out, err := nb.Run(ctx, c.source)
			if err != nil {
				t.Fatal(err)
			}
			d := time.Since(start) - 100*time.Millisecond
			if f := out.Failure; f == nil || f.Kind != engine.Interrupt || !strings.Contains(f.Message, c.names) || d > time.Second {
				t.Fatalf("got %+v, %v after the interrupt; want one that names %s", f, d, c.names)
			}
			t.Logf("ended %v after the interrupt", d)
			if got := Report(nb.Run(context.Background(), "*y = x + 40\nx > 40")); len(got) != 1 || got[0] != "= bool  true" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

// testStuck interrupts a cell in compiled code that does not end: Run returns
// and says so. The next cells run once it ended, or, if it is left behind, at
// once.
func testStuck(t *testing.T, open func() (engine.Engine, error)) (left bool) {
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
	if o.Failure == nil || o.Failure.Kind != engine.Stuck && !strings.Contains(o.Failure.Message, "os.(*File).Read") || time.Since(start) > 3*time.Second {
		t.Fatalf("got %+v after %v, want it stuck or left behind", o.Failure, time.Since(start))
	}
	left = o.Failure.Kind != engine.Stuck
	if got := Report(nb.Run(context.Background(), "x")); left && (len(got) != 1 || got[0] != "= int  1") {
		t.Errorf("a cell beside the one left behind: %q", got)
	}
	if _, o, _ := nb.Run(context.Background(), "x"); !left && (o.Failure == nil || o.Failure.Kind != engine.Stuck) {
		t.Errorf("a cell ran beside the stuck one: %+v", o)
	}
	out.Write([]byte("."))
	out.Close()
	for deadline := time.Now().Add(5 * time.Second); ; {
		_, o, err := nb.Run(context.Background(), "x")
		if err == nil && o.Failure == nil && len(o.Values) == 1 && o.Values[0].Any == 1 {
			return left
		}
		if time.Now().After(deadline) {
			t.Fatalf("no cell runs after the stuck one ended: %+v, %v", o.Failure, err)
		}
	}
}
