package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// asking sends a cell as a front end does whose user can be asked.
func asking(k *kerneltest.Kernel, code string) *kerneltest.Request {
	return k.ExecuteWith(map[string]any{"code": code, "allow_stdin": true})
}

// readers are the ways in which a cell reads a line of its standard input.
var readers = map[string]string{
	"fmt.Scan":            "var s string\nfmt.Scan(&s)\ns",
	"fmt.Scanln":          "var s string\nfmt.Scanln(&s)\ns",
	"fmt.Scanf":           "var s string\nfmt.Scanf(\"%s\", &s)\ns",
	"fmt.Fscan":           "var s string\nfmt.Fscan(os.Stdin, &s)\ns",
	"bufio.Reader":        "strings.TrimSpace(must(bufio.NewReader(os.Stdin).ReadString('\\n')))",
	"bufio.Scanner":       "scanner := bufio.NewScanner(os.Stdin)\nscanner.Scan()\nscanner.Text()",
	"os.Stdin.Read":       "b := make([]byte, 10)\nn, _ := os.Stdin.Read(b)\nstrings.TrimSpace(string(b[:n]))",
	"syscall.Read":        "b := make([]byte, 10)\nn, _ := syscall.Read(0, b)\nstrings.TrimSpace(string(b[:n])) // syscall.Stdin",
	"a process of a cell": "cmd := exec.Command(\"head\", \"-n\", \"1\")\ncmd.Stdin = os.Stdin\nstrings.TrimSpace(string(must(cmd.Output())))",
	"nb.Input":            "must(nb.Input(\"\"))",
	"gonbui.RequestInput": "import \"github.com/janpfeifer/gonb/gonbui\"\ngonbui.RequestInput(\"\", false)\nvar s string\nfmt.Scan(&s)\ns",
}

func TestACellReadsWhatTheUserTypes(t *testing.T) {
	k := start(t)
	n := 0
	for name, code := range readers {
		n++
		t.Run(name, func(t *testing.T) {
			r := asking(k, code)
			r.Busy()
			r.Input(n)
			q := r.InputRequest()
			if q.Prompt != "" || q.Password {
				t.Errorf("%+v", q)
			}
			q.Reply("typed")
			r.Result("typed")
			r.ReplyOK(n)
			r.Idle()
		})
	}
}

func TestACellAsks(t *testing.T) {
	k := start(t)
	r := asking(k, `fmt.Print("name: ")
name := must(nb.Input("Your name: "))
key := must(nb.Password("Key: "))
fmt.Println(len(key))
var age int
fmt.Print("age? ")
fmt.Scanln(&age)
fmt.Sprint(name, age+1)`)
	r.Busy()
	r.Input(1)
	q := r.InputRequest()
	r.Stream("stdout", "name: ") // what was printed before is shown before the question
	if q.Prompt != "Your name: " || q.Password {
		t.Errorf("%+v", q)
	}
	q.ReplyWithoutParent("Ada 𝐚 ")
	if q = r.InputRequest(); q.Prompt != "Key: " || !q.Password {
		t.Errorf("%+v", q)
	}
	q.Reply("secret")
	q = r.InputRequest()
	r.Stream("stdout", "6\nage? ")
	q.Reply("41")
	r.Result("Ada 𝐚 42")
	r.ReplyOK(1)
	r.Idle()
}

func TestLinesOfInput(t *testing.T) {
	k := start(t)
	r := asking(k, `for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
	fmt.Println("got", lines.Text())
}`)
	r.Busy()
	r.Input(1)
	for _, line := range []string{"one", "", "three"} {
		r.InputRequest().Reply(line)
		r.Stream("stdout", "got "+line+"\n")
	}
	r.InputRequest().Reply("\x04") // Ctrl-D
	r.ReplyOK(1)
	r.Idle()

	// After the end, input is asked for anew.
	r = asking(k, `a, err := nb.Input("first")
fmt.Println(a, err)
b := must(io.ReadAll(os.Stdin))
string(b)`)
	r.Busy()
	r.Input(2)
	r.InputRequest().Reply("\x04")
	q := r.InputRequest()
	r.Stream("stdout", " EOF\n")
	q.Reply("x")
	r.InputRequest().Reply("y")
	r.InputRequest().Reply("\x04")
	r.Result("x\ny\n")
	r.ReplyOK(2)
	r.Idle()
}

func TestACommandReadsWhatTheUserTypes(t *testing.T) {
	k := start(t)
	r := asking(k, "%with_inputs\n!read -p 'name: ' name; echo \"got $name\"\n!read more || echo 'no more'\n%with_password\n!read key; echo ${#key}")
	r.Busy()
	r.Input(1)
	if q := r.InputRequest(); q.Password {
		t.Errorf("%+v", q)
	} else {
		q.Reply("Ada Lovelace")
	}
	q := r.InputRequest()
	if !q.Password {
		t.Errorf("%+v", q)
	}
	q.Reply("secret")
	if out, _, _ := r.Streams(); out != "got Ada Lovelace\nno more\n6\n" {
		t.Errorf("%q", out)
	}
	r.ReplyOK(1)
	r.Idle()

	r = k.ExecuteWith(map[string]any{"code": "%with_inputs\n!read name; echo $name", "allow_stdin": false})
	r.UntilIdle()
	if reply := r.ReplyError(2); !strings.Contains(reply.EValue, "allow_stdin is false") {
		t.Errorf("%+v", reply)
	}
}

func TestWhatOneCellLeftUnreadIsNotTheNextOnes(t *testing.T) {
	k := start(t)
	r := asking(k, "var a, b int\nfmt.Scan(&a)\na")
	r.Busy()
	r.Input(1)
	r.InputRequest().Reply("1 2 3")
	r.Result("1")
	r.ReplyOK(1)
	r.Idle()
	r = asking(k, "fmt.Scan(&b)\nb")
	r.Busy()
	r.Input(2)
	r.InputRequest().Reply("4")
	r.Result("4")
	r.ReplyOK(2)
	r.Idle()
}

func TestFedInputIsNotAskedFor(t *testing.T) {
	k := start(t)
	r := k.Execute("func program() {\n\tvar a, b int\n\tfmt.Scan(&a, &b)\n\tfmt.Println(a + b)\n}\nmust0(nb.Feed(\"40\\n2\\n\"))\nprogram()")
	r.Busy()
	r.Input(1)
	r.Stream("stdout", "42\n")
	r.ReplyOK(1)
	r.Idle()
}

// B11: a client that takes no questions.
func TestInputWhereNobodyIsAsked(t *testing.T) {
	k := start(t)
	more := map[string]string{
		"io.ReadAll":              "string(must(io.ReadAll(os.Stdin)))",
		"an error that is unseen": "for { var s string; fmt.Scan(&s) }",
		"nb.Password":             "must(nb.Password(\"key: \"))",
		"the last value's error":  "func read() error { _, err := nb.Input(\"\"); return err }\nread()",
	}
	for name, code := range readers {
		more[name] = code
	}
	n := 0
	for name, code := range more {
		n += 2
		t.Run(name, func(t *testing.T) {
			r := k.ExecuteWith(map[string]any{"code": code, "allow_stdin": false})
			r.Busy()
			r.Input(n - 1)
			f := r.Error()
			if !strings.Contains(f.EValue, "allow_stdin is false") || !strings.Contains(f.Text(), "hint: give the value in the cell") {
				t.Errorf("the user is told:\n%s", f.Text())
			}
			r.ReplyError(n - 1)
			r.Idle()
			run(k, n, "ok := 1")
		})
	}
}

func TestInterruptWhileACellWaitsForInput(t *testing.T) {
	k := start(t)
	run(k, 1, "kept := 42")
	n := 1
	for name, code := range readers {
		n += 2
		t.Run(name, func(t *testing.T) {
			r := asking(k, code)
			r.Busy()
			r.Input(n - 1)
			stale := r.InputRequest()
			began := time.Now()
			k.Interrupt()
			if f := r.Error(); f.EName != "Interrupted" {
				t.Errorf("%+v", f)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("stopped after %v", took)
			}
			r.ReplyError(n - 1)
			r.Idle()
			// The reply to a question that nobody asks any more is not the next one's.
			r = asking(k, "fmt.Sprint(must(nb.Input(\"\")), kept)")
			r.Busy()
			r.Input(n)
			q := r.InputRequest()
			stale.Reply("stale")
			q.Reply("fresh")
			r.Result("fresh42")
			r.ReplyOK(n)
			r.Idle()
		})
	}
}

func TestAnAnswerThatNobodyWaitsFor(t *testing.T) {
	k := start(t)
	r := asking(k, "must(nb.Input(\"\"))")
	r.Busy()
	r.Input(1)
	q := r.InputRequest()
	q.Reply("one")
	q.Reply("two")
	q.ReplyWithoutParent("three")
	r.Result("one")
	r.ReplyOK(1)
	r.Idle()
	r = asking(k, "must(nb.Input(\"\"))")
	r.Busy()
	r.Input(2)
	r.InputRequest().Reply("four")
	r.Result("four")
	r.ReplyOK(2)
	r.Idle()
}
