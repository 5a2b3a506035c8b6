package session

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/wire"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// The test binary is its own worker. Its engine runs no Go, and so needs no
// interpreter: it prints what it is given, waits where the cell loops, dies
// where it exits.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := worker.Serve(func() (worker.Cells, error) {
			return worker.Cells{Scope: newScope(), Engine: printer{}, Modules: modules.NewSet(true)}, nil
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newScope() *cell.Scope { return cell.NewScope(nil, cell.Prelude{}) }

type printer struct{}

func (printer) Close() error { return nil }

func (printer) Run(ctx context.Context, c *cell.Cell) engine.Outcome {
	if c.N < hiddenBase { // looking at a variable prints nothing
		fmt.Println(c.Source)
	}
	switch {
	case strings.Contains(c.Source, "for {}"):
		<-ctx.Done()
		return engine.Outcome{Failure: &engine.Failure{Kind: engine.Interrupt}}
	case strings.Contains(c.Source, "panic"):
		return engine.Outcome{Failure: &engine.Failure{Kind: engine.Panic, Message: "at will", Frames: []engine.Frame{{Cell: c.N, Line: 1}}}}
	case strings.Contains(c.Source, "exit"):
		os.Exit(3)
	case c.Show != nil:
		return engine.Outcome{Values: []engine.Value{{Any: 1, Type: "int"}}}
	}
	return engine.Outcome{}
}

// heard is what a session sent, by the request that caused it.
type heard struct {
	mu       sync.Mutex
	outputs  map[string][]string // types, with the state of a status
	replies  map[string][]wire.Message
	idle     chan string // the id of a request that is idle
	problems []string
}

func (h *heard) send(ch wire.Channel, m wire.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var parent wire.Header
	if len(m.Parent) > 0 {
		if err := json.Unmarshal(m.Parent, &parent); err != nil {
			h.problems = append(h.problems, err.Error())
		}
	}
	if ch != wire.IOPub {
		h.replies[parent.MsgID] = append(h.replies[parent.MsgID], m)
		return
	}
	kind := m.Header.MsgType
	if kind == "status" {
		var s wire.Status
		m.Decode(&s)
		kind = s.ExecutionState
	}
	if kind == "stream" || kind == "error" {
		kind += " " + string(m.Content)
	}
	h.outputs[parent.MsgID] = append(h.outputs[parent.MsgID], kind)
	if kind == "idle" {
		h.idle <- parent.MsgID
	}
}

// TestManyRequestsAtOnce sends questions, cells, faulty cells, cells that kill
// the worker, and interrupts, from several goroutines, and sees that each gets
// what the protocol owes it: busy, one reply, idle, nothing after that.
func TestManyRequestsAtOnce(t *testing.T) {
	const each, senders = 100, 4
	nb := openNotebook(t)
	h := &heard{outputs: map[string][]string{}, replies: map[string][]wire.Message{}, idle: make(chan string, 2*each*senders)}
	s := New(nb, Config{Send: h.send})
	ran := make(chan error)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ran <- s.Run(ctx) }()

	kinds := []struct {
		ch       wire.Channel
		kind     string
		contents []any
	}{
		{wire.Shell, "execute_request", []any{
			map[string]any{"code": "1 + 1"}, map[string]any{"code": "x := 1"}, map[string]any{"code": "undefined"},
			map[string]any{"code": "panic(1)"}, map[string]any{"code": "exit := 1"}, map[string]any{"code": "for {}"},
			map[string]any{"code": "2", "silent": true}, map[string]any{"code": "3", "stop_on_error": false}, map[string]any{"code": 5},
			map[string]any{"code": "4", "user_expressions": map[string]string{"a": "5"}}, map[string]any{"code": "x?"},
		}},
		{wire.Shell, "complete_request", []any{map[string]any{"code": "pan", "cursor_pos": 2}, map[string]any{"code": "x."}}},
		{wire.Shell, "inspect_request", []any{map[string]any{"code": "len", "cursor_pos": 1}}},
		{wire.Shell, "is_complete_request", []any{map[string]any{"code": "f("}}},
		{wire.Shell, "history_request", []any{map[string]any{"hist_access_type": "tail", "n": 3}}},
		{wire.Shell, "kernel_info_request", []any{map[string]any{}}},
		{wire.Control, "kernel_info_request", []any{map[string]any{}}},
		{wire.Control, "interrupt_request", []any{map[string]any{}}},
	}
	var sent sync.Map // id to type
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(sender)))
			for range each {
				k := kinds[r.IntN(len(kinds))]
				m, err := wire.New("client", k.kind, nil, k.contents[r.IntN(len(k.contents))])
				if err != nil {
					t.Error(err)
					return
				}
				sent.Store(m.Header.MsgID, k.kind)
				s.Handle(k.ch, m)
				time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
			}
		})
	}
	all.Wait()
	// Cells that loop wait for interrupts, of which there may have been too few.
	stop := time.NewTicker(20 * time.Millisecond)
	defer stop.Stop()
	deadline := time.After(time.Minute)
	for waiting := each * senders; waiting > 0; {
		select {
		case <-h.idle:
			waiting--
		case <-stop.C:
			s.Interrupt()
		case <-deadline:
			t.Fatalf("%d requests have no idle", waiting)
		}
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.problems {
		t.Error(p)
	}
	sent.Range(func(id, kind any) bool {
		out := h.outputs[id.(string)]
		if len(out) < 2 || out[0] != "busy" || out[len(out)-1] != "idle" {
			t.Errorf("%s got %v", kind, out)
		}
		replies := h.replies[id.(string)]
		if want := strings.TrimSuffix(kind.(string), "request") + "reply"; len(replies) != 1 || replies[0].Header.MsgType != want {
			t.Errorf("%s got the replies %v", kind, replies)
		}
		return true
	})
}

// openNotebook is a notebook whose worker is this program.
func openNotebook(t testing.TB) *Notebook {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	nb, err := Open(Options{NewScope: func() (*cell.Scope, error) { return newScope(), nil }, Command: []string{self, "worker"}})
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func TestSessionEndsWithAnUnendingCell(t *testing.T) {
	nb := openNotebook(t)
	h := &heard{outputs: map[string][]string{}, replies: map[string][]wire.Message{}, idle: make(chan string, 10)}
	s := New(nb, Config{Send: h.send})
	ran := make(chan error)
	go func() { ran <- s.Run(context.Background()) }()
	loop, _ := wire.New("client", "execute_request", nil, map[string]any{"code": "for {}"})
	s.Handle(wire.Shell, loop)
	stop, _ := wire.New("client", "shutdown_request", nil, wire.Shutdown{})
	s.Handle(wire.Control, stop)
	select {
	case err := <-ran:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the session goes on")
	}
	if _, err := nb.Execute(context.Background(), Request{Source: "1"}, func(Output) {}); err != ErrClosed {
		t.Errorf("after the end: %v, want ErrClosed", err)
	}
}

// Who hears that a cell is busy may interrupt it, at once.
func TestAnInterruptRightAfterBusy(t *testing.T) {
	nb := openNotebook(t)
	h := &heard{outputs: map[string][]string{}, replies: map[string][]wire.Message{}, idle: make(chan string, 10)}
	loop, _ := wire.New("client", "execute_request", nil, map[string]any{"code": "for {}"})
	var s *Session
	var once sync.Once
	s = New(nb, Config{Send: func(ch wire.Channel, m wire.Message) {
		h.send(ch, m)
		var status wire.Status
		if m.Header.MsgType == "status" && m.Decode(&status) == nil && status.ExecutionState == "busy" {
			once.Do(s.Interrupt)
		}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- s.Run(ctx) }()
	s.Handle(wire.Shell, loop)
	select {
	case <-h.idle:
	case <-time.After(30 * time.Second):
		t.Error("the interrupt is lost")
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if out := strings.Join(h.outputs[loop.Header.MsgID], "|"); !strings.Contains(out, "Interrupted") {
		t.Errorf("got %s", out)
	}
}
