package kernel_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// begin starts a cell that prints "on" first, and waits for that.
func begin(k *kerneltest.Kernel, count int, code string) *kerneltest.Request {
	r := k.Execute("fmt.Println(\"on\")\n" + code)
	r.Busy()
	r.Input(count)
	r.Stream("stdout", "on\n")
	return r
}

func TestInterrupt(t *testing.T) {
	ways := map[string]func(k *kerneltest.Kernel){
		"by message": func(k *kerneltest.Kernel) { ask(k, "control", "interrupt_request", struct{}{}, nil) },
		"by SIGINT":  func(k *kerneltest.Kernel) { k.Interrupt() },
	}
	for way, interrupt := range ways {
		t.Run(way, func(t *testing.T) {
			k := start(t)
			run(k, 1, "kept := 42")
			for i, code := range []string{"for {}", "time.Sleep(time.Hour)", "<-make(chan int)", "select {}", "<-ctx.Done()", "for { fmt.Sprint(1) }"} {
				n := 2*i + 2
				r := begin(k, n, code)
				began := time.Now()
				interrupt(k)
				r.Reply(nil)
				if took := time.Since(began); took > time.Second {
					t.Errorf("%s: stopped after %v", code, took)
				}
				r = k.Execute("kept")
				r.Busy()
				r.Input(n + 1)
				r.Result("42")
				r.ReplyOK(n + 1)
				r.Idle()
			}
		})
	}
}

func TestCompiledCodeThatDoesNotReturnIsLeftBehind(t *testing.T) {
	if engineName() == "yaegi" {
		t.Skip("yaegi waits for it")
	}
	k := start(t)
	run(k, 1, "x := 1")
	run(k, 2, `l := must(net.Listen("tcp", "127.0.0.1:0"))`)
	r := begin(k, 3, "l.Accept()")
	k.Interrupt()
	if f := r.Error(); f.EName != "Interrupted" || !strings.Contains(f.EValue, "net.(*TCPListener).Accept") {
		t.Errorf("the user is told:\n%s", f.Text())
	}
	r.ReplyError(3)
	r.Idle()
	r = k.Execute("must0(l.Close())\nx")
	r.Busy()
	r.Input(4)
	r.Result("1")
	r.ReplyOK(4)
	r.Idle()
}

// Who prints when the cell is interrupted, and cannot go on for what is in the
// pipe, prints nothing into the next cell.
func TestAnInterruptedCellPrintsNoMore(t *testing.T) {
	if engineName() == "yaegi" {
		t.Skip("yaegi's goroutines end when they next look")
	}
	k := start(t)
	for _, code := range []string{
		`for { fmt.Println("flood") }`, `for { println("flood") }`, `for { nb.Display("flood") }`,
		`for range 8 { go func() { for { fmt.Println("flood") } }() }; select {}`,
		`for range 8 { go func() { for { nb.Display("flood") } }() }; select {}`,
		`for range 8 { go func() { for { log.Println("flood") } }() }; for { os.Stderr.WriteString("flood\n") }`,
		`w := bufio.NewWriter(os.Stdout); for { fmt.Fprintln(w, "flood"); w.Flush() }`,
	} {
		r := k.Execute(code)
		r.Busy()
		time.Sleep(200 * time.Millisecond)
		k.Interrupt()
		r.UntilIdle()
		var reply kerneltest.ExecuteReply
		if r.Reply(&reply); reply.EName != "Interrupted" {
			t.Errorf("%s: %+v", code, reply)
		}
		if lines, _ := shown(t, k, "time.Sleep(50 * time.Millisecond)\n\"next\"", false); strings.Join(lines, "|") != "= next" {
			t.Errorf("%s: the next cell shows %.200q", code, lines)
		}
	}
}

func TestCompiledCodeThatDoesNotReturnIsEnded(t *testing.T) {
	if engineName() != "yaegi" {
		t.Skip("it is left behind")
	}
	k := start(t)
	run(k, 1, "x := 1")
	run(k, 2, `l := must(net.Listen("tcp", "127.0.0.1:0"))`)
	r := begin(k, 3, "l.Accept()")
	began := time.Now()
	k.Interrupt()
	f := r.Error()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("ended after %v", took)
	}
	if f.EName != "WorkerDied" || !strings.Contains(f.EValue, "did not stop") || !strings.Contains(f.Text(), "l and x are gone") {
		t.Errorf("the user is told:\n%s", f.Text())
	}
	r.ReplyError(3)
	r.Idle()
	run(k, 4, "x := 2")
}

func TestAnInterruptIsAnError(t *testing.T) {
	k := start(t)
	r := begin(k, 1, "for {}")
	k.Interrupt()
	if f := r.Error(); f.EName != "Interrupted" {
		t.Errorf("%+v", f)
	}
	r.ReplyError(1)
	r.Idle()
}

func TestExecuteRightAfterInterrupt(t *testing.T) {
	k := start(t)
	r := begin(k, 1, "for {}")
	began := time.Now()
	k.Send("control", "interrupt_request", struct{}{})
	next := k.Execute("1 + 1")
	r.Reply(nil)
	next.Busy()
	next.Input(2)
	next.Result("2")
	next.ReplyOK(2)
	next.Idle()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestAnInterruptAbortsWhatWasQueuedBefore(t *testing.T) {
	k := start(t)
	r := begin(k, 1, "for {}")
	queued := k.Execute("1 + 1")
	time.Sleep(100 * time.Millisecond) // longer than an interrupt may overtake by
	k.Interrupt()
	r.Reply(nil)
	queued.Busy()
	queued.ReplyAborted()
	queued.Idle()
}

func TestAnInterruptBetweenCellsDoesNothing(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1")
	ask(k, "control", "interrupt_request", struct{}{}, nil)
	run(k, 2, "x = 2")
	k.Interrupt()
	cell(k, "x") // which a signal may interrupt: it comes when it comes
	run(k, 4, "x = 3")
}

func TestAnErrorAbortsWhatIsQueued(t *testing.T) {
	for name, stop := range map[string]bool{"with stop_on_error": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			k := start(t)
			first := k.ExecuteWith(map[string]any{"code": `panic("first")`, "stop_on_error": stop})
			second, third := k.Execute("1 + 1"), k.Execute("2 + 2")
			first.Busy()
			first.Input(1)
			first.Error()
			first.ReplyError(1)
			first.Idle()
			// B8: what is sent after the reply runs.
			fourth := k.Execute("3 + 3")
			count := 1
			for _, r := range []*kerneltest.Request{second, third} {
				r.Busy()
				if stop {
					r.ReplyAborted()
				} else {
					count++
					r.Input(count)
					r.Result([]string{"2", "4"}[count-2])
					r.ReplyOK(count)
				}
				r.Idle()
			}
			fourth.Busy()
			fourth.Input(count + 1)
			fourth.Result("6")
			fourth.ReplyOK(count + 1)
			fourth.Idle()
		})
	}
}

func TestTheWorkerDiesDuringACell(t *testing.T) {
	for _, test := range []struct{ name, code, says string }{
		{"killed", "p, _ := os.FindProcess(os.Getpid())\np.Kill()\nselect {}", "killed"},
		{"an endless recursion", "func f(n int) int { return f(n+1) + 1 }\nf(0)", "stack overflow"},
		{"os.Exit", "os.Exit(3)", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := start(t)
			run(k, 1, "x := 1")
			r := k.Execute(test.code)
			reply := r.ReplyError(2)
			if !strings.Contains(reply.EValue, test.says) {
				t.Errorf("%+v", reply.Failure)
			}
			r = k.Execute("40 + 2")
			r.Busy()
			r.Input(3)
			r.Result("42")
			r.ReplyOK(3)
			r.Idle()
		})
	}
}

// What the user is told of an end that no Go code makes: why, what is lost, and
// what is not. abort() in C is SIGABRT, which the runtime does not handle either.
func TestADeathSaysWhatIsLost(t *testing.T) {
	for _, test := range []struct {
		name, code string
		says       []string
	}{
		{"an abort", `fmt.Fprintln(os.Stderr, "before")
syscall.Kill(os.Getpid(), syscall.SIGABRT)
select {}`, []string{"SIGABRT: abort"}},
		{"a failed assertion in C++, which prints and aborts", `syscall.Write(2, []byte("terminate called after throwing an instance of 'std::bad_alloc'\n"))
syscall.Kill(os.Getpid(), syscall.SIGABRT)
select {}`, []string{"terminate called after throwing an instance of 'std::bad_alloc'"}},
		{"no memory", `var pages int64
fmt.Sscan(string(must(os.ReadFile("/proc/self/statm"))), &pages)
most := uint64(pages)*uint64(os.Getpagesize()) + 256<<20
must0(syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}))
var all [][]byte
for {
	all = append(all, make([]byte, 64<<20))
}`, []string{"out of memory", "hint: the cell asked for more memory than there is"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := start(t)
			run(k, 1, "x := 1\nvar table = map[string]int{}\nfunc f() int { return 3 }")
			r := k.Execute(test.code)
			f := r.ReplyError(2)
			for _, want := range append(test.says, "table and x are gone", "what In[1] declares has been declared again", "the next cell runs") {
				if f.EName != "WorkerDied" || !strings.Contains(f.Text(), want) {
					t.Errorf("no %q in what the user is told, %s:\n%s", want, f.EName, f.Text())
				}
			}
			r = k.Execute("f()")
			r.Busy()
			r.Input(3)
			r.Result("3")
			r.ReplyOK(3)
			r.Idle()
		})
	}
}

func TestTheWorkerIsKilledDuringACell(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1")
	r := begin(k, 2, "select {}")
	children := k.Children()
	if len(children) != 1 {
		t.Fatalf("the kernel has children %v, want its worker", children)
	}
	syscall.Kill(children[0], syscall.SIGKILL)
	f := r.Error()
	if f.EName != "WorkerDied" || !strings.Contains(f.EValue, "killed") || !strings.Contains(f.Text(), "gone") {
		t.Errorf("%+v", f)
	}
	r.ReplyError(2)
	r.Idle()
	r = k.Execute("x") // the front end knows that it is gone
	r.Busy()
	r.Input(3)
	if f := r.Error(); !strings.Contains(f.EValue, "undefined: x") {
		t.Errorf("%+v", f)
	}
	r.ReplyError(3)
	r.Idle()
	run(k, 4, "x := 2")
}

func TestDeclarationsOutliveTheWorker(t *testing.T) {
	k := start(t)
	for i, code := range []string{
		"func double(n int) int { return 2 * n }", "type point struct{ X int }\nconst unit = 3",
		"seen := 0", "func count() int { seen++; return seen }", "func double(n int) int { return n + n + 0 }",
	} {
		run(k, i+1, code)
	}
	r := k.Execute("os.Exit(1)\nselect {}")
	if f := r.ReplyError(6); f.EName == "WorkerDied" && !strings.Contains(f.Text(), "In[1], In[2] and In[5]") {
		t.Errorf("the user is told:\n%s", f.Text())
	}
	r = begin(k, 7, "select {}")
	syscall.Kill(k.Children()[0], syscall.SIGKILL)
	f := r.Error()
	if !strings.Contains(f.Text(), "what In[1], In[2] and In[5] declare has been declared again") {
		t.Errorf("the user is told:\n%s", f.Text())
	}
	r.ReplyError(7)
	r.Idle()
	r = k.Execute("p := point{double(unit)}\np.X")
	r.Busy()
	r.Input(8)
	r.Result("6")
	r.ReplyOK(8)
	r.Idle()
	r = k.Execute("count()") // it needs what is lost
	r.Busy()
	r.Input(9)
	r.Error()
	r.ReplyError(9)
	r.Idle()
}

func TestTheWorkerIsKilledBetweenCells(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1\nfunc f() int { return 3 }")
	worker := k.Children()[0]
	syscall.Kill(worker, syscall.SIGKILL)
	for deadline := time.Now().Add(kerneltest.Patience); alive(worker); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the worker lives on")
		}
	}
	// The next cell says so: as its error, if it meets the dying worker.
	lines, traceback := shown(t, k, "1", false)
	told := strings.Join(lines, "\n") + traceback
	for _, want := range []string{"WorkerDied: the process that runs cells ended: killed", "x is gone.", "what In[1] declares has been declared again"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in what the user is told:\n%s", want, told)
		}
	}
	r := k.Execute("f()")
	r.Busy()
	r.Input(3)
	r.Result("3")
	r.ReplyOK(3)
	r.Idle()
}

func TestSIGINTToTheGroupSparesTheWorker(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1")
	worker := k.Children()[0]
	syscall.Kill(worker, syscall.SIGINT)
	k.Interrupt()
	cell(k, "x") // which the kernel's signal may interrupt: it comes when it comes
	r := k.Execute("x")
	r.Busy()
	r.Input(3)
	r.Result("1")
	r.ReplyOK(3)
	r.Idle()
}

func TestShutdown(t *testing.T) {
	for _, test := range []struct {
		name    string
		restart bool
		cell    string // runs meanwhile
	}{
		{"idle", false, ""}, {"to restart", true, ""}, {"while a cell runs", false, "for {}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := start(t)
			run(k, 1, `import "os/exec"
must0(exec.Command("sleep", "1000").Start())`)
			if test.cell != "" {
				begin(k, 2, test.cell)
			}
			if children := k.Children(); len(children) != 2 {
				t.Fatalf("children %v, want the worker and what it started", children)
			}
			r := k.Send("control", "shutdown_request", map[string]any{"restart": test.restart})
			r.Busy()
			var reply struct {
				Status  string
				Restart bool
			}
			r.Reply(&reply)
			if reply.Status != "ok" || reply.Restart != test.restart {
				t.Errorf("%+v", reply)
			}
			if children := k.Children(); len(children) != 0 {
				t.Errorf("children %v are left", children)
			}
			k.Exited()
		})
	}
}

func TestSIGTERMEndsTheKernel(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1")
	k.Process.Signal(syscall.SIGTERM)
	k.Exited()
}

// leavers start processes that leave in all the ways that a shell knows.
const leavers = `must0(exec.Command("sleep", "1001").Start())
!nohup sleep 1002 >/dev/null 2>&1 &
!setsid sleep 1003 &
!(trap '' TERM HUP INT; setsid sleep 1004 & trap '' TERM; sleep 1005) >/dev/null 2>&1 &
fmt.Println("on")
`

// family waits until the kernel has its worker and the five sleepers.
func family(t *testing.T, k *kerneltest.Kernel, mark string) []int {
	t.Helper()
	for deadline := time.Now().Add(kerneltest.Patience); ; time.Sleep(time.Millisecond) {
		all := k.Children()
		sleepers := marked(mark)
		if len(sleepers) >= 7 { // the worker, five sleepers and a shell
			return append(all, sleepers...)
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are %v and %v", all, sleepers)
		}
	}
}

// marked lists the processes that have an entry in their environment.
func marked(entry string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		data, _ := os.ReadFile(name)
		if strings.Contains("\x00"+string(data), "\x00"+entry+"\x00") {
			var pid int
			fmt.Sscanf(name, "/proc/%d/", &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone expects processes to end within ten seconds.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); slices.ContainsFunc(pids, alive); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			for _, pid := range slices.DeleteFunc(pids, func(pid int) bool { return !alive(pid) }) {
				name, _ := os.ReadFile("/proc/" + sprint(pid) + "/cmdline")
				t.Errorf("%d lives on: %q", pid, name)
			}
			return
		}
	}
}

func TestNoProcessAndNoFileIsLeft(t *testing.T) {
	for _, test := range []struct {
		name string
		cell string // runs meanwhile
		end  func(k *kerneltest.Kernel)
	}{
		{"after a shutdown", "", func(k *kerneltest.Kernel) {
			k.Send("control", "shutdown_request", map[string]any{"restart": false}).Reply(nil)
			k.Exited()
		}},
		{"after SIGTERM", "for {}", func(k *kerneltest.Kernel) { k.Process.Signal(syscall.SIGTERM); k.Exited() }},
		{"of a killed kernel", "", func(k *kerneltest.Kernel) { k.Process.Kill() }},
		{"of a kernel that is killed in a cell", "for {}", func(k *kerneltest.Kernel) { k.Process.Kill() }},
		{"of a kernel that is killed in a flood", "for { fmt.Println(1) }", func(k *kerneltest.Kernel) { k.Process.Kill() }},
		{"of a kernel that is killed while cells ignore signals", "signal.Ignore(syscall.SIGTERM, syscall.SIGHUP); select {}", func(k *kerneltest.Kernel) { k.Process.Kill() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			mark := "BRANCHBOOK_TEST=" + filepath.Base(filepath.Dir(temp)) + filepath.Base(temp)
			k := start(t, mark, "TMPDIR="+temp)
			r := k.Execute(leavers)
			r.UntilIdle()
			r.ReplyOK(1)
			k.Execute(`fmt.Println(strings.Repeat("x", 20<<20))`).Reply(nil) // of which a part is in a file
			if files, _ := os.ReadDir(temp); len(files) != 1 {
				t.Errorf("the temporary files are %v", files)
			}
			if test.cell != "" {
				r := k.Execute(test.cell)
				r.Busy()
				r.Input(3)
			}
			all := family(t, k, mark)
			test.end(k)
			gone(t, all)
			if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
				t.Errorf("files are left: %v, %v", files, err)
			}
		})
	}
}

func TestAWorkerThatDiesLeavesNoProcess(t *testing.T) {
	mark := "BRANCHBOOK_TEST=" + t.Name()
	k := start(t, mark)
	cell(k, leavers)
	all := family(t, k, mark)
	all = slices.DeleteFunc(all, func(pid int) bool { return pid == k.Process.Pid })
	fails(t, k, 2, "syscall.Kill(os.Getpid(), syscall.SIGKILL)", "WorkerDied")
	gone(t, all)
	run(k, 3, "x := 1")
}

// TestAKilledServerTakesTheKernelAlong has a process of its own start the
// kernel, as a Jupyter server does, and kills that.
func TestAKilledServerTakesTheKernelAlong(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		command []string
		server  func(k *kerneltest.Kernel) int
	}{
		{"process 1 inherits it", []string{self, "server"}, func(k *kerneltest.Kernel) int { return k.Process.Pid }},
		{"another process inherits it", []string{self, "reaper"}, func(k *kerneltest.Kernel) int { return k.Children()[0] }},
		{"the server is process 1 of a container", []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child", self, "server"}, func(k *kerneltest.Kernel) int { return k.Children()[0] }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.command[0] == "unshare" && exec.Command(test.command[0], "--pid", "--fork", "--mount-proc", "true").Run() != nil {
				t.Skip("this machine lets nobody make a process namespace")
			}
			k := kerneltest.Start(t, test.command)
			run(k, 1, "x := 1")
			time.Sleep(1200 * time.Millisecond) // the kernel looks at its parent every second
			r := k.Execute("go func() { for {} }()\nx")
			r.Busy()
			r.Input(2)
			r.Result("1")
			r.ReplyOK(2)
			r.Idle()
			all := k.Children()
			if len(all) < 2 {
				t.Fatalf("children %v, want the kernel and its worker", all)
			}
			syscall.Kill(test.server(k), syscall.SIGKILL)
			gone(t, all)
		})
	}
}

func TestTheKernelEndsWithWhoStartedIt(t *testing.T) {
	parent := exec.Command("sleep", "1000")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	k := start(t, "JPY_PARENT_PID="+sprint(parent.Process.Pid))
	run(k, 1, "x := 1")
	parent.Process.Kill()
	parent.Wait()
	k.Exited()
}

func TestAParentThatCannotBeSeenIsNotWatched(t *testing.T) {
	for _, pid := range []string{"1", "0", "none", "4194305"} { // the last is beyond Linux's greatest
		k := start(t, "JPY_PARENT_PID="+pid)
		time.Sleep(1200 * time.Millisecond) // the watch looks every second
		run(k, 1, "x := 1")
	}
}

func TestServeSaysWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const zeroPorts = `{"transport":"tcp","ip":"127.0.0.1","shell_port":0,"control_port":0,"iopub_port":0,"stdin_port":0,"hb_port":0,"key":"k"}`
	for _, test := range []struct{ name, file, command, want string }{
		{"no connection file", filepath.Join(dir, "none"), "", "no such file"},
		{"one that is no JSON", file("broken", "{"), "", "unexpected end of JSON input"},
		{"a worker that cannot be started", file("good", zeroPorts), "/nonexistent", "/nonexistent"},
	} {
		done := make(chan error, 1)
		go func() {
			done <- kernel.Serve(context.Background(), test.file, kernel.Options{Command: []string{test.command}})
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
			}
		case <-time.After(kerneltest.Patience):
			t.Fatalf("%s: Serve goes on", test.name)
		}
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + sprint(pid) + "/stat")
	return err == nil && !strings.Contains(string(data), ") Z ")
}
