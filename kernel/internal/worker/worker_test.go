package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/nb"
)

// The test binary is its own worker: its engine runs the words of a cell as
// orders to print, show, wait and die.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := Serve(func() (Cells, error) { return Cells{Scope: script{}, Engine: script{}}, nil }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type script struct{}

func (script) Forget(names ...string) []string { return nil }

func (script) Check(n int, source string) (*cell.Cell, error) {
	return &cell.Cell{N: n, Source: source}, nil
}
func (script) Commit(*cell.Cell) {}
func (script) Close() error      { return nil }

func (script) Run(ctx context.Context, c *cell.Cell) engine.Outcome {
	for line := range strings.Lines(c.Source) {
		order, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch order {
		case "print":
			fmt.Println(arg)
		case "error":
			fmt.Fprintln(os.Stderr, arg)
		case "println":
			engine.Println(arg)
		case "count":
			var n int
			fmt.Sscan(arg, &n)
			for i := range n {
				fmt.Println(i)
			}
		case "show":
			nb.Display(arg)
		case "wait":
			<-ctx.Done()
			return engine.Outcome{Failure: &engine.Failure{Kind: engine.Interrupt}}
		case "hang": // compiled code that knows no context
			select {}
		case "late":
			go func() {
				time.Sleep(50 * time.Millisecond)
				fmt.Println(arg)
			}()
		case "child":
			exec.Command("sleep", "1000").Start()
		case "kill":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "overflow":
			_ = overflow(0)
		case "value":
			return engine.Outcome{Values: []engine.Value{{Any: arg, Type: "string"}}}
		}
	}
	return engine.Outcome{}
}

//lint:ignore SA5007 the stack is to overflow
func overflow(n int) int { return overflow(n+1) + n }

// harness is a process and all that it passed on.
type harness struct {
	*Process
	mu     sync.Mutex
	events []string
}

func start(t *testing.T) *harness {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{}
	add := func(event string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, event)
	}
	h.Process, err = Start(Options{
		Command: []string{self, "worker"},
		Stream:  func(name, text string) { add(name + ": " + text) },
		Show:    func(s Show) { add(fmt.Sprintf("%s: %v", s.Op, s.Data["text/plain"])) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *harness) run(t *testing.T, n int, source string) (Done, error) {
	t.Helper()
	h.mu.Lock()
	h.events = nil
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	h.Settle()
	return h.Run(ctx, Job{N: n, Source: source})
}

func (h *harness) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.events, "|")
}

func TestOrderOfPrintAndPrintln(t *testing.T) {
	h := start(t)
	var source, want strings.Builder
	for i := range 100 { // within microseconds
		fmt.Fprintf(&source, "print a%d\nprintln b%d\n", i, i)
		fmt.Fprintf(&want, "a%d\nb%d\n", i, i)
	}
	if _, err := h.run(t, 1, source.String()); err != nil {
		t.Fatal(err)
	}
	if got := strings.NewReplacer("stdout: ", "", "stderr: ", "", "|", "").Replace(h.all()); got != want.String() {
		t.Errorf("got %q", got)
	}
}

func TestOrderOfOutputAndDisplays(t *testing.T) {
	h := start(t)
	d, err := h.run(t, 1, "print a\nshow b\nprint c\nshow d\nshow e\nprint f\nvalue g")
	if err != nil {
		t.Fatal(err)
	}
	want := "stdout: a\n|display: b|stdout: c\n|display: d|display: e|stdout: f\n"
	if h.all() != want {
		t.Errorf("got  %q\nwant %q", h.all(), want)
	}
	if d.Result["text/plain"] != "g" {
		t.Errorf("result %v", d.Result)
	}
}

func TestStderrFirstStaysFirst(t *testing.T) {
	h := start(t)
	for n := range 20 { // each a race that the order of reading could lose
		if _, err := h.run(t, n+1, "error a\nprint b"); err != nil {
			t.Fatal(err)
		}
		if h.all() != "stderr: a\n|stdout: b\n" {
			t.Errorf("%q", h.all())
		}
	}
}

func TestAllLinesArriveBeforeRunReturns(t *testing.T) {
	h := start(t)
	if _, err := h.run(t, 1, "count 100000"); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&want, i)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var got strings.Builder
	for _, e := range h.events {
		got.WriteString(strings.TrimPrefix(e, "stdout: "))
	}
	if got.String() != want.String() {
		t.Errorf("%d bytes arrived, want %d", got.Len(), want.Len())
	}
	if len(h.events) > 100 {
		t.Errorf("in %d messages", len(h.events))
	}
}

func TestLateOutputIsPassedOnBetweenCells(t *testing.T) {
	h := start(t)
	if _, err := h.run(t, 1, "late here"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); h.all() == ""; {
		if time.Now().After(deadline) {
			t.Fatal("nothing came")
		}
		time.Sleep(time.Millisecond) // polling for an event of another process
	}
	if h.all() != "stdout: here\n" {
		t.Error(h.all())
	}
}

func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name, source string
		within       time.Duration
		unending     bool
	}{
		{"code that listens", "wait", time.Second, false},
		{"code that does not", "hang", grace + 3*time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t)
			if _, err := h.run(t, 1, "print ready"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			began := time.Now()
			time.AfterFunc(10*time.Millisecond, cancel)
			d, err := h.Run(ctx, Job{N: 2, Source: test.source})
			if took := time.Since(began); took > test.within {
				t.Errorf("took %v", took)
			}
			var death *Death
			switch {
			case test.unending && (!errors.As(err, &death) || !death.Unending):
				t.Errorf("error %v, want a death that says why", err)
			case !test.unending && (err != nil || d.Failure == nil || d.Failure.Kind != "interrupt"):
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

func TestAnInterruptThatComesLateHitsNoOtherCell(t *testing.T) {
	h := start(t)
	if _, err := h.run(t, 1, "print a"); err != nil {
		t.Fatal(err)
	}
	h.write(kindInterrupt, interruptFrame{N: 1})
	h.write(kindInterrupt, interruptFrame{N: 99})
	if d, err := h.run(t, 2, "print b"); err != nil || d.Failure != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDeath(t *testing.T) {
	for _, test := range []struct{ name, source, cause, detail string }{
		{"killed", "print before\nkill", "killed", ""},
		{"a stack without end", "print before\noverflow", "killed", "fatal error: stack overflow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t)
			_, err := h.run(t, 1, test.source)
			var death *Death
			if !errors.As(err, &death) {
				t.Fatalf("error %v, want a death", err)
			}
			if death.Cause != test.cause || death.Detail != test.detail {
				t.Errorf("%+v", death)
			}
			if !strings.HasPrefix(h.all(), "stdout: before\n") {
				t.Errorf("what it printed before is lost: %q", h.all())
			}
			if strings.Contains(h.all(), "goroutine 1") {
				t.Errorf("the user sees our stack: %q", h.all())
			}
			if _, err := h.run(t, 2, "print again"); !errors.As(err, &death) {
				t.Errorf("a second run: %v", err)
			}
		})
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	h := start(t)
	if _, err := h.run(t, 1, "child"); err != nil {
		t.Fatal(err)
	}
	group := h.Pid()
	h.Close()
	h.Close()
	// Killed processes of the group may take a moment to go.
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(-group, 0) == nil; {
		if time.Now().After(deadline) {
			t.Fatal("what the worker started is still there")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestCloseDuringACell(t *testing.T) {
	h := start(t)
	if _, err := h.run(t, 1, "print ready"); err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		_, err := h.Run(context.Background(), Job{N: 2, Source: "hang"})
		result <- err
	}()
	h.Close()
	if err := <-result; err == nil {
		t.Error("the cell ended well")
	}
}

func TestReadFrame(t *testing.T) {
	whole, err := encodeFrame(kindRun, Job{N: 3, Source: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		in   []byte
		want error
	}{
		{"a frame", whole, nil},
		{"nothing", nil, io.EOF},
		{"a header cut off", whole[:3], io.ErrUnexpectedEOF},
		{"a payload cut off", whole[:len(whole)-1], io.ErrUnexpectedEOF},
		{"a length beyond the limit", []byte{'r', 0xff, 0xff, 0xff, 0xff}, errFrame},
	} {
		k, payload, err := readFrame(bytes.NewReader(test.in))
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		if err == nil {
			var j Job
			if err := decodeFrame(k, payload, &j); err != nil || k != kindRun || j != (Job{N: 3, Source: "x"}) {
				t.Errorf("%s: %q %+v %v", test.name, k, j, err)
			}
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	whole, _ := encodeFrame(kindDone, Done{N: 1, Result: map[string]any{"text/plain": "x"}})
	f.Add(whole)
	f.Add([]byte{'h', 0, 0, 0, 2, '{', '}'})
	f.Add([]byte{'s', 0x0f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			k, payload, err := readFrame(r)
			if err != nil {
				return
			}
			for _, v := range []any{&Job{}, &interruptFrame{}, &Hello{}, &Show{}, &Done{}} {
				decodeFrame(k, payload, v)
			}
		}
	})
}
