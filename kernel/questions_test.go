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
	"unicode/utf8"

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
		for name, want := range map[string]string{"name": "go", "file_extension": ".go", "mimetype": "text/x-go", "codemirror_mode": "go", "pygments_lexer": "go", "engine": engineName()} {
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

// completed asks what may stand at the | and writes the matches, with the text
// that they replace before a colon.
func completed(k *kerneltest.Kernel, source string) (string, completeReply) {
	before, after, _ := strings.Cut(source, "|")
	var got completeReply
	ask(k, "shell", "complete_request", map[string]any{"code": before + after, "cursor_pos": utf8.RuneCountInString(before)}, &got)
	return string([]rune(before + after)[got.Start:got.End]) + ": " + strings.Join(got.Matches, " "), got
}

func TestCompleteInStringsAndMagics(t *testing.T) {
	k := start(t)
	dir := t.TempDir()
	for _, name := range []string{"data/one.csv", "data/two.csv", "data/über.txt", "data/with space.txt", ".hidden", "plain.gguf", "deep/er/x"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := k.Execute("%cd " + dir + "\n%env BRANCHBOOK_TEST_NAME=x\nfunc main1() {}\nmaybe := 1")
	r.UntilIdle()
	r.ReplyOK(1)
	for _, test := range []struct{ name, source, want string }{
		{"all files", `os.ReadFile("|")`, ": data/ deep/ plain.gguf"},
		{"files of a directory", `os.ReadFile("data/|")`, "data/: data/one.csv data/two.csv data/with space.txt data/über.txt"},
		{"by their beginning", `os.ReadFile("data/o|`, "data/o: data/one.csv"},
		{"in a raw string", "os.ReadFile(`data/t|`)", "data/t: data/two.csv"},
		{"behind characters outside the BMP", `"𝐚😀"; os.ReadFile("data/ü|")`, "data/ü: data/über.txt"},
		{"hidden files", `f(".h|")`, ".h: .hidden"},
		{"absolute paths", `f("` + dir + `/de|")`, dir + "/de: " + dir + "/deep/"},
		{"a string that is no path", `fmt.Println("hello w|")`, "w: "},
		{"an escape", `f("\\d|")`, "d: "},
		{"a rune", `'d|'`, "d: "},
		{"a string in a comment", `// "data/|"`, ": "},
		{"a string of a line before", "x := \"open\nf(\"data/o|\")", "data/o: data/one.csv"},
		{"in a list of strings", `x := []string{"a", "da|"}`, "da: data/"},
		{"a model's name", `llm.Open(ctx, "tiny|", llm.Options{})`, "tiny: tiny-model"},
		{"models and files", `llm.Open(ctx, "|`, ": tiny-model other-model data/ deep/ plain.gguf"},
		{"no model elsewhere", `os.Open("tiny|")`, "tiny: "},
		{"an import", `import "encoding/js|"`, "encoding/js: encoding/json"},
		{"an import in a list", "import (\n\t\"fmt\"\n\tj \"encoding/js|\"\n)", "encoding/js: encoding/json"},
		{"an import of ours", `import "github.com/branchbook/branchbook/lib/sam|"`, "github.com/branchbook/branchbook/lib/sam: github.com/branchbook/branchbook/lib/samplers"},
		{"a directory for %cd", "%cd d|", "d: data/ deep/"},
		{"no file for %cd", "%cd data/|", ": "},
		{"a file to load", "%load pl|", "pl: plain.gguf"},
		{"a file to write", "%%writefile data/o|\ntext", "data/o: data/one.csv"},
		{"a file for the shell", "!wc -l data/o|", "data/o: data/one.csv"},
		{"a file in a script", "%%bash\nwc -l data/o|", "data/o: data/one.csv"},
		{"a variable of the environment", "%env BRANCHBOOK_TEST_N|", "BRANCHBOOK_TEST_N: BRANCHBOOK_TEST_NAME"},
		{"an engine", "%engine y|", "y: yaegi"},
		{"a name to forget", "%rm mayb|", "mayb: maybe"},
		{"a function to call", "%exec ma|", "ma: main1"},
		{"a bound", "%limit st|", "st: steps="},
		{"a magic's name", "%writ|", "writ: "},
		{"a string that is timed", `%time os.ReadFile("data/o|")`, "data/o: data/one.csv"},
		{"a string below a magic", "!ls \"x\nos.ReadFile(\"data/o|\")", "data/o: data/one.csv"},
		{"the middle of a word", `os.ReadFile("data/o|ne.csv")`, "data/o: data/one.csv"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := completed(k, test.source); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// inspected asks about the name at pos, or at the end, and returns the text.
func inspected(k *kerneltest.Kernel, code string, pos *int, detail int) (text string, found bool) {
	var got struct {
		Status string
		Found  bool
		Data   map[string]string
	}
	ask(k, "shell", "inspect_request", map[string]any{"code": code, "cursor_pos": pos, "detail_level": detail}, &got)
	return got.Data["text/plain"], got.Status == "ok" && got.Found
}

func TestInspect(t *testing.T) {
	k := start(t)
	run(k, 1, `// double is twice x.
//
// It is exact.
func double(x int) int { return 2 * x }

spot := []float64{1, 2}

/* A point is a place. */
type point struct{ X, Y int }
func (p point) Far() bool { return p.X > 9 }
const limit = 3
big := make([]int, 1_000_000)
plain := struct{ A int }{4}`)
	run(k, 2, "// Sum adds.\nfunc (p *point) Sum() int {\n\treturn p.X + p.Y\n}\nhere := point{3, 4}")
	at := func(n int) *int { return &n }
	for _, test := range []struct {
		name, code string
		pos        *int
		detail     int
		want       []string // in the text; !x: not in it; none for not found
	}{
		{"a function of a cell", "double", nil, 0, []string{"func double(x int) int\n\ndouble is twice x.\n\nIt is exact.\n\nDeclared in In[1].", "!return"}},
		{"its source", "double", nil, 1, []string{"// In[1]\nfunc double(x int) int { return 2 * x }"}},
		{"the cursor inside the name", "double(1)", at(3), 0, []string{"func double(x int) int"}},
		{"behind the parenthesis", "double(", nil, 0, []string{"func double(x int) int"}},
		{"behind characters outside the BMP", `"𝐚😀"; double`, at(9), 0, []string{"func double(x int) int"}},
		{"a variable and its value", "spot", nil, 0, []string{"spot []float64\n= []float64{1, 2}"}},
		{"a value that is long", "big", nil, 0, []string{"big []int\n= []int{0, 0", "999900 more"}},
		{"a value of a struct", "plain", nil, 0, []string{"plain struct{A int}\n= ", "4"}},
		{"a value whose methods are the notebook's is not asked", "here", nil, 0, []string{"here point", "!="}},
		{"a type of a cell", "point", nil, 0, []string{"type point struct{X int; Y int}", "A point is a place.", "func (point) Far() bool", "func (*point) Sum() int"}},
		{"its source and its methods'", "point", nil, 1, []string{"type point struct{ X, Y int }", "func (p point) Far() bool { return p.X > 9 }", "return p.X + p.Y"}},
		{"a method of a cell", "here.Sum", nil, 1, []string{"func Sum() int\n\nSum adds.", "// In[2]\nfunc (p *point) Sum() int {", "!Far"}},
		{"a field of a cell's type", "here.X", nil, 0, []string{"X int"}},
		{"a constant", "limit", nil, 0, []string{"limit untyped int"}},
		{"a function of the standard library", "strings.ToUpper", nil, 0, []string{"func ToUpper(s string) string\n\nToUpper returns s with all Unicode letters mapped to their upper case."}},
		{"a package of the standard library", "strings", nil, 0, []string{`package strings // import "strings"`, "implements simple functions to manipulate UTF-8 encoded strings"}},
		{"a type of the standard library", "strings.Builder", nil, 0, []string{"A Builder is used to efficiently build a string", "func (*strings.Builder) WriteString(s string) (int, error)", "!addr"}},
		{"a method of the standard library", "new(strings.Builder).Grow", nil, 0, []string{"Grow grows b's capacity, if necessary"}},
		{"an interface's method", "io.Writer.Write", nil, 0, []string{"func Write(p []byte) (n int, err error)"}},
		{"a field of the standard library", "http.DefaultClient.Timeout", nil, 0, []string{"Timeout time.Duration\n\nTimeout specifies a time limit for requests"}},
		{"a constant of the standard library", "math.Pi", nil, 0, []string{"Pi untyped float"}},
		{"a generic function", "slices.Sort", nil, 0, []string{"Sort sorts a slice of any ordered type in ascending order."}},
		{"what is predeclared", "append", nil, 0, []string{"The append built-in function appends elements to the end of a slice."}},
		{"a package of ours", "samplers", nil, 0, []string{`package samplers // import "github.com/branchbook/branchbook/lib/samplers"`, "draws completions"}},
		{"a function of ours", "nb.Progress", nil, 0, []string{"func Progress(label string) *nb.Bar", "Progress starts a bar."}},
		{"a field of ours", "llm.Options{}.Progress", nil, 0, []string{"Progress"}},
		{"another's", "floats.Sum", nil, 0, []string{"Sum returns the sum of the elements of the slice."}},
		{"a keyword", "func", nil, 0, []string{"func (keyword)"}},
		{"nothing known", "zzz", nil, 0, nil},
		{"nothing at all", "", nil, 0, nil},
		{"in a string", `"double`, nil, 0, nil},
		{"in a comment", "// double", nil, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, found := inspected(k, test.code, test.pos, test.detail)
			if found != (test.want != nil) {
				t.Fatalf("found is %v: %q", found, got)
			}
			for _, want := range test.want {
				absent, not := strings.CutPrefix(want, "!")
				if not && strings.Contains(got, absent) || !not && !strings.Contains(got, want) {
					t.Errorf("%s\nwant %s", got, want)
				}
			}
		})
	}
}

func TestInspectWhileACellRuns(t *testing.T) {
	k := start(t)
	run(k, 1, "spot := 41")
	r := k.Execute("fmt.Println(\"on\")\n<-ctx.Done()")
	r.Busy()
	r.Input(2)
	r.Stream("stdout", "on\n")
	if got, _ := inspected(k, "spot", nil, 0); got != "spot int\n\nDeclared in In[1]." {
		t.Errorf("%q", got)
	}
	r.BusyAgain()
	k.Interrupt()
	r.Error()
	r.ReplyError(2)
	r.Idle()
	if got, _ := inspected(k, "spot", nil, 0); got != "spot int\n= 41\n\nDeclared in In[1]." {
		t.Errorf("%q", got)
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

func TestUsage(t *testing.T) {
	k := start(t)
	type usage struct {
		Status   string
		Hostname string
		PID      int
		CPU      float64                          `json:"kernel_cpu"`
		Memory   int64                            `json:"kernel_memory"`
		CPUs     int                              `json:"cpu_count"`
		Host     struct{ Total, Available int64 } `json:"host_virtual_memory"`
	}
	var before, after usage
	ask(k, "control", "usage_request", struct{}{}, &before)
	run(k, 1, "big := make([]byte, 100_000_000)\nfor i := range big { big[i] = 1 }\nfor end := time.Now().Add(time.Second / 2); time.Now().Before(end); {}")
	ask(k, "control", "usage_request", struct{}{}, &after)
	if before.Status != "ok" || before.PID != k.Process.Pid || before.Hostname == "" || before.CPUs < 1 || before.Host.Total < before.Host.Available || before.Host.Available <= 0 {
		t.Errorf("%+v", before)
	}
	if more := after.Memory - before.Memory; more < 90_000_000 { // the worker is counted
		t.Errorf("%d bytes more for a slice of 100 MB", more)
	}
	if after.CPU <= 0 {
		t.Errorf("no processor was used: %+v", after)
	}
}

func TestThereIsNoDebugger(t *testing.T) {
	k := start(t)
	var got struct {
		Type, Command, Message string
		Seq                    int `json:"request_seq"`
		Success                *bool
	}
	ask(k, "control", "debug_request", map[string]any{"type": "request", "seq": 7, "command": "initialize", "arguments": map[string]any{}}, &got)
	if got.Type != "response" || got.Seq != 7 || got.Command != "initialize" || got.Success == nil || *got.Success || got.Message == "" {
		t.Errorf("%+v", got)
	}
}

func TestConnect(t *testing.T) {
	k := start(t)
	var got struct {
		Status string
		kerneltest.Connection
	}
	ask(k, "shell", "connect_request", struct{}{}, &got)
	if c := k.Connection; got.Status != "ok" || got.ShellPort != c.ShellPort || got.IOPubPort != c.IOPubPort || got.StdinPort != c.StdinPort || got.HBPort != c.HBPort || got.ControlPort != c.ControlPort {
		t.Errorf("%+v", got)
	}
}

// A message of a type that nobody knows has busy and idle, and no reply.
func TestUnknownMessages(t *testing.T) {
	k := start(t)
	for _, channel := range []string{"shell", "control"} {
		r := k.Send(channel, "create_subshell_request", struct{}{})
		r.Busy()
		r.Idle()
	}
	run(k, 1, "x := 1")
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
