package kernel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// TestSoak sends a kernel requests of all types at random: cells that are right,
// wrong, endless, flooding, deadly, and questions meanwhile. Each must get what
// the protocol owes it, and the processes must not grow. BRANCHBOOK_SOAK is how
// long; make soak takes ten minutes.
func TestSoak(t *testing.T) {
	length := 20 * time.Second
	if text := os.Getenv("BRANCHBOOK_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		t.Skip("takes twenty seconds")
	}
	for _, test := range []struct {
		name   string
		deadly bool // cells may end the worker
	}{{"cells that end the worker", true}, {"a worker that lives", false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &soak{T: t, k: start(t, tallyVariable+"="+t.TempDir()), r: rand.New(rand.NewPCG(1, uint64(length))), deadly: test.deadly}
			s.run(length)
		})
	}
}

// soak is one kernel under random requests.
type soak struct {
	*testing.T
	k      *kerneltest.Kernel
	r      *rand.Rand
	deadly bool
	count  int // the execution count that the last reply told
	n      int // requests so far
	asked  map[string]int
}

// A stimulus is a kind of cell and what it must bring.
type stimulus struct {
	name   string
	weight int
	deadly bool
	// code is given a number that no other request has.
	code func(n int) string
	stop time.Duration // when to interrupt; 0 for never
	// check looks at a reply and at the outputs.
	check func(n int, reply kerneltest.ExecuteReply, out []kerneltest.Message) error
}

func failsWith(ename string) func(int, kerneltest.ExecuteReply, []kerneltest.Message) error {
	return func(_ int, reply kerneltest.ExecuteReply, out []kerneltest.Message) error {
		if reply.Status != "error" || reply.EName != ename {
			return fmt.Errorf("the reply is %s, %s: %s; want %s", reply.Status, reply.EName, reply.EValue, ename)
		}
		if len(out) == 0 || out[len(out)-1].Header.MsgType != "error" {
			return errors.New("the last output is no error")
		}
		return nil
	}
}

// showsAll expects these outputs: of streams the text, of others text/plain.
func showsAll(want func(n int) string) func(int, kerneltest.ExecuteReply, []kerneltest.Message) error {
	return func(n int, reply kerneltest.ExecuteReply, out []kerneltest.Message) error {
		var got strings.Builder
		for _, m := range out {
			var c struct {
				Text string
				Data map[string]any
			}
			if err := json.Unmarshal(m.Content, &c); err != nil {
				return err
			}
			got.WriteString(c.Text)
			if text, ok := c.Data["text/plain"].(string); ok {
				got.WriteString(text + "\n")
			}
		}
		if w := want(n); reply.Status != "ok" || got.String() != w {
			return fmt.Errorf("the reply is %s, %s; %d bytes are shown, want %d: %.200q, want %.200q", reply.Status, reply.EValue, got.Len(), len(w), got.String(), w)
		}
		return nil
	}
}

func text(s string) func(int) string { return func(int) string { return s } }

var stimuli = []stimulus{
	{name: "a value", weight: 20, code: func(n int) string { return fmt.Sprintf("x := %d\nx + 1", n) }, check: showsAll(func(n int) string { return fmt.Sprintln(n + 1) })},
	{name: "lines", weight: 10, code: func(n int) string { return fmt.Sprintf("for i := range %d { fmt.Println(i) }", n%2000) }, check: showsAll(func(n int) string {
		var b strings.Builder
		for i := range n % 2000 {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	})},
	{name: "a function", weight: 5, code: func(n int) string { return fmt.Sprintf("func f(n int) int { return n + %d }\nf(1)", n) }, check: showsAll(func(n int) string { return fmt.Sprintln(n + 1) })},
	{name: "a type", weight: 5, code: func(n int) string {
		return fmt.Sprintf("type T struct{ A, B int }\nfunc (t T) Sum() int { return t.A + t.B }\nT{%d, 1}.Sum()", n)
	}, check: showsAll(func(n int) string { return fmt.Sprintln(n + 1) })},
	{name: "displays", weight: 5, code: text("for i := range 20 { nb.Display(i); fmt.Println(-i) }"), check: showsAll(func(int) string {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "%d\n%d\n", i, -i)
		}
		return b.String()
	})},
	{name: "updates", weight: 3, code: text("nb.DisplayID(\"u\", -1)\nfor i := range 50 { nb.Update(\"u\", i) }\nnb.Clear(false)"), check: func(_ int, reply kerneltest.ExecuteReply, out []kerneltest.Message) error {
		if reply.Status != "ok" || len(out) != 52 {
			return fmt.Errorf("the reply is %s; %d outputs", reply.Status, len(out))
		}
		return nil
	}},
	{name: "an error", weight: 5, code: text("panic(\"no\")"), check: failsWith("Panic")},
	{name: "what does not compile", weight: 5, code: text("nope + 1"), check: failsWith("CompileError")},
	{name: "goroutines", weight: 3, code: text("var wg sync.WaitGroup\nfor range 100 { wg.Go(func() { time.Sleep(time.Millisecond) }) }\nwg.Wait()"), check: showsAll(text(""))},
	{name: "memory", weight: 2, code: text("b := make([]byte, 64<<20)\nlen(b)"), check: showsAll(text("67108864\n"))},
	{name: "forget it", weight: 2, code: text("b := []byte(nil)\nlen(b)"), check: showsAll(text("0\n"))},
	{name: "a shell command", weight: 3, code: text("!echo shell; echo err >&2"), check: func(_ int, reply kerneltest.ExecuteReply, out []kerneltest.Message) error {
		if reply.Status != "ok" || len(out) == 0 {
			return fmt.Errorf("the reply is %s, %s; %d outputs", reply.Status, reply.EValue, len(out))
		}
		return nil
	}},
	{name: "bytes", weight: 2, code: text("os.Stdout.Write([]byte{0, 0xff, 0x1b, '\\r', 0xe2, 0x82, '\\n'});"), check: showsAll(text("\x00\uFFFD\x1b\r\uFFFD\uFFFD\n"))},
	{name: "an endless loop", weight: 3, code: text("for {}"), stop: 30 * time.Millisecond, check: failsWith("Interrupted")},
	{name: "an endless wait", weight: 3, code: text("time.Sleep(time.Hour)"), stop: 30 * time.Millisecond, check: failsWith("Interrupted")},
	{name: "an endless flood", weight: 2, code: text("for { fmt.Println(\"flood\") }"), stop: 100 * time.Millisecond, check: failsWith("Interrupted")},
	{name: "an endless flood of errors", weight: 1, code: text("for { fmt.Fprintln(os.Stderr, \"flood\") }"), stop: 100 * time.Millisecond, check: failsWith("Interrupted")},
	{name: "an endless flood of displays", weight: 1, code: text("for { nb.Display(1) }"), stop: 100 * time.Millisecond, check: failsWith("Interrupted")},
	{name: "a large value", weight: 1, code: text("strings.Repeat(\"y\", 5_000_000)"), check: func(_ int, reply kerneltest.ExecuteReply, out []kerneltest.Message) error {
		if reply.Status != "ok" || len(out) != 1 {
			return fmt.Errorf("the reply is %s; %d outputs", reply.Status, len(out))
		}
		return nil
	}},
	{name: "a cell that kills", weight: 2, deadly: true, code: text("syscall.Kill(os.Getpid(), syscall.SIGKILL)\nselect {}"), check: failsWith("WorkerDied")},
	{name: "a cell that aborts", weight: 1, deadly: true, code: text("syscall.Kill(os.Getpid(), syscall.SIGABRT)\nselect {}"), check: failsWith("WorkerDied")},
	{name: "a restart", weight: 1, deadly: true, code: text("%reset"), check: func(_ int, reply kerneltest.ExecuteReply, _ []kerneltest.Message) error {
		if reply.Status != "ok" {
			return fmt.Errorf("%+v", reply)
		}
		return nil
	}},
}

// questions are asked at any time, on shell and some on control.
var questions = []struct {
	msgType string
	content any
}{
	{"kernel_info_request", struct{}{}},
	{"complete_request", map[string]any{"code": "fmt.Pri", "cursor_pos": 7}},
	{"complete_request", map[string]any{"code": "\x00\xff(((", "cursor_pos": 3}},
	{"inspect_request", map[string]any{"code": "fmt.Println", "cursor_pos": 6, "detail_level": 1}},
	{"is_complete_request", map[string]any{"code": "for {"}},
	{"history_request", map[string]any{"hist_access_type": "tail", "n": 3, "output": false, "raw": true}},
	{"history_request", map[string]any{"hist_access_type": "search", "pattern": "*x*", "n": 3, "output": false, "raw": true}},
	{"comm_info_request", struct{}{}},
	{"execute_request", map[string]any{"code": 5}},
}

func (s *soak) run(length time.Duration) {
	s.asked = map[string]int{}
	warm := min(time.Minute, length/4)
	began := time.Now()
	var first, last tally
	for i := 0; time.Since(began) < length; i++ {
		s.batch()
		if s.Failed() {
			s.Fatalf("after %d requests", s.n)
		}
		if first == nil && time.Since(began) > warm {
			first = s.tally()
			s.Logf("after %v and %d requests: %v", time.Since(began).Round(time.Second), s.n, first)
		}
	}
	last = s.tally()
	s.Logf("after %v and %d requests: %v", time.Since(began).Round(time.Second), s.n, last)
	s.Logf("asked %v", s.asked)
	for name, most := range map[string]int{
		"goroutines": 10, "descriptors": 10, "threads": 20, "heap, MB": 24, "memory, MB": 96,
		"worker's goroutines": 10, "worker's descriptors": 10, "worker's threads": 20, "worker's heap, MB": 24, "worker's memory, MB": 128,
		"children": 0,
	} {
		if grown := last[name] - first[name]; grown > most {
			s.Errorf("%s: %d after the start, %d at the end", name, first[name], last[name])
		}
	}
}

// batch sends some requests at once, and looks at what each got.
func (s *soak) batch() {
	type sent struct {
		*kerneltest.Request
		what stimulus
		n    int
		ask  bool
	}
	var list []sent
	var stop time.Duration
	for range 1 + s.r.IntN(4) {
		s.n++
		if s.r.IntN(3) == 0 {
			q := questions[s.r.IntN(len(questions))]
			s.asked[q.msgType]++
			channel := "shell"
			if q.msgType == "kernel_info_request" && s.r.IntN(2) == 0 {
				channel = "control"
			}
			list = append(list, sent{Request: s.k.Send(channel, q.msgType, q.content), ask: true})
			continue
		}
		what := s.pick()
		if what.stop > 0 && stop > 0 {
			continue // one interrupt a batch
		}
		stop = max(stop, what.stop)
		s.asked[what.name]++
		list = append(list, sent{Request: s.k.ExecuteWith(map[string]any{"code": what.code(s.n), "silent": false}), what: what, n: s.n})
	}
	if s.r.IntN(20) == 0 {
		s.noise()
	}
	failed := false
	for _, r := range list {
		if r.ask {
			r.UntilIdle()
			r.Reply(nil)
			continue
		}
		var out []kerneltest.Message
		r.Busy()
		if r.what.stop > 0 && !failed {
			time.Sleep(r.what.stop)
			s.interrupt()
		}
		out = r.UntilIdle()
		var reply kerneltest.ExecuteReply
		r.Reply(&reply)
		if reply.Status == "aborted" {
			if !failed {
				s.Errorf("request %d, %s, was aborted with no error before it", r.n, r.what.name)
			}
			continue
		}
		out = s.own(r.n, reply, out)
		if err := r.what.check(r.n, reply, out); err != nil {
			s.Errorf("request %d, %s: %v", r.n, r.what.name, err)
		}
		failed = failed || reply.Status == "error"
	}
}

// own takes the execute_input off what a cell showed, and what says that it is
// busy still.
func (s *soak) own(n int, reply kerneltest.ExecuteReply, out []kerneltest.Message) (shown []kerneltest.Message) {
	inputs := 0
	for _, m := range out {
		switch m.Header.MsgType {
		case "status":
		case "execute_input":
			if inputs++; len(shown) > 0 {
				s.Errorf("request %d: the input comes after an output", n)
			}
		default:
			shown = append(shown, m)
		}
	}
	if inputs != 1 || reply.Count != s.count+1 {
		s.Errorf("request %d: %d inputs; its count is %d after %d", n, inputs, reply.Count, s.count)
	}
	s.count = reply.Count
	return shown
}

func (s *soak) pick() stimulus {
	total := 0
	for _, st := range stimuli {
		if !st.deadly || s.deadly {
			total += st.weight
		}
	}
	at := s.r.IntN(total)
	for _, st := range stimuli {
		if st.deadly && !s.deadly {
			continue
		}
		if at -= st.weight; at < 0 {
			return st
		}
	}
	panic("no stimulus")
}

func (s *soak) interrupt() {
	if s.r.IntN(2) == 0 {
		s.k.Interrupt()
	} else {
		s.k.Send("control", "interrupt_request", struct{}{}).UntilIdle()
	}
}

// noise is what no client should send.
func (s *soak) noise() {
	_, frames := s.k.Frames("execute_request", map[string]any{"code": "1"})
	i := s.r.IntN(len(frames))
	switch s.r.IntN(3) {
	case 0:
		frames = frames[:i]
	case 1:
		frames[i] = nil
	case 2:
		frames[i] = []byte(strings.Repeat("\xff{", 1+s.r.IntN(1000)))
	}
	if len(frames) > 0 {
		s.k.SendFrames([]string{"shell", "control", "stdin"}[s.r.IntN(3)], frames)
	}
}

// A tally is what the processes hold, by names.
type tally map[string]int

// tallyVariable names a directory in which the test's kernels and workers write
// what only they know when they get SIGUSR1 (tallyOnSignal).
const tallyVariable = "BRANCHBOOK_TEST_TALLY"

func tallyOnSignal() {
	dir := os.Getenv(tallyVariable)
	if dir == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			debug.FreeOSMemory()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			name := filepath.Join(dir, strconv.Itoa(os.Getpid()))
			os.WriteFile(name+"~", fmt.Append(nil, runtime.NumGoroutine(), " ", m.HeapAlloc>>20), 0o600)
			os.Rename(name+"~", name)
		}
	}()
}

func (s *soak) tally() tally {
	// The 64 MB that a cell may have left in a variable are no growth.
	r := s.k.Execute("b := []byte(nil)")
	r.UntilIdle()
	var reply kerneltest.ExecuteReply
	if r.Reply(&reply); reply.Status != "ok" {
		s.Fatalf("%+v", reply)
	}
	s.count = reply.Count
	t := tally{}
	s.process(t, "", s.k.Process.Pid)
	children := s.k.Children()
	t["children"] = len(children)
	if !s.deadly {
		s.process(t, "worker's ", children[0])
	}
	return t
}

func (s *soak) process(t tally, of string, pid int) {
	dir := ""
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		s.Fatal(err)
	}
	for _, v := range strings.Split(string(data), "\x00") {
		if d, ok := strings.CutPrefix(v, tallyVariable+"="); ok {
			dir = d
		}
	}
	name := filepath.Join(dir, strconv.Itoa(pid))
	os.Remove(name)
	syscall.Kill(pid, syscall.SIGUSR1)
	for deadline := time.Now().Add(kerneltest.Patience); ; time.Sleep(5 * time.Millisecond) {
		if data, err = os.ReadFile(name); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline) {
			s.Fatal(err)
		}
	}
	var goroutines, heap int
	fmt.Sscan(string(data), &goroutines, &heap)
	t[of+"goroutines"], t[of+"heap, MB"] = goroutines, heap
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	t[of+"descriptors"] = len(fds)
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		var n int
		if _, err := fmt.Sscanf(line, "Threads: %d", &n); err == nil {
			t[of+"threads"] = n
		}
		if _, err := fmt.Sscanf(line, "VmRSS: %d", &n); err == nil {
			t[of+"memory, MB"] = n >> 10
		}
	}
}
