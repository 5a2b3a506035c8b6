package kernel_test

import (
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// TestEveryErrorIsWhole (B17): VS Code shows an error of its own where an error
// lacks its name, its value or its traceback. Error and ReplyError look at
// them; here are all the ways to fail, with the least to say.
func TestEveryErrorIsWhole(t *testing.T) {
	k := start(t)
	n := 0
	for _, test := range []struct{ name, code string }{
		{"a syntax error", "x := )"},
		{"a cell that is not complete", "func f() {"},
		{"a type error", `1 + "x"`},
		{"a broken import", `import "nothing/there"`},
		{"a package that needs what is not here", `import "plugin"`},
		{"a panic with nothing to say", `panic("")`},
		{"a panic with an error that says nothing", `panic(errors.New(""))`},
		{"a panic with nil", "panic(nil)"},
		{"a panic with a value", "panic([]int(nil))"},
		{"a panic with a type of the cell", "type quiet struct{}\nfunc (quiet) Error() string { return \"\" }\npanic(quiet{})"},
		{"a panic in a goroutine", "go func() { panic(\"\") }()\nselect {}"},
		{"a nil dereference", "var p *struct{ x int }\np.x = 1"},
		{"an index out of range", "var s []int\ns[0] = 1"},
		{"a failed conversion", "var v any\n_ = v.(int)"},
		{"a division by zero", "z := 0\nz = 1 / z"},
		{"an error that says nothing, the last value", `errors.New("")`},
		{"must", `must0(errors.New(""))`},
		{"os.Exit", "os.Exit(3)"},
		{"runtime.Goexit", "runtime.Goexit()"},
		{"input that nobody gives", "var s string\nfmt.Scan(&s)"},
		{"an unknown magic", "%quack"},
		{"a magic that fails", "%cd /nowhere"},
		{"a shell line that fails", "!exit 3"},
		{"a shell line that a signal ends", "!kill -9 $$"},
		{"a test that fails", "func TestX(t *testing.T) { t.Fail() }\n%test"},
		{"a worker that is killed", "p, _ := os.FindProcess(os.Getpid())\np.Kill()\nselect {}"},
		{"an endless recursion", "func endless(n int) int { return endless(n+1) + 1 }\nendless(0)"},
	} {
		n++
		t.Run(test.name, func(t *testing.T) {
			r := k.Execute(test.code)
			var f kerneltest.Failure
			for _, m := range r.UntilIdle() {
				if m.Header.MsgType == "error" {
					f = m.Failure(t)
				}
			}
			reply := r.ReplyError(n)
			if f.EName != reply.EName || f.EValue != reply.EValue || strings.Join(f.Traceback, "\n") != strings.Join(reply.Traceback, "\n") {
				t.Errorf("the error is %+v, the reply has %+v", f, reply.Failure)
			}
		})
	}
	r := begin(k, n+1, "<-ctx.Done()")
	k.Interrupt()
	r.Error()
	r.ReplyError(n + 1)
	r.Idle()
}

// An expression that fails leaves the others and the cell as they are.
func TestUserExpressions(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 20")
	r := k.ExecuteWith(map[string]any{"code": "x++", "user_expressions": map[string]string{
		"value": "x * 2", "several": "x, 1", "rich": "image.NewGray(image.Rect(0, 0, 1, 1))", "nothing": "", "nil": "error(nil)",
		"type error": "x + \"\"", "panic": "[]int{}[x]", "error": `errors.New("mine")`, "syntax": "x +", "input": "must(nb.Input(\"\"))",
		"printed": "fmt.Print(\"unseen\")",
	}})
	r.Busy()
	r.Input(2)
	reply := r.ReplyOK(2)
	r.Idle() // and nothing shown of any of them
	for name, want := range map[string]string{"value": "42", "rich": "*image.Gray (0,0)-(1,1)"} {
		e := reply.UserExpressions[name]
		data, _ := e["data"].(map[string]any)
		if e["status"] != "ok" || data["text/plain"] != want || e["metadata"] == nil {
			t.Errorf("%s: %v", name, e)
		}
	}
	for _, name := range []string{"nothing", "nil", "printed"} {
		if e := reply.UserExpressions[name]; e["status"] != "ok" || e["data"] == nil {
			t.Errorf("%s: %v", name, e)
		}
	}
	for _, name := range []string{"several", "type error", "panic", "error", "syntax", "input"} {
		e := reply.UserExpressions[name]
		traceback, _ := e["traceback"].([]any)
		if e["status"] != "error" || e["ename"] == "" || e["evalue"] == "" || len(traceback) == 0 {
			t.Errorf("%s: %v", name, e)
		}
	}
	// Of a cell that fails none is evaluated.
	r = k.ExecuteWith(map[string]any{"code": "nope", "user_expressions": map[string]string{"a": "x"}})
	r.Busy()
	r.Input(3)
	r.Error()
	if reply := r.ReplyError(3); len(reply.UserExpressions) > 0 {
		t.Errorf("%v", reply.UserExpressions)
	}
	r.Idle()
	r = k.Execute("x")
	r.Busy()
	r.Input(4)
	r.Result("21")
	r.ReplyOK(4)
	r.Idle()
}
