package kernel_test

import (
	"context"
	"fmt"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/notebook"
)

func TestSeed(t *testing.T) {
	k := start(t)
	r, old := randv2.New(randv2.NewPCG(42, 0)), rand.New(rand.NewSource(42))
	const code = "%seed 42\nfmt.Println(rand.IntN(1000), rand.Perm(3), oldrand.Intn(1000))"
	want := fmt.Sprintln(r.IntN(1000), r.Perm(3), old.Intn(1000))
	prints(t, k, 1, "import oldrand \"math/rand\"\n"+code, want)
	prints(t, k, 2, code, want)
	fails(t, k, 3, "%seed -1", "MagicError", "no seed")
	fails(t, k, 4, "%seed", "MagicError", "no seed")
	fails(t, k, 5, "syscall.Kill(os.Getpid(), syscall.SIGKILL)", "WorkerDied")
	prints(t, k, 6, "import oldrand \"math/rand\"\nfmt.Println(rand.IntN(1000), rand.Perm(3), oldrand.Intn(1000))", want) // seeded as it was
}

func TestSave(t *testing.T) {
	k := start(t)
	dir := inDir(t, k)
	run(k, 2, "x := 20")
	prints(t, k, 3, "func double(n int) int { return 2 * n }\n!echo in the shell", "in the shell\n")
	fails(t, k, 4, "y := undefined", "CompileError")
	prints(t, k, 5, "fmt.Println(double(x) + 2)", "42\n")
	prints(t, k, 6, "fmt.Println(double(x) + 2)", "42\n")
	r := k.Execute("%save a.go\n%save a.ipynb")
	r.Busy()
	r.Input(7)
	if out, _, _ := r.Streams(); strings.Count(out, "Wrote a.") != 2 {
		t.Errorf("%q", out)
	}
	r.ReplyOK(7)
	r.Idle()
	fails(t, k, 8, "%save a.go", "MagicError", "a.go exists already", "%save -f a.go")
	fails(t, k, 9, "%save a.txt", "MagicError", "FILE.go or FILE.ipynb")
	run(k, 10, "x := 5.5")
	fails(t, k, 11, "%save -f a.go", "MagicError", "do not make one Go file", "no new variables", ".ipynb")

	// What was saved runs, and does what the cells did.
	want := `stdout "in the shell\n"|stdout "42\n"`
	source, err := os.ReadFile(filepath.Join(dir, "a.go"))
	if err != nil {
		t.Fatal(err)
	}
	if res, got := execute(t, newRunner(t), context.Background(), string(source)); res.Status != kernel.OK || !strings.HasSuffix(got, want) {
		t.Errorf("a.go: %s %s, want %s\n%s", res.Status, got, want, source)
	}
	data, err := os.ReadFile(filepath.Join(dir, "a.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Decode(data)
	if err != nil || nb.Language() != "go" || len(nb.Cells) != 4 {
		t.Fatalf("a.ipynb: %v\n%s", err, data)
	}
	runner, all := newRunner(t), ""
	for _, c := range nb.Cells {
		_, got := execute(t, runner, context.Background(), c.Source)
		all = strings.Trim(all+"|"+got, "|")
	}
	if !strings.HasSuffix(all, want) {
		t.Errorf("a.ipynb: %s, want %s", all, want)
	}
}

func TestRemove(t *testing.T) {
	k := start(t)
	run(k, 1, "import str \"strings\"\nfunc f() int { return 1 }\nfunc g() int { return f() }\nx := str.ToUpper(\"a\")")
	prints(t, k, 2, "%rm f x", "Forgot f\nForgot x\n")
	fails(t, k, 3, "x", "CompileError", "undefined: x")
	prints(t, k, 4, "%ls", "g    func     func() int  In[1]\nstr  package  \"strings\"\n")
	prints(t, k, 5, "func f() string { return \"new\" }\nfmt.Println(f(), g())", "new 1\n")
	r := k.Execute("%rm nobody must")
	r.Busy()
	r.Input(6)
	if _, err, _ := r.Streams(); err != "nobody is no name that a cell declared\nmust is no name that a cell declared\n" {
		t.Errorf("%q", err)
	}
	r.ReplyOK(6)
	r.Idle()
	fails(t, k, 7, "%rm", "MagicError", "usage")
	run(k, 8, "func gone() {}")
	run(k, 9, "func kept() {}")
	prints(t, k, 10, "%rm gone", "Forgot gone\n")
	fails(t, k, 11, "syscall.Kill(os.Getpid(), syscall.SIGKILL)", "WorkerDied")
	fails(t, k, 12, "gone()", "CompileError", "undefined: gone")
	run(k, 13, "kept()")
}

func TestCapture(t *testing.T) {
	k := start(t)
	dir := inDir(t, k)
	file := func() string {
		data, err := os.ReadFile(filepath.Join(dir, "out.txt"))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	prints(t, k, 2, "%capture out.txt\n%%\nfmt.Println(\"ping\")", "ping\n")
	if got := file(); got != "ping\n" {
		t.Errorf("%q", got)
	}
	shows(t, k, 3, "%capture -a ${PWD}/out.txt\nnb.Markdown(\"# pong\")", "text/markdown # pong")
	if got := file(); got != "ping\n# pong\n" {
		t.Errorf("%q", got)
	}
	r := k.Execute("%capture out.txt\nfmt.Println(\"before\")\npanic(1)")
	r.Busy()
	r.Input(4)
	r.Stream("stdout", "before\n")
	r.Error()
	r.ReplyError(4)
	r.Idle()
	if got := file(); got != "before\n" {
		t.Errorf("of a cell that fails: %q", got)
	}
	fails(t, k, 5, "%capture", "MagicError", "usage")
	fails(t, k, 6, "%capture nowhere/x\nx := 1", "MagicError", "no such file")
}

func TestFunctionsAreCalledWhenTheCellHasRun(t *testing.T) {
	k := start(t)
	prints(t, k, 1, "//gonb:%exec f -n=3 rest\nvar n = flag.Int(\"n\", 1, \"\")\nfunc f() { fmt.Println(*n, flag.Args()) }", "3 [rest]\n")
	fails(t, k, 2, "%exec", "MagicError", "usage")
	fails(t, k, 3, "\n%exec nobody", "CompileError", "undefined: nobody", "Cell In[3], line 2")
	fails(t, k, 4, "func g() { panic(\"g\") }\n%exec g", "Panic", "Cell In[4], line 1")
}

func TestTests(t *testing.T) {
	k := start(t)
	outputs := func(count int, code string) string {
		t.Helper()
		r := k.Execute(code)
		r.Busy()
		r.Input(count)
		out, _, _ := r.Streams()
		return out
	}
	wants := func(out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("no %q in\n%s", w, out)
			}
		}
	}
	r := k.Execute("%test\nfunc TestSum(t *testing.T) {\n\tt.Run(\"small\", func(t *testing.T) { if 1+1 != 2 { t.Fatal(\"wrong\") } })\n}")
	r.Busy()
	r.Input(1)
	out, _, _ := r.Streams()
	wants(out, "=== RUN   TestSum/small\n", "--- PASS: TestSum (", "\nPASS\n")
	r.ReplyOK(1)
	r.Idle()

	r = k.Execute(`%test
func TestBad(t *testing.T) {
	defer fmt.Println("deferred")
	t.Fatal("stop")
	fmt.Println("never")
}
func TestPanics(t *testing.T) { var m map[string]int; m["a"] = 1 }
func TestSkips(t *testing.T) { t.Skip("not now") }
func helper(t *testing.T) { t.Error("is no test") }`)
	r.Busy()
	r.Input(2)
	out, _, _ = r.Streams()
	wants(out, "--- FAIL: TestBad (", "deferred\n", "stop\n", "--- FAIL: TestPanics (", "panic: assignment to entry in nil map", "--- SKIP: TestSkips (", "\nFAIL\n")
	if strings.Contains(out, "never") || strings.Contains(out, "TestSum") || strings.Contains(out, "is no test") {
		t.Errorf("too much in\n%s", out)
	}
	if f := r.Error(); f.EName != "TestFailure" {
		t.Errorf("%+v", f)
	}
	r.ReplyError(2)
	r.Idle()

	wants(outputs(3, "%test -run=Sum|Skips"), "TestSum", "TestSkips", "\nPASS\n")
	wants(outputs(4, "%test -bench=. -benchtime=10x -run=-\nfunc BenchmarkNothing(b *testing.B) { for b.Loop() {} }"), "BenchmarkNothing", "ns/op", "\nPASS\n")
	wants(outputs(5, "%test\nfunc TestWith(t *testing.T) {}\nfunc BenchmarkWith(b *testing.B) { for range b.N {} }"), "--- PASS: TestWith (", "BenchmarkWith", "ns/op")
	prints(t, k, 6, "var verbose = flag.Bool(\"v\", false, \"\")\nfmt.Println(*verbose)", "false\n") // the notebook's own flags
}

func TestNoTests(t *testing.T) {
	k := start(t)
	fails(t, k, 1, "%test\nx := 1", "MagicError", "no cell declares a test")
	fails(t, k, 2, "%test -nonsense\nfunc TestA(t *testing.T) {}", "TestFailure", "-test.nonsense")
}

func TestMagicsOfOtherKernels(t *testing.T) {
	k := start(t)
	dir := inDir(t, k)
	prints(t, k, 2, ":import \"fmt\"\n$ echo $GONB_DIR $GONB_TMP_DIR\nfmt.Println(1)", dir+" "+dir+"\n1\n")
	prints(t, k, 3, "!if [[ a == a ]]; then echo bash; fi\n!*pwd", "bash\n"+dir+"\n")
	prints(t, k, 4, "%%script tail -n 1\na\nb", "b\n")
	r := k.Execute("%go111module on\n%track a\nx := 1")
	r.Busy()
	r.Input(5)
	if _, err, _ := r.Streams(); strings.Count(err, "is ignored") != 2 {
		t.Errorf("%q", err)
	}
	r.ReplyOK(5)
	r.Idle()
	for i, test := range []struct{ code, want string }{
		{"%wasm\n%%\nfmt.Println(1)", "not to WebAssembly"},
		{"%widgets", "GoNB's script"},
	} {
		fails(t, k, 6+i, test.code, "MagicError", test.want)
	}
}
