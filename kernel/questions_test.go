package kernel_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// ask sends a request that runs no cell, and expects its reply between busy
// and idle.
func ask(k *kerneltest.Kernel, channel, msgType string, content, reply any) {
	r := k.Send(channel, msgType, content)
	r.Busy()
	r.Reply(reply)
	r.Idle()
}

func TestKernelInfo(t *testing.T) {
	k := start(t)
	for _, channel := range []string{"shell", "control"} { // before any cell
		var info struct {
			Status            string
			ProtocolVersion   string `json:"protocol_version"`
			Implementation    string
			Banner            string
			HelpLinks         []struct{ Text, URL string } `json:"help_links"`
			SupportedFeatures []string                     `json:"supported_features"`
			LanguageInfo      map[string]string            `json:"language_info"`
		}
		ask(k, channel, "kernel_info_request", struct{}{}, &info)
		if info.Status != "ok" || info.ProtocolVersion != "5.5" || info.Implementation != "branchbook" || info.Banner == "" || len(info.HelpLinks) == 0 {
			t.Errorf("%s: %+v", channel, info)
		}
		if info.SupportedFeatures == nil || len(info.SupportedFeatures) != 0 {
			t.Errorf("%s: claims %v", channel, info.SupportedFeatures)
		}
		for name, want := range map[string]string{"name": "go", "file_extension": ".go", "mimetype": "text/x-go", "codemirror_mode": "go", "pygments_lexer": "go"} {
			if got := info.LanguageInfo[name]; got != want {
				t.Errorf("%s: language_info %s is %q, want %q", channel, name, got, want)
			}
		}
	}
	k.Heartbeat("still there")
}

type completeReply struct {
	Status   string
	Matches  []string
	Start    int `json:"cursor_start"`
	End      int `json:"cursor_end"`
	Metadata struct {
		Types []struct {
			Text, Type, Signature string
			Start, End            int
		} `json:"_jupyter_types_experimental"`
	}
}

func TestComplete(t *testing.T) {
	k := start(t)
	run(k, 1, "type point struct{ Left, Right int }\nvar spot point\nspotted := 1")
	at := func(n int) *int { return &n }
	for _, test := range []struct {
		name, code string
		pos        *int
		want       string // one of the matches; empty for none at all
		kind       string
		start, end int
	}{
		{"a member of a package", "fmt.Pri", nil, "Println", "function", 4, 7},
		{"a name of an earlier cell", "spo", nil, "spotted", "instance", 0, 3},
		{"a field", "spot.Le", nil, "Left", "property", 5, 7},
		{"a package of ours", "samp", nil, "samplers", "module", 0, 4},
		{"behind characters outside the BMP", `s := "𝐚😀"; fmt.Pri`, nil, "Println", "function", 15, 18},
		{"the cursor in the middle", "fmt.Pri + 1", at(7), "Println", "function", 4, 7},
		{"at the start", "fmt.Pri", at(0), "nb", "module", 0, 0},
		{"a position behind the end", "fmt.Pri", at(99), "Println", "function", 4, 7},
		{"nothing fits", "zzzzz", nil, "", "", 0, 5},
		{"inside a string", `"fmt.Pri`, nil, "", "", 5, 8},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got completeReply
			ask(k, "shell", "complete_request", map[string]any{"code": test.code, "cursor_pos": test.pos}, &got)
			if got.Status != "ok" || got.Start != test.start || got.End != test.end {
				t.Errorf("status %q, from %d to %d; want ok, %d, %d", got.Status, got.Start, got.End, test.start, test.end)
			}
			i := slices.Index(got.Matches, test.want)
			switch {
			case got.Matches == nil:
				t.Error("matches is null")
			case test.want == "" && len(got.Matches) > 0:
				t.Errorf("matches %v, want none", got.Matches)
			case test.want != "" && i < 0:
				t.Errorf("%q is not among %v", test.want, got.Matches)
			case test.want != "" && got.Metadata.Types[i].Type != test.kind:
				t.Errorf("%q is a %q, want %q", test.want, got.Metadata.Types[i].Type, test.kind)
			}
		})
	}
}

func TestInspect(t *testing.T) {
	k := start(t)
	run(k, 1, "func double(x int) int { return 2 * x }\nspot := []float64{1}")
	at := func(n int) *int { return &n }
	for _, test := range []struct {
		name, code string
		pos        *int
		want       string // in the text; empty for not found
	}{
		{"a function of an earlier cell", "double", nil, "func double(x int) int"},
		{"the cursor inside the name", "double(1)", at(3), "func double(x int) int"},
		{"behind the parenthesis", "double(", nil, "func double(x int) int"},
		{"a variable", "spot", nil, "spot []float64"},
		{"a member", "strings.ToUpper", nil, "func ToUpper(s string) string"},
		{"nothing known", "zzz", nil, ""},
		{"nothing at all", "", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got struct {
				Status string
				Found  bool
				Data   map[string]string
			}
			ask(k, "shell", "inspect_request", map[string]any{"code": test.code, "cursor_pos": test.pos, "detail_level": 0}, &got)
			if got.Status != "ok" || got.Found != (test.want != "") || !strings.Contains(got.Data["text/plain"], test.want) {
				t.Errorf("%+v, want %q", got, test.want)
			}
		})
	}
}

func TestACellThatAsksAboutAName(t *testing.T) {
	k := start(t)
	for i, test := range []struct{ code, want string }{
		{"strings.ToUpper?", "func ToUpper(s string) string"}, {"zzz??", "nothing is known of zzz"},
	} {
		r := k.Execute(test.code)
		r.Busy()
		r.Input(i + 1)
		var reply struct {
			Status  string
			Payload []struct {
				Source string
				Data   map[string]string
			}
		}
		r.Reply(&reply)
		if reply.Status != "ok" || len(reply.Payload) != 1 || reply.Payload[0].Source != "page" || !strings.Contains(reply.Payload[0].Data["text/plain"], test.want) {
			t.Errorf("%s: %+v", test.code, reply)
		}
		r.Idle()
	}
}

func TestIsComplete(t *testing.T) {
	k := start(t)
	for _, test := range []struct{ code, want, indent string }{
		{"x := 1", "complete", ""},
		{"func f(x int) int {", "incomplete", "\t"},
		{"fmt.Println(", "incomplete", "\t"},
		{"x := )", "invalid", ""},
	} {
		var got struct{ Status, Indent string }
		ask(k, "shell", "is_complete_request", map[string]any{"code": test.code}, &got)
		if got.Status != test.want || got.Indent != test.indent {
			t.Errorf("%s: %+v, want %s with indent %q", test.code, got, test.want, test.indent)
		}
	}
}

// historyOf asks for history and writes it "session:line input" or, with its
// output, "session:line input = output".
func historyOf(k *kerneltest.Kernel, request map[string]any) string {
	full := map[string]any{"raw": true, "output": false, "session": 0, "start": 1, "stop": nil, "n": 10, "pattern": nil, "unique": false}
	maps.Copy(full, request)
	var got struct {
		Status  string
		History [][3]any
	}
	ask(k, "shell", "history_request", full, &got)
	lines := []string{got.Status}
	for _, h := range got.History {
		line := fmt.Sprintf("%v:%v %v", h[0], h[1], h[2])
		if pair, ok := h[2].([]any); ok {
			line = fmt.Sprintf("%v:%v %v = %v", h[0], h[1], pair[0], pair[1])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "|")
}

func TestHistory(t *testing.T) {
	k := start(t)
	for i, code := range []string{"a := 1", "b := 2", "a = 3"} {
		run(k, i+1, code)
	}
	silent := k.ExecuteWith(map[string]any{"code": "b = 4", "silent": true})
	silent.Busy()
	silent.ReplyOK(3)
	silent.Idle()
	r := k.Execute("a + b")
	r.Busy()
	r.Input(4)
	r.Result("7")
	r.ReplyOK(4)
	r.Idle()
	r = k.Execute("nope") // what fails was run, too
	r.Busy()
	r.Input(5)
	r.Error()
	r.ReplyError(5)
	r.Idle()
	for _, test := range []struct {
		name    string
		request map[string]any
		want    string
	}{
		{"the last two", map[string]any{"hist_access_type": "tail", "n": 2}, "ok|1:4 a + b|1:5 nope"},
		{"more than there are", map[string]any{"hist_access_type": "tail", "n": 100}, "ok|1:1 a := 1|1:2 b := 2|1:3 a = 3|1:4 a + b|1:5 nope"},
		{"with outputs", map[string]any{"hist_access_type": "tail", "n": 2, "output": true}, "ok|1:4 a + b = 7|1:5 nope = <nil>"},
		{"a range", map[string]any{"hist_access_type": "range", "session": 0, "start": 1, "stop": 3}, "ok|0:1 a := 1|0:2 b := 2"},
		{"a pattern", map[string]any{"hist_access_type": "search", "pattern": "a ?= *"}, "ok|1:1 a := 1"},
		{"nothing fits", map[string]any{"hist_access_type": "search", "pattern": "z"}, "ok"},
	} {
		if got := historyOf(k, test.request); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestHistoryOutlivesTheKernel(t *testing.T) {
	home := t.TempDir()
	state := "XDG_STATE_HOME=" + home
	k := start(t, state)
	run(k, 1, "x := 1")
	run(k, 2, "x = 2")
	k.Send("control", "shutdown_request", map[string]any{"restart": true}).Reply(nil)
	k.Exited()

	k = start(t, state)
	run(k, 1, "y := 1")
	r := k.Execute("select {}")
	r.Busy()
	r.Input(2)
	for deadline := time.Now().Add(kerneltest.Patience); ; time.Sleep(time.Millisecond) { // it is written behind
		data, _ := os.ReadFile(filepath.Join(home, "branchbook", "history.jsonl"))
		if bytes.Contains(data, []byte("select {}")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the running cell is not kept: %s", data)
		}
	}
	k.Process.Kill() // without a farewell
	k = start(t, state)
	run(k, 1, "z := 1")
	for _, test := range []struct {
		name    string
		request map[string]any
		want    string
	}{
		{"the tail", map[string]any{"hist_access_type": "tail", "n": 3}, "ok|2:1 y := 1|2:2 select {}|3:1 z := 1"},
		{"of the session before", map[string]any{"hist_access_type": "range", "session": -1, "start": 1}, "ok|2:1 y := 1|2:2 select {}"},
		{"each once", map[string]any{"hist_access_type": "search", "pattern": "? := 1", "unique": true}, "ok|1:1 x := 1|2:1 y := 1|3:1 z := 1"},
	} {
		if got := historyOf(k, test.request); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestHistoryThatIsTurnedOff(t *testing.T) {
	state := t.TempDir()
	k := start(t, "XDG_STATE_HOME="+state, "BRANCHBOOK_HISTORY=off")
	run(k, 1, "x := 1")
	if got := historyOf(k, map[string]any{"hist_access_type": "tail"}); got != "ok|1:1 x := 1" {
		t.Errorf("%q", got)
	}
	if files, _ := os.ReadDir(state); len(files) > 0 {
		t.Errorf("there is %v", files)
	}
}

func TestCommsAreRefused(t *testing.T) {
	k := start(t)
	var info struct {
		Status string
		Comms  map[string]any
	}
	ask(k, "shell", "comm_info_request", struct{}{}, &info)
	if info.Status != "ok" || info.Comms == nil || len(info.Comms) > 0 {
		t.Errorf("%+v", info)
	}
	r := k.Send("shell", "comm_open", map[string]any{"comm_id": "c1", "target_name": "nobody", "data": map[string]any{}})
	r.Busy()
	if id := r.CommClose(); id != "c1" {
		t.Errorf("comm %q is closed, want c1", id)
	}
	r.Idle()
	r = k.Send("shell", "comm_msg", map[string]any{"comm_id": "c1", "data": map[string]any{}})
	r.Busy()
	r.Idle()
}

func TestQuestionsAreAnsweredWhileACellRuns(t *testing.T) {
	k := start(t)
	r := k.Execute(`fmt.Println("on"); <-ctx.Done()`)
	r.Busy()
	r.Input(1)
	r.Stream("stdout", "on\n")
	for _, q := range []struct{ channel, msgType, code string }{
		{"shell", "complete_request", "fmt.Pri"}, {"shell", "inspect_request", "fmt.Println"},
		{"shell", "is_complete_request", "1"}, {"shell", "kernel_info_request", ""}, {"control", "kernel_info_request", ""},
	} {
		ask(k, q.channel, q.msgType, map[string]any{"code": q.code}, nil)
		r.BusyAgain() // or a front end would show the kernel as idle
	}
	ask(k, "control", "interrupt_request", struct{}{}, nil)
	r.Reply(nil)
}
