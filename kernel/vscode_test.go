package kernel_test

import (
	"encoding/json"
	"testing"
	"unicode/utf16"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// The Jupyter extension of VS Code speaks over ZeroMQ itself, with the same
// messages as JupyterLab but flags and habits of its own. These tests replay
// them.

// codeCell sends a cell as VS Code does: it stops its queue itself.
func codeCell(k *kerneltest.Kernel, code string) *kerneltest.Request {
	return k.ExecuteWith(map[string]any{
		"code": code, "silent": false, "store_history": true, "allow_stdin": true, "stop_on_error": false,
		"user_expressions": map[string]any{},
	})
}

// The extension waits for a kernel_info_reply before all else, then asks for
// comms of widgets; what it asks a second time is answered again.
func TestVSCodeConnects(t *testing.T) {
	k := start(t)
	for range 2 {
		var info struct {
			Status   string
			Protocol string `json:"protocol_version"`
			Language struct {
				Name, MIMEType string
				Extension      string `json:"file_extension"`
			} `json:"language_info"`
			Debugger bool
		}
		r := k.Send("shell", "kernel_info_request", map[string]any{})
		r.Busy()
		r.Reply(&info)
		r.Idle()
		if info.Status != "ok" || info.Protocol < "5.2" || info.Language.Name != "go" || info.Language.Extension != ".go" || info.Debugger {
			t.Errorf("%+v", info)
		}
	}
	var comms struct {
		Status string
		Comms  map[string]any
	}
	r := k.Send("shell", "comm_info_request", map[string]any{"target_name": "jupyter.widget"})
	r.Busy()
	r.Reply(&comms)
	r.Idle()
	if comms.Status != "ok" || comms.Comms == nil || len(comms.Comms) > 0 {
		t.Errorf("%+v", comms)
	}
	// A silent cell of its own leaves no trace in the counts.
	r = k.ExecuteWith(map[string]any{"code": "", "silent": true, "store_history": false, "stop_on_error": false})
	r.Busy()
	r.ReplyOK(0)
	r.Idle()
	r = codeCell(k, "1 + 1")
	r.Busy()
	r.Input(1)
	r.Result("2")
	r.ReplyOK(1)
	r.Idle()
}

// With stop_on_error false the cells that are queued behind an error run.
func TestVSCodeQueue(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1")
	failing, next := codeCell(k, `panic("boom")`), codeCell(k, "x")
	failing.Busy()
	failing.Input(2)
	failing.Error()
	failing.ReplyError(2)
	failing.Idle()
	next.Busy()
	next.Input(3)
	next.Result("1")
	next.ReplyOK(3)
	next.Idle()
}

// Its renderer throws when a field of an error is missing or empty
// (gopherdata/gophernotes#227): Error and ReplyError see to that.
func TestVSCodeRendersEveryError(t *testing.T) {
	for _, test := range []struct{ name, code, ename string }{
		{"a syntax error", "x := )", "CompileError"},
		{"a type error", "var s string = 1", "CompileError"},
		{"an unused import's path", "import \"no/such/package\"\npackage1.F()", "CompileError"},
		{"a panic", `panic("boom")`, "Panic"},
		{"a panic with an error", `panic(errors.New("boom"))`, "Panic"},
		{"a panic with an empty text", `panic("")`, "Panic"},
		{"a panic with nil", "panic(nil)", "Panic"},
		{"a nil dereference", "var p *int\n*p", "Panic"},
		{"an index out of range", "s := []int{1}\ni := 3\ns[i]", "Panic"},
		{"an error as the value", `errors.New("")`, "Error"},
		{"must", `must(os.Open("/nowhere"))`, "Error"},
		{"an exit", "os.Exit(3)", "Exit"},
		{"a magic that fails", "%nosuchmagic", ""},
		{"a worker that is killed", "syscall.Kill(syscall.Getpid(), syscall.SIGKILL)\nselect {}", "WorkerDied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := start(t)
			r := codeCell(k, test.code)
			r.Busy()
			r.Input(1)
			f := r.Error()
			reply := r.ReplyError(1)
			r.Idle()
			for _, got := range []kerneltest.Failure{f, reply.Failure} {
				if test.ename != "" && got.EName != test.ename {
					t.Errorf("ename %q, want %q: %s", got.EName, test.ename, got.Text())
				}
				for _, line := range got.Traceback {
					if line == "" {
						t.Errorf("an empty line in the traceback %q", got.Traceback)
					}
				}
			}
		})
	}
}

// The extension interrupts by an interrupt_request on control, and sends the
// next cell without waiting.
func TestVSCodeInterrupts(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 7")
	r := codeCell(k, "fmt.Println(\"runs\")\nfor {\n}")
	r.Busy()
	r.Input(2)
	r.Stream("stdout", "runs\n")
	stop := k.Send("control", "interrupt_request", map[string]any{})
	var reply struct{ Status string }
	stop.Reply(&reply)
	if reply.Status != "ok" {
		t.Errorf("the interrupt's reply is %+v", reply)
	}
	next := codeCell(k, "x")
	if f := r.ReplyError(2); f.EName != "Interrupted" {
		t.Errorf("%+v", f)
	}
	next.Busy()
	next.Input(3)
	next.Result("7")
	next.ReplyOK(3)
	next.Idle()
}

// Its offsets count UTF-16 units, where the protocol counts code points. At
// the end of a text the two differ by the characters outside the BMP, and an
// offset behind the end means the end.
func TestVSCodeCompletesAtUTF16Offsets(t *testing.T) {
	k := start(t)
	for _, test := range []struct {
		name, code, match string
		start, end        int // code points
	}{
		{"ASCII", "fmt.Printl", "Println", 4, 10},
		{"within the BMP", "é := `ü`; fmt.Printl", "Println", 14, 20},
		{"outside the BMP", "s := `😀𝐚`; fmt.Printl", "Println", 15, 21},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reply struct {
				Status   string
				Matches  []string
				Start    int `json:"cursor_start"`
				End      int `json:"cursor_end"`
				Metadata map[string]json.RawMessage
			}
			r := k.Send("shell", "complete_request", map[string]any{"code": test.code, "cursor_pos": len(utf16.Encode([]rune(test.code)))})
			r.Busy()
			r.Reply(&reply)
			r.Idle()
			if reply.Status != "ok" || len(reply.Matches) != 1 || reply.Matches[0] != test.match || reply.Start != test.start || reply.End != test.end {
				t.Errorf("%+v", reply)
			}
			var types []struct{ Text, Type string }
			if err := json.Unmarshal(reply.Metadata["_jupyter_types_experimental"], &types); err != nil || len(types) != 1 || types[0].Type != "function" {
				t.Errorf("types %+v, %v", types, err)
			}
		})
	}
}

// The extension shows a box for an input_request; a hidden one for a password.
func TestVSCodeAsksForInput(t *testing.T) {
	k := start(t)
	r := codeCell(k, "must(nb.Input(\"Name: \")) + must(nb.Password(\"Key: \"))")
	r.Busy()
	r.Input(1)
	for _, want := range []struct {
		prompt   string
		password bool
	}{{"Name: ", false}, {"Key: ", true}} {
		q := r.InputRequest()
		if q.Prompt != want.prompt || q.Password != want.password {
			t.Errorf("%+v, want %+v", q, want)
		}
		q.Reply("x")
	}
	r.Result("xx")
	r.ReplyOK(1)
	r.Idle()
}

// A restart is a shutdown_request on control, and a process that ends.
func TestVSCodeRestarts(t *testing.T) {
	k := start(t)
	var reply struct {
		Status  string
		Restart bool
	}
	k.Send("control", "shutdown_request", map[string]any{"restart": true}).Reply(&reply)
	if reply.Status != "ok" || !reply.Restart {
		t.Errorf("%+v", reply)
	}
	k.Exited()
}
