package enginetest

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// A form is a way not to end.
type form struct {
	what, source string
	// goesOn is what the message names of compiled code that does not come
	// back; only engines that leave such code behind are asked.
	goesOn string
	// compiled: it is compiled code that calls back or is short. It ends, or is
	// named where the machine is busy; engines that wait for it may give up.
	compiled bool
}

// forms are all that we know. They find x, an int that is 1, ch, an unbuffered
// channel, wait, which receives from it, each, a sequence without end, and
// begun, which tells that the interrupt may come: else it does after 50 ms.
var forms = []form{
	// Loops and calls.
	{what: "an empty loop", source: "for {}"},
	{what: "a loop that counts", source: "for { x++ }"},
	{what: "a loop in a function", source: "func spin() { for { x++ } }\nspin()"},
	{what: "a loop of labels", source: "again:\nx++\ngoto again"},
	{what: "a range over a number", source: "for range 1 << 62 { x++ }"},
	{what: "a range over a function", source: "for i := range each { x = i }"},
	{what: "a range over a function that nobody leaves", source: "for range func(yield func() bool) { for {} } {}"},
	{what: "a pulled sequence", source: "import \"iter\"\nnext, stop := iter.Pull(each)\ndefer stop()\nfor { x, _ = next() }"},
	{what: "a sequence that yields nothing to pull", source: "import \"iter\"\nnext, _ := iter.Pull(func(yield func(int) bool) { for {} })\nnext()"},
	{what: "calls", source: "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfib(70)"},
	{what: "calls through an interface", source: "type one struct{}\nfunc (one) Next() int { return x }\nvar i interface{ Next() int } = one{}\nfor { x = i.Next() }"},
	{what: "short compiled calls", source: "import \"fmt\"\nvar s string\nfor { s = fmt.Sprint(x) }", compiled: true},
	{what: "allocation", source: "var b []byte\nfor { b = make([]byte, 1<<16) }"},
	{what: "a map", source: "m := map[int]int{}\nfor { x++; m[x%1000] = x }"},
	{what: "strings", source: "var s string\nfor { s += \"a\"; if len(s) > 10000 { s = \"\" } }"},
	{what: "runtime.Gosched", source: "import \"runtime\"\nfor { runtime.Gosched() }"},
	{what: "the collector", source: "import \"runtime\"\nfor { runtime.GC() }", compiled: true},

	// Deferred calls, panics, recover.
	{what: "a deferred loop", source: "func f() { defer func() { for {} }() }\nf()"},
	{what: "a deferred loop behind a loop", source: "defer func() { for {} }()\nfor {}"},
	{what: "a deferred loop of a panic", source: "defer func() { for {} }()\npanic(1)"},
	{what: "panics that are recovered", source: "for { func() { defer func() { recover() }(); panic(1) }() }"},
	{what: "failures that are recovered", source: "var p *int\nfor { func() { defer func() { recover() }(); *p = 1 }() }"},
	{what: "a loop that recovers and begins again", source: "func try() { defer func() { recover(); try() }(); for {} }\ntry()"},

	// Channels.
	{what: "a receive", source: "<-make(chan int)"},
	{what: "a send", source: "make(chan int) <- 1"},
	{what: "a send to a full channel", source: "full := make(chan int, 2)\nfor { full <- 1 }"},
	{what: "a range over a channel", source: "for range make(chan int) {}"},
	{what: "a receive from nil", source: "var none chan int\n<-none"},
	{what: "a send to nil", source: "var none chan int\nnone <- 1"},
	{what: "a range over nil", source: "var none chan int\nfor range none {}"},
	{what: "a select", source: "select { case <-make(chan int): case make(chan string) <- \"\": }"},
	{what: "a select of nil channels", source: "var none chan int\nselect { case <-none: case none <- 1: }"},
	{what: "an empty select", source: "select {}"},
	{what: "selects with default", source: "for { select { case <-ch: default: } }"},
	{what: "a channel in a function of an earlier cell", source: "wait()"},
	{what: "two goroutines that play", source: "a, b := make(chan int), make(chan int)\ngo func() { for v := range a { b <- v } }()\nfor { a <- x; x = <-b }"},
	{what: "a semaphore", source: "sem := make(chan struct{}, 2)\nfor { sem <- struct{}{}; go func() { select {} }() }"},

	// Time.
	{what: "a sleep", source: "import \"time\"\ntime.Sleep(time.Hour)"},
	{what: "short sleeps", source: "import \"time\"\nfor { time.Sleep(time.Millisecond) }"},
	{what: "a timer", source: "import \"time\"\n<-time.NewTimer(time.Hour).C"},
	{what: "time.After", source: "import \"time\"\nselect { case <-time.After(time.Hour): case <-ch: }"},
	{what: "a ticker", source: "import \"time\"\nfor range time.NewTicker(time.Millisecond).C { x++ }"},
	{what: "time.Tick", source: "import \"time\"\nfor range time.Tick(time.Hour) {}"},
	{what: "the cell's context", source: "<-ctx.Done()\nselect {}"},
	{what: "a context of its own", source: "import \"time\"\nc, cancel := context.WithTimeout(context.Background(), time.Hour)\ndefer cancel()\n<-c.Done()"},

	// Package sync.
	{what: "a lock", source: "import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\nmu.Lock()"},
	{what: "a lock's method value", source: "import \"sync\"\nvar mu sync.Mutex\nlock := mu.Lock\nlock()\nlock()", compiled: true},
	{what: "an embedded lock", source: "import \"sync\"\nvar box struct { sync.Mutex; n int }\nbox.Lock()\nbox.Lock()"},
	{what: "a Locker", source: "import \"sync\"\nvar l sync.Locker = new(sync.Mutex)\nl.Lock()\nl.Lock()", compiled: true},
	{what: "a lock in a deferred call", source: "import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\nfunc f() { defer mu.Lock() }\nf()", compiled: true},
	{what: "a read lock", source: "import \"sync\"\nvar mu sync.RWMutex\nmu.Lock()\nmu.RLock()"},
	{what: "a write lock", source: "import \"sync\"\nvar mu sync.RWMutex\nmu.RLock()\nmu.Lock()"},
	{what: "RLocker", source: "import \"sync\"\nvar mu sync.RWMutex\nmu.Lock()\nmu.RLocker().Lock()", compiled: true},
	{what: "locks that are contended", source: "import \"sync\"\nvar mu sync.Mutex\nfor range 8 { go func() { for { mu.Lock(); x++; mu.Unlock() } }() }\nfor { mu.Lock(); x++; mu.Unlock() }"},
	{what: "TryLock", source: "import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\nfor !mu.TryLock() {}", compiled: true},
	{what: "a condition", source: "import \"sync\"\nc := sync.NewCond(&sync.Mutex{})\nc.L.Lock()\nc.Wait()", compiled: true},
	{what: "a wait for nobody", source: "import \"sync\"\nvar wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()"},
	{what: "a wait for goroutines", source: "import \"sync\"\nvar wg sync.WaitGroup\nfor range 4 { wg.Add(1); go func() { defer wg.Done(); select {} }() }\nwg.Wait()"},
	{what: "a group that goes", source: "import \"sync\"\nvar wg sync.WaitGroup\nwg.Go(func() { for {} })\nwg.Wait()", compiled: true},
	{what: "once", source: "import \"sync\"\nvar once sync.Once\nonce.Do(func() { select {} })", compiled: true},
	{what: "once, for others", source: "import \"sync\"\nvar once sync.Once\ngo once.Do(func() { select {} })\nonce.Do(func() { select {} })", compiled: true},
	{what: "once in itself", source: "import \"sync\"\nvar once sync.Once\nonce.Do(func() { once.Do(func() {}) })", compiled: true},
	{what: "a value that is made once", source: "import \"sync\"\nvalue := sync.OnceValue(func() int { select {} })\nvalue()", compiled: true},
	{what: "a sync.Map's range", source: "import \"sync\"\nvar m sync.Map\nm.Store(1, 1)\nm.Range(func(k, v any) bool { for {} })", compiled: true},
	{what: "an atomic number", source: "import \"sync/atomic\"\nvar n atomic.Int64\nfor !n.CompareAndSwap(1, 2) {}", compiled: true},

	// Goroutines.
	{what: "goroutines that loop", source: "for range 8 { go func() { for { x++ } }() }\nselect {}"},
	{what: "goroutines by the thousand", source: "for range 5000 { go func() { for {} }() }\nselect {}"},
	{what: "goroutines that wait, by the thousand", source: "for range 20000 { go func() { <-ch }() }\nselect {}"},
	{what: "goroutines without end", source: "import \"time\"\nfor { go func() { time.Sleep(time.Millisecond) }() }"},
	{what: "a goroutine that panics late", source: "import \"time\"\ngo func() { defer func() { panic(2) }(); time.Sleep(time.Hour) }()\nselect {}"},

	// Compiled code that calls back.
	{what: "a function that strings calls", source: "import \"strings\"\nstrings.Map(func(r rune) rune { for {} }, \"abc\")"},
	{what: "a sort", source: "import \"sort\"\nsort.Slice(make([]int, 10_000_000), func(i, j int) bool { return i*7919%10007 < j*7919%10007 })", compiled: true},
	{what: "a sort of its own type", source: "import \"sort\"\ntype back []int\nfunc (b back) Len() int { return len(b) }\nfunc (b back) Less(i, j int) bool { return i*7919%10007 > j*7919%10007 }\nfunc (b back) Swap(i, j int) { b[i], b[j] = b[j], b[i] }\nsort.Sort(make(back, 10_000_000))", compiled: true},
	{what: "slices.SortFunc", source: "import \"slices\"\nslices.SortFunc(make([]int, 10_000_000), func(a, b int) int { return 1 })", compiled: true},
	{what: "a String method that fmt calls", source: "import \"fmt\"\ntype T int\nfunc (T) String() string { for {} }\ns := fmt.Sprint(T(1))", compiled: true},
	{what: "a reader of zeros that io copies", source: "import \"io\"\ntype zeros struct{}\nfunc (zeros) Read(b []byte) (int, error) { return len(b), nil }\nio.Copy(io.Discard, zeros{})", compiled: true},
	{what: "a handler", source: "import (\n\"net/http\"\n\"net/http/httptest\"\n)\nhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) { select {} }).ServeHTTP(httptest.NewRecorder(), nil)", compiled: true},
	{what: "a finalizer", source: "import \"runtime\"\np := new([64]int)\nruntime.SetFinalizer(p, func(*[64]int) { for {} })\np = nil\nfor { runtime.GC() }", compiled: true},
	{what: "time.AfterFunc", source: "import \"time\"\ntime.AfterFunc(time.Millisecond, func() { for {} })\nselect {}", compiled: true},

	// Compiled code that does not.
	{what: "os.File.Read", source: "import \"os\"\nr, w, _ := os.Pipe()\nbegun()\nr.Read(make([]byte, 1))\nw.Close()", goesOn: "os.(*File).Read"},
	{what: "a scanner", source: "import (\n\"bufio\"\n\"os\"\n)\nr, w, _ := os.Pipe()\nbegun()\nbufio.NewScanner(r).Scan()\nw.Close()", goesOn: "bufio.(*Scanner).Scan"},
	{what: "io.Copy", source: "import (\n\"io\"\n\"os\"\n)\nr, w, _ := os.Pipe()\nbegun()\nio.Copy(io.Discard, r)\nw.Close()", goesOn: "io.Copy"},
	{what: "io.Pipe", source: "import \"io\"\nr, w := io.Pipe()\nbegun()\nr.Read(make([]byte, 1))\nw.Close()", goesOn: "io.(*PipeReader).Read"},
	{what: "a command", source: "import \"os/exec\"\nexec.Command(\"sleep\", \"2\").Run()", goesOn: "os/exec.(*Cmd).Run"},
	{what: "a wait for a command", source: "import \"os/exec\"\nc := exec.Command(\"sleep\", \"2\")\nc.Start()\nc.Wait()", goesOn: "os/exec.(*Cmd).Wait"},
	{what: "a listener", source: "import \"net\"\nl, _ := net.Listen(\"tcp\", \"127.0.0.1:0\")\nbegun()\nl.Accept()\nl.Close()", goesOn: "net.(*TCPListener).Accept"},
	{what: "a connection", source: "import \"net\"\nl, _ := net.Listen(\"tcp\", \"127.0.0.1:0\")\nc, _ := net.Dial(\"tcp\", l.Addr().String())\nbegun()\nc.Read(make([]byte, 1))\nl.Close()", goesOn: "net.(*TCPConn).Read"},
	{what: "a server", source: "import \"net/http\"\nhttp.ListenAndServe(\"127.0.0.1:0\", nil)", goesOn: "net/http.ListenAndServe"},
	{what: "a request", source: "import (\n\"net\"\n\"net/http\"\n)\nl, _ := net.Listen(\"tcp\", \"127.0.0.1:0\")\nbegun()\nmust((&http.Client{Transport: &http.Transport{}}).Get(\"http://\" + l.Addr().String()))\nl.Close()", goesOn: "net/http.(*Client).Get"},
	{what: "a large number", source: "import \"math/big\"\nnew(big.Int).Exp(big.NewInt(7), big.NewInt(6_000_000), nil)", goesOn: "math/big.(*Int).Exp"},
	{what: "an expression", source: "import (\n\"regexp\"\n\"strings\"\n)\ns := strings.Repeat(\"x\", 10_000_000)\nbegun()\nregexp.MustCompile(\"(x+x+)+y\").MatchString(s)", goesOn: "regexp.(*Regexp).MatchString"},
	{what: "compression", source: "import (\n\"compress/gzip\"\n\"io\"\n)\nb := make([]byte, 256<<20)\nw := gzip.NewWriter(io.Discard)\nbegun()\nw.Write(b)", goesOn: "compress/gzip.(*Writer).Write"},
	{what: "JSON", source: "import \"encoding/json\"\nb := make([]int, 20_000_000)\nbegun()\njson.Marshal(b)", goesOn: "encoding/json.Marshal"},
	{what: "a hash, in assembly", source: "import (\n\"crypto/sha256\"\n\"runtime\"\n)\nb := make([]byte, 1<<30)\nruntime.GC()\nbegun()\nsha256.Sum256(b)", goesOn: "crypto/sha256.Sum256"},
	{what: "a goroutine in compiled code", source: "import \"os/exec\"\ngo exec.Command(\"sleep\", \"2\").Run()\nselect {}", goesOn: "os/exec.(*Cmd).Run (In[2], line 2)"},
}

// testInterrupt interrupts cells that would never end: the next cell runs soon,
// with the values that variables had, and no goroutine of the cell is left that
// is not named.
//
// BRANCHBOOK_INTERRUPTS=N interrupts each N times, tells how long that takes, and
// takes the 50 ms that it may take at its word: for a machine that has nothing
// else to do.
func testInterrupt(t *testing.T, open func() (engine.Engine, error)) {
	if Race {
		t.Skip("the times are not the race detector's, and cells race with what was left behind")
	}
	leaves := false
	t.Run("a call that does not return", func(t *testing.T) { leaves = testStuck(t, open) })
	times, _ := strconv.Atoi(os.Getenv("BRANCHBOOK_INTERRUPTS"))
	within := 50 * time.Millisecond
	if times == 0 {
		times, within = 1, time.Second
	}
	for _, f := range forms {
		if !leaves && (f.compiled || f.goesOn != "") {
			continue
		}
		t.Run(f.what, func(t *testing.T) {
			var took []time.Duration
			before := runtime.NumGoroutine()
			for range times {
				for pause := 50 * time.Millisecond; ; pause *= 3 { // a busy machine may need longer to come there
					d, there := f.interrupt(t, open, pause)
					if !there && pause < time.Second {
						continue
					}
					if !there {
						t.Fatalf("%v after it began, it is not in %s", pause, f.goesOn)
					}
					took = append(took, d)
					break
				}
				if leaves {
					f.settle(t, before, times > 1)
				}
			}
			slices.Sort(took)
			median, most := took[len(took)/2], took[len(took)-1]
			t.Logf("median %.1f ms, longest %.1f ms", median.Seconds()*1e3, most.Seconds()*1e3)
			if most > within {
				t.Errorf("ended %v after the interrupt", most)
			}
		})
	}
}

// interrupt interrupts a cell some time after it began, and returns how long
// that took; there says that the cell was where it goes on.
func (f form) interrupt(t *testing.T, open func() (engine.Engine, error), pause time.Duration) (took time.Duration, there bool) {
	nb := Open(t, open)
	defer nb.Engine.Close()
	run := func(source string, want ...string) {
		t.Helper()
		if got := Report(nb.Run(context.Background(), source)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
	run("import \"os\"\nfunc begun() { os.Stdout.WriteString(\".\") }\nx := 1\nadd := func() int { x++; return x }\nch := make(chan int)\nfunc wait() { <-ch }\nfunc each(yield func(int) bool) { for i := 0; yield(i); i++ {} }")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stdout := os.Stdout
	os.Stdout = w
	ctx, cancel := context.WithCancel(context.Background())
	var began time.Time
	go func() {
		if strings.Contains(f.source, "begun()") {
			r.Read(make([]byte, 1))
		}
		time.Sleep(pause)
		began = time.Now()
		cancel()
	}()
	c, err := nb.check(f.source)
	if err != nil {
		t.Fatal(err)
	}
	out := nb.Engine.Run(ctx, c)
	<-ctx.Done()
	took = time.Since(began)
	os.Stdout = stdout
	w.Close()
	nb.Scope.Commit(c)
	fail := out.Failure
	if fail == nil || fail.Kind != engine.Interrupt || f.goesOn == "" && !f.compiled && strings.Contains(fail.Message, "goes on") {
		t.Fatalf("got %+v, want an interrupt", fail)
	}
	run("x = 5\nadd()", "= int  6")
	run("go func() { ch <- 7 }()\n<-ch", "= int  7")
	return took, strings.Contains(fail.Message, f.goesOn)
}

// settle waits until the goroutines of the cell have ended; those that are
// named for a while, where more will be measured.
func (f form) settle(t *testing.T, before int, more bool) {
	end := time.Now().Add(20 * time.Second)
	if f.goesOn != "" {
		end = time.Now()
		if more {
			end = end.Add(3 * time.Second)
		}
	}
	for runtime.NumGoroutine() > before {
		if time.Now().Before(end) {
			time.Sleep(time.Millisecond)
			continue
		}
		if f.goesOn == "" {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines more than before:\n%s", runtime.NumGoroutine()-before, buf[:runtime.Stack(buf, true)])
		}
		return
	}
}

// testStuck interrupts a cell in compiled code that does not end: Run returns
// and says so. The next cells run once it ended, or, if it is left behind, at
// once.
func testStuck(t *testing.T, open func() (engine.Engine, error)) (left bool) {
	for pause := 20 * time.Millisecond; ; pause *= 4 {
		if left, there := interruptRead(t, open, pause); there {
			return left
		}
		if pause > time.Second {
			t.Fatalf("%v after it began, the cell does not read", pause)
		}
	}
}

func interruptRead(t *testing.T, open func() (engine.Engine, error), pause time.Duration) (left, there bool) {
	nb := Open(t, open)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	ctx, cancel := context.WithTimeout(context.Background(), pause)
	defer cancel()
	_, o, err := nb.Run(ctx, "x := 1\nb := make([]byte, 1)\nos.Stdin.Read(b)")
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case o.Failure != nil && o.Failure.Kind == engine.Interrupt && !strings.Contains(o.Failure.Message, "goes on"):
		return false, false
	case o.Failure == nil || o.Failure.Kind != engine.Stuck && !strings.Contains(o.Failure.Message, "os.(*File).Read"):
		t.Fatalf("got %+v, want it stuck or left behind", o.Failure)
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
			return left, true
		}
		if time.Now().After(deadline) {
			t.Fatalf("no cell runs after the stuck one ended: %+v, %v", o.Failure, err)
		}
	}
}
