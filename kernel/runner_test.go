package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel"
)

func newRunner(t *testing.T) *kernel.Runner {
	t.Helper()
	r, err := kernel.NewRunner(kernel.RunnerOptions{Engine: engineName()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// execute runs a cell and writes its outputs as lines.
func execute(t *testing.T, r *kernel.Runner, ctx context.Context, source string) (kernel.Result, string) {
	t.Helper()
	var out []string
	res, err := r.Execute(ctx, source, func(o kernel.Output) {
		switch o.Type {
		case kernel.Stream:
			out = append(out, fmt.Sprintf("%s %q", o.Name, o.Text))
		case kernel.Error:
			out = append(out, fmt.Sprintf("error %s", o.EName))
		default:
			out = append(out, fmt.Sprintf("%s %v %s", o.Type, o.Data["text/plain"], o.DisplayID))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return res, strings.Join(out, "|")
}

func TestRunner(t *testing.T) {
	r := newRunner(t)
	for i, test := range []struct {
		source string
		status kernel.Status
		want   string
	}{
		{"x := 1\nfmt.Println(x)\nnb.DisplayID(\"d\", 2)\nnb.Update(\"d\", 3)\nx + 1", kernel.OK, `stdout "1\n"|display_data 2 d|update_display_data 3 d|execute_result 2 `},
		{"y := x +", kernel.Failed, "error CompileError"},
		{"panic(1)", kernel.Failed, "error Panic"},
		{"x", kernel.OK, "execute_result 1 "},
		{"package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"a program\") }", kernel.OK, `stdout "a program\n"`},
	} {
		res, got := execute(t, r, context.Background(), test.source)
		if res.Status != test.status || got != test.want || res.Count != i+1 {
			t.Errorf("%s: %s %d, %s; want %s, %s", test.source, res.Status, res.Count, got, test.status, test.want)
		}
	}
}

func TestRunnerIsInterruptedByItsContext(t *testing.T) {
	r := newRunner(t)
	execute(t, r, context.Background(), "x := 5")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	res, _ := execute(t, r, ctx, "for {}")
	if res.Status != kernel.Failed || res.EName != "Interrupted" || res.Lost {
		t.Errorf("%+v", res)
	}
	if _, got := execute(t, r, context.Background(), "x"); got != "execute_result 5 " {
		t.Errorf("afterwards x is %s", got)
	}
}

func TestRunnerEmitsNothingAfterItReturned(t *testing.T) {
	r := newRunner(t)
	var returned atomic.Bool
	_, err := r.Execute(context.Background(), `go func() { for { fmt.Println("late"); time.Sleep(time.Millisecond) } }()`, func(kernel.Output) {
		if returned.Load() {
			t.Error("an output after the cell's end")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	returned.Store(true)
	time.Sleep(100 * time.Millisecond) // time for a hundred of them
}

func TestRunnerWithoutAWorker(t *testing.T) {
	if _, err := kernel.NewRunner(kernel.RunnerOptions{Command: []string{"/nonexistent"}}); err == nil {
		t.Error("no error")
	}
	r, err := kernel.NewRunner(kernel.RunnerOptions{Command: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if res, err := r.Execute(ctx, "1", func(kernel.Output) {}); err == nil && res.Status == kernel.OK {
		t.Errorf("a cell ran without a worker: %+v", res)
	}
}
