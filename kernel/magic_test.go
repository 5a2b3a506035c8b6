package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// prints expects a cell that prints this to stdout, and shows nothing.
func prints(t *testing.T, k *kerneltest.Kernel, count int, code, want string) {
	t.Helper()
	r := k.Execute(code)
	r.Busy()
	r.Input(count)
	if out, err, _ := r.Streams(); out != want || err != "" {
		t.Errorf("%s prints %q and %q to stderr, want %q", code, out, err, want)
	}
	r.ReplyOK(count)
	r.Idle()
}

// fails expects a cell that does nothing but fail.
func fails(t *testing.T, k *kerneltest.Kernel, count int, code, ename string, want ...string) {
	t.Helper()
	r := k.Execute(code)
	r.Busy()
	r.Input(count)
	f := r.Error()
	for _, w := range want {
		if !strings.Contains(f.Text(), w) {
			t.Errorf("no %q in the traceback:\n%s", w, f.Text())
		}
	}
	if f.EName != ename {
		t.Errorf("%s fails with %s, want %s", code, f.EName, ename)
	}
	r.ReplyError(count)
	r.Idle()
}

// inDir makes a new directory the cells' own, with cell 1.
func inDir(t *testing.T, k *kerneltest.Kernel) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	prints(t, k, 1, "%cd "+dir, dir+"\n")
	return dir
}

func TestShell(t *testing.T) {
	k := start(t)
	prints(t, k, 1, "!echo a; echo b", "a\nb\n")
	r := k.Execute("fmt.Println(\"before\")\n!echo shell\nfmt.Println(\"after\")\nnb.HTML(\"x\")\n!echo done\n")
	r.Busy()
	r.Input(2)
	var out string
	for !strings.Contains(out, "after") {
		text, _, _ := r.Streams()
		out += text
	}
	if out != "before\nshell\nafter\n" {
		t.Errorf("the order is %q", out)
	}
	r.Display()
	r.Stream("stdout", "done\n")
	r.ReplyOK(2)
	r.Idle()
	prints(t, k, 3, "%%bash\nfor i in 1 2; do\n  echo $i\ndone", "1\n2\n")
	prints(t, k, 4, "%%script sed 's/a b/c/'\na b\n", "c\n")
	r = k.Execute("!echo wrong >&2; exit 3")
	r.Busy()
	r.Input(5)
	r.Stream("stderr", "wrong\n")
	if f := r.Error(); f.EName != "ShellError" || !strings.Contains(f.EValue, "exit status 3") || !strings.Contains(f.Text(), "Cell In[5], line 1") {
		t.Errorf("%s", f.Text())
	}
	r.ReplyError(5)
	r.Idle()
	fails(t, k, 6, "!kill -9 $$\nx := 1", "ShellError", "ended by a signal: killed")
	fails(t, k, 7, "x", "CompileError", "undefined: x")
}

func TestInterruptOfAShellCommandLeavesNothing(t *testing.T) {
	k := start(t)
	dir := inDir(t, k)
	for i, code := range []string{
		"!echo on; sleep 100",
		"%%bash\necho on\n(trap '' INT; while :; do sleep 100; done)",
		"!echo on; trap '' INT; sleep 100 & sleep 101",
	} {
		r := k.Execute(code)
		r.Busy()
		r.Input(i + 2)
		r.Stream("stdout", "on\n")
		began := time.Now()
		k.Interrupt()
		if f := r.Error(); f.EName != "Interrupted" {
			t.Errorf("%s: %+v", code, f)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s: stopped after %v", code, took)
		}
		r.ReplyError(i + 2)
		r.Idle()
	}
	deadline := time.Now().Add(5 * time.Second)
	for left := sleepers(dir); len(left) > 0; left = sleepers(dir) {
		if time.Now().After(deadline) {
			t.Fatalf("there are still %q", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// sleepers lists the commands of processes called sleep in a directory.
func sleepers(dir string) (list []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, name := range names {
		if at, err := os.Readlink(name); err != nil || at != dir {
			continue
		}
		if text, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline")); strings.HasPrefix(string(text), "sleep") {
			list = append(list, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return list
}

func TestDirectoryEnvironmentAndFiles(t *testing.T) {
	k := start(t)
	dir := inDir(t, k)
	prints(t, k, 2, "%pwd", dir+"\n")
	prints(t, k, 3, "fmt.Println(must(os.Getwd()))", dir+"\n")
	prints(t, k, 4, "%%writefile \"$PWD/a b.txt\"\nline 1\n%who\n", "Wrote "+dir+"/a b.txt (12 bytes)\n")
	prints(t, k, 5, "%%writefile -a a b.txt\nline 3", "Added to a b.txt (7 bytes)\n")
	prints(t, k, 6, `fmt.Print(string(must(os.ReadFile("a b.txt"))))`, "line 1\n%who\nline 3\n")
	prints(t, k, 7, "%env WHO=me too", "WHO=me too\n")
	prints(t, k, 8, "!echo $WHO; pwd", "me too\n"+dir+"\n")
	prints(t, k, 9, `fmt.Println(os.Getenv("WHO"))`, "me too\n")
	prints(t, k, 10, "%env WHO", "me too\n")
	fails(t, k, 11, "%env NOBODY_SET_THIS", "MagicError", "not in the environment", "Cell In[11], line 1")
	fails(t, k, 12, "%cd nowhere", "MagicError", "no such file")
	fails(t, k, 13, "%%writefile nowhere/a\nx", "MagicError", "no such file")

	r := k.Execute("%load a b.txt")
	r.Busy()
	r.Input(14)
	var reply struct {
		Payload []struct {
			Source, Text string
			Replace      bool
		}
	}
	r.Reply(&reply)
	if len(reply.Payload) != 1 || reply.Payload[0].Source != "set_next_input" || reply.Payload[0].Text != "line 1\n%who\nline 3\n" || !reply.Payload[0].Replace {
		t.Errorf("%+v", reply)
	}
	r.Idle()

	// A new worker is where the old one was.
	r = k.Execute("syscall.Kill(os.Getpid(), syscall.SIGKILL)")
	r.Busy()
	r.Input(15)
	r.Error()
	r.ReplyError(15)
	r.Idle()
	prints(t, k, 16, "!pwd; echo $WHO", dir+"\nme too\n")
}

func TestNames(t *testing.T) {
	k := start(t)
	prints(t, k, 1, "%who", "No names are declared yet.\n")
	run(k, 2, "import str \"strings\"\ntype pt struct{ x int }\nfunc f(p pt) {}")
	run(k, 3, "v := 1.5\n_ = str.ToUpper(\"\")")
	prints(t, k, 4, "%who", "f    func     func(p pt)     In[2]\npt   type     struct{x int}  In[2]\nstr  package  \"strings\"\nv    var      float64  In[3]\n")
	r := k.Execute("%reset -f\nw := 1\nw")
	r.Busy()
	r.Input(5)
	if out, _, _ := r.Streams(); !strings.Contains(out, "All names are forgotten") {
		t.Errorf("%q", out)
	}
	r.Result("1")
	r.ReplyOK(5)
	r.Idle()
	fails(t, k, 6, "v", "CompileError", "undefined: v")
	prints(t, k, 7, "%who", "w  var  int  In[5]\n")
	r = k.Execute("%help")
	r.Busy()
	r.Input(8)
	out, _, _ := r.Streams()
	for _, want := range []string{"%time [STATEMENT]", "%%bash", "!COMMAND", "%cd [DIR]"} {
		if !strings.Contains(out, want) {
			t.Errorf("%%help does not list %s", want)
		}
	}
	r.ReplyOK(8)
	r.Idle()
}

func TestMagicsThatFail(t *testing.T) {
	k := start(t)
	fails(t, k, 1, "x := 1\n%tiem x", "CompileError", "unknown magic %tiem", "did you mean %time?", "Cell In[1], line 2", "%help")
	fails(t, k, 2, "x", "CompileError", "undefined: x")
	fails(t, k, 3, "%get fmt", "MagicError", "standard library")
	fails(t, k, 4, "!touch never\ny := undefined", "CompileError", "Cell In[4], line 2")
	if _, err := os.Stat("never"); err == nil {
		t.Error("a magic ran in a cell that does not compile")
		os.Remove("never")
	}
	fails(t, k, 5, "x := 1\n!true\nvar s []int\ns[x]", "Panic", "Cell In[5], line 4", "s[x]")
	fails(t, k, 6, "x := 1\nvar s []int\ns[x]++\n!true\nx", "Panic", "Cell In[6], line 3", "s[x]")
	fails(t, k, 7, "%timeit", "MagicError", "usage")
	run(k, 8, "type T struct{ a int }\nv := T{1}\n!true\nx = 2")
	run(k, 9, "type T struct{ b int }")
	fails(t, k, 10, "v", "CompileError", "In[8]")
	r := k.Execute("%goflags -race\n!*go mod tidy\nz := 1\nz")
	r.Busy()
	r.Input(11)
	if _, err, _ := r.Streams(); !strings.Contains(err, "%goflags is ignored") || !strings.Contains(err, "!*go mod tidy is ignored") {
		t.Errorf("%q", err)
	}
	r.Result("1")
	r.ReplyOK(11)
	r.Idle()
}

func TestTimes(t *testing.T) {
	k := start(t)
	for i, test := range []struct{ code, out, result string }{
		{"%time 1 + 1", `^Wall time: \S+\n$`, "2"},
		{"%time time.Sleep(20 * time.Millisecond)", `^Wall time: ([2-9]\d|\d{3,})(\.\d+)?ms\n$`, ""},
		{"%%time\na := 1\na", `^Wall time: \S+\n$`, "1"},
		{"%time a++\nfmt.Println(a)", `^Wall time: \S+\n2\n$`, ""},
		{"%timeit -n 10 -r 3 a + 1", `^\S+ [nµm]s ± \S+ [nµm]s per loop \(mean ± std\. dev\. of 3 runs, 10 loops each; best \S+ [nµm]s\)\n$`, ""},
		{"%timeit -r1 time.Sleep(10 * time.Millisecond)", `^[1-9]\d\.?\d* ms ± 0 ns per loop \(mean ± std\. dev\. of 1 runs, \d+ loops each`, ""},
		{"%%timeit -n 2 -r 1\nb := a\nb * b", `2 loops each`, ""},
	} {
		r := k.Execute(test.code)
		r.Busy()
		r.Input(i + 1)
		if test.result != "" {
			r.Result(test.result)
		}
		if out, _, _ := r.Streams(); !regexp.MustCompile(test.out).MatchString(out) {
			t.Errorf("%s: %q", test.code, out)
		}
		r.ReplyOK(i + 1)
		r.Idle()
	}
	fails(t, k, 8, "%timeit []int{}[a]", "Panic", "index out of range", "Cell In[8], line 1")
	fails(t, k, 9, "%timeit wrong", "CompileError", "Cell In[9], line 1", "undefined: wrong")
	fails(t, k, 10, "b", "CompileError", "undefined: b")
	r := begin(k, 11, "%timeit for {}")
	began := time.Now()
	k.Interrupt()
	if f := r.Error(); f.EName != "Interrupted" || time.Since(began) > time.Second {
		t.Errorf("after %v: %+v", time.Since(began), f)
	}
	r.ReplyError(11)
	r.Idle()
}

func TestABodyOfMainHasItsOwnScope(t *testing.T) {
	k := start(t)
	prints(t, k, 1, "import \"strconv\"\n\nfunc half(x int) int { return x / 2 }\n\n%%\nx := 8\ndefer fmt.Println(\"bye\")\nfmt.Println(strconv.Itoa(half(x)))", "4\nbye\n")
	fails(t, k, 2, "x", "CompileError", "undefined: x")
	prints(t, k, 3, "fmt.Println(half(4))", "2\n")
	run(k, 4, "var size = flag.Int(\"size\", 1, \"\")\nvar other = flag.Bool(\"other\", false, \"\")")
	run(k, 5, "size = flag.Int(\"size\", 1, \"\")") // not defined twice
	prints(t, k, 6, "%% -size=3 -other rest\nfmt.Println(*size, *other, flag.Args())", "3 true [rest]\n")
	prints(t, k, 7, "%args a \"b c\"\nfmt.Println(len(os.Args), os.Args[1:])", "3 [a b c]\n")
	r := k.Execute("%% -none=3\nfmt.Println(1)")
	r.Busy()
	r.Input(8)
	r.Streams() // how to use the flags
	if f := r.Error(); f.EName != "Panic" || !strings.Contains(f.EValue, "-none") {
		t.Errorf("%+v", f)
	}
	r.ReplyError(8)
	r.Idle()
	prints(t, k, 9, "%%\nfmt.Println(*size)\n", "3\n")
	prints(t, k, 10, "//gonb:!echo as a comment\nfunc main() { fmt.Println(\"main\") }", "as a comment\nmain\n")
}

func TestMagicsOfARunner(t *testing.T) {
	r := newRunner(t)
	for _, test := range []struct{ source, want string }{
		{"!echo a", `stdout "a\n"`},
		{"%%\nx := 1\nfmt.Println(x)", `stdout "1\n"`},
		{"%cd " + t.TempDir() + "\n%%writefile f\nhello", ""},
		{"%load f", `stdout "hello\n"`},
		{"!exit 2", "error ShellError"},
		{"%quack", "error CompileError"},
	} {
		res, got := execute(t, r, context.Background(), test.source)
		if test.want != "" && got != test.want {
			t.Errorf("%s: %s, want %s", test.source, got, test.want)
		}
		if failed := strings.HasPrefix(test.want, "error"); failed != (res.Status == kernel.Failed) {
			t.Errorf("%s: %+v", test.source, res)
		}
	}
}
