package kernel_test

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/branchbook/branchbook/kernel/internal/modules/modulestest"
	"github.com/branchbook/branchbook/kernel/kerneltest"
)

const archive = `
-- example.org/greet@v1.0.0/go.mod --
module example.org/greet

go 1.22
-- example.org/greet@v1.0.0/greet.go --
// Package greet greets.
package greet

// Greeting is to somebody.
type Greeting struct{ To string }

func (g Greeting) String() string { return "hello, " + g.To }

func To(s string) Greeting { return Greeting{s} }

func Forever() {
	for {
	}
}

func Fail(xs []int) int { return xs[3] }
-- example.org/greet@v1.1.0/go.mod --
module example.org/greet

go 1.22
-- example.org/greet@v1.1.0/greet.go --
package greet

func To(s string) string { return "hi, " + s }
`

// A module is fetched, imported, completed and asked about, interrupted in, and
// still there after a reset and in the worker that follows one that died.
func TestGet(t *testing.T) {
	modulestest.Proxy(t, txtar.Parse([]byte(archive)))
	k := start(t)
	prints(t, k, 1, "%get", "No modules yet. %get github.com/samber/lo fetches one.\n")
	fails(t, k, 2, `import "example.org/greet"`, "CompileError", "could not import example.org/greet", "%get example.org/greet fetches it")
	prints(t, k, 3, "%get example.org/greet@v1.0.0", "downloading example.org/greet v1.0.0\nexample.org/greet v1.0.0\n")
	results(k, 4, "import \"example.org/greet\"\ngreet.To(\"you\")", "hello, you")
	results(k, 5, "g := greet.Greeting{\"all\"}\ng", "hello, all")
	var complete completeReply
	ask(k, "shell", "complete_request", map[string]any{"code": "greet.Gr", "cursor_pos": 8}, &complete)
	if m := complete.Matches; len(m) != 1 || m[0] != "Greeting" {
		t.Errorf("greet.Gr completes to %v", m)
	}
	fails(t, k, 6, "greet.Tow(1)", "CompileError", "undefined: greet.Tow", "did you mean greet.To?")
	fails(t, k, 7, "greet.Fail(nil)", "Panic", "index out of range [3]", "example.org/greet/greet.go, line 16, in Fail", "Cell In[7], line 1")

	r := k.Execute("fmt.Println(\"runs\")\ngreet.Forever()")
	r.Busy()
	r.Input(8)
	r.Stream("stdout", "runs\n")
	k.Interrupt()
	if f := r.Error(); f.EName != "Interrupted" {
		t.Errorf("an interrupt gives %s", f.EName)
	}
	r.ReplyError(8)
	r.Idle()
	results(k, 9, "g", "hello, all")

	fails(t, k, 10, "%get example.org/nowhere", "MagicError", "example.org/nowhere")
	fails(t, k, 11, "import \"syscall\"\nsyscall.Kill(syscall.Getpid(), syscall.SIGKILL)", "WorkerDied")
	results(k, 12, "import \"example.org/greet\"\ngreet.To(\"us\")", "hello, us")
	prints(t, k, 13, "%reset", "All names are forgotten, and a new process runs the cells from here on.\nThe working directory, the modules of %get and what %env, %args and %limit set are kept.\n")
	results(k, 14, "import \"example.org/greet\"\ngreet.To(\"them\")", "hello, them")
	prints(t, k, 15, "%get example.org/greet", "downloading example.org/greet v1.1.0\nexample.org/greet v1.1.0\n  example.org/greet was v1.0.0: what cells made with that keeps its types\n")
	results(k, 16, "greet.To(\"you\")", "hi, you")
	prints(t, k, 17, "%get", "example.org/greet v1.1.0\n")
}

// results expects a cell that shows a value, whose text this is.
func results(k *kerneltest.Kernel, count int, code, want string) {
	r := k.Execute(code)
	r.Busy()
	r.Input(count)
	r.Result(want)
	r.ReplyOK(count)
	r.Idle()
}
