package kernel_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"strconv"
	"strings"
	"testing"
)

func sprint(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

func TestResults(t *testing.T) {
	k := start(t)
	n := 0
	for _, test := range []struct{ name, code, want string }{
		{"an expression", "1 + 1", "2"},
		{"hidden by a semicolon", "1 + 1;", ""},
		{"a string", `"é"`, "é"},
		{"several values", "func two() (int, string) { return 1, \"b\" }\ntwo()", "1 b"},
		{"a nil error is hidden", "strconv.Atoi(\"12\")", "12"},
		{"only a nil error", "var e error\ne", ""},
		{"printing is no value", "fmt.Sprint(1)\nfmt.Print()", ""},
		{"a value of a map, and whether it is there", "m := map[string]int{\"a\": 1}\nm[\"a\"]", "1"},
		{"a slice of structs", "type pt struct{ X, y int }\n[]pt{{1, 2}}", "[]pt{{X: 1, y: 2}}"},
		{"a Stringer", "type temp float64\nfunc (t temp) String() string { return fmt.Sprint(float64(t), \"°C\") }\ntemp(20)", "20°C"},
		{"a value in an interface", "type holder interface{ hold() }\ntype hand struct{ n int }\nfunc (hand) hold() {}\nvar h holder = hand{2}\nh", "hand{n: 2}"},
		{"a duration", "90 * time.Second", "1m30s"},
		{"nil", "var p *int\np", "nil"},
		{"must", "must(strconv.Atoi(\"7\"))", "7"},
	} {
		n++
		t.Run(test.name, func(t *testing.T) {
			r := k.Execute(test.code)
			r.Busy()
			r.Input(n)
			if test.want != "" {
				r.Result(test.want)
			}
			r.ReplyOK(n)
			r.Idle()
		})
	}
}

func TestAPictureIsShownAsPNG(t *testing.T) {
	k := start(t)
	r := k.Execute("import \"image\"\nimage.NewGray(image.Rect(0, 0, 3, 2))")
	r.Busy()
	r.Input(1)
	b := r.Result("*image.Gray (0,0)-(3,2)")
	data, err := base64.StdEncoding.DecodeString(b.Data["image/png"].(string))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Dx() != 3 || img.Bounds().Dy() != 2 {
		t.Errorf("%v, %v", img, err)
	}
	r.ReplyOK(1)
	r.Idle()
}

func TestDisplays(t *testing.T) {
	k := start(t)
	r := k.Execute(`fmt.Println("before")
nb.HTML("<b>bold</b>")
fmt.Println("between")
nb.DisplayID("here", 1)
nb.Update("here", 2)
nb.Clear(true)
nb.Markdown("# done")
"last"`)
	r.Busy()
	r.Input(1)
	r.Stream("stdout", "before\n")
	if b := r.Display(); b.Data["text/html"] != "<b>bold</b>" || b.Text() != "bold" {
		t.Errorf("%+v", b)
	}
	r.Stream("stdout", "between\n")
	if b := r.Display(); b.Transient.DisplayID != "here" || b.Text() != "1" {
		t.Errorf("%+v", b)
	}
	if b := r.Update(); b.Transient.DisplayID != "here" || b.Text() != "2" {
		t.Errorf("%+v", b)
	}
	r.Clear(true)
	if b := r.Display(); b.Data["text/markdown"] != "# done" {
		t.Errorf("%+v", b)
	}
	r.Result("last")
	r.ReplyOK(1)
	r.Idle()
}

func TestAProgressBarEndsInALine(t *testing.T) {
	k := start(t)
	r := k.Execute("bar := nb.Progress(\"counting\")\nfor i := range 10000 { bar.Step(i+1, 10000) }")
	r.Busy()
	r.Input(1)
	first := r.Display()
	last := r.Update()
	for !strings.Contains(last.Text(), " in ") { // ten a second at most
		last = r.Update()
	}
	if !strings.HasPrefix(last.Text(), "counting 10000 of 10000 in ") || first.Transient.DisplayID != last.Transient.DisplayID {
		t.Errorf("%+v … %+v", first, last)
	}
	r.ReplyOK(1)
	r.Idle()
}

func TestAProgressBarOfACellThatIsInterrupted(t *testing.T) {
	k := start(t)
	r := k.Execute("bar := nb.Progress(\"counting\")\nbar.Step(1, 9)\nselect {}")
	r.Busy()
	r.Input(1)
	first := r.Display()
	if live, _ := first.Metadata["branchbook"].(map[string]any); live["live"] != true {
		t.Errorf("%+v", first)
	}
	k.Interrupt()
	if last := r.Update(); !strings.HasPrefix(last.Text(), "counting cancelled at 1 of 9 after ") || last.Transient.DisplayID != first.Transient.DisplayID || len(last.Metadata) > 0 {
		t.Errorf("%+v", last)
	}
	r.Error()
	r.ReplyError(1)
	r.Idle()
}

func TestAllLinesInOrderBeforeIdle(t *testing.T) {
	k := start(t)
	r := k.Execute("for i := range 100000 { fmt.Println(i) }")
	r.Busy()
	r.Input(1)
	out, _, messages := r.Streams()
	r.ReplyOK(1)
	r.Idle()
	var want strings.Builder
	for i := range 100_000 {
		want.WriteString(strconv.Itoa(i) + "\n")
	}
	if out != want.String() {
		t.Errorf("%d bytes arrived, want %d", len(out), want.Len())
	}
	if took := messages; took > 200 {
		t.Errorf("in %d messages", messages)
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	k := start(t)
	r := k.Execute(`os.Stdout.Write([]byte{'o', 'k', 0xff, 0xfe, '\n'});`)
	r.Busy()
	r.Input(1)
	r.Stream("stdout", "ok\uFFFD\uFFFD\n")
	r.ReplyOK(1)
	r.Idle()
	run(k, 2, "x := 1")
}

func TestLateOutputGoesToTheCellThatRanLast(t *testing.T) {
	k := start(t)
	r := k.Execute(`go func() { time.Sleep(100 * time.Millisecond); fmt.Println("late") }()`)
	r.Busy()
	r.Input(1)
	r.ReplyOK(1)
	r.Idle()
	r.Stream("stdout", "late\n")
}

func TestErrors(t *testing.T) {
	k := start(t)
	n := 0
	for _, test := range []struct {
		name, code, ename, evalue string
		traceback                 []string // each in it
	}{
		{"a syntax error", "x := )", "CompileError", "syntax", []string{"Cell In[1], line 1", "x := )", "^"}},
		{"two type errors", "a := 1 + \"x\"\nb := undefined1", "CompileError", "(and 1 more)", []string{"Cell In[2], line 1", "Cell In[2], line 2", "undefined: undefined1", "     |      ^"}},
		{"a panic", "func f(i int) int {\n\treturn []int{1, 2, 3}[i]\n}\n\nf(5)", "Panic", "index out of range", []string{"Cell In[3], line 2, in f", "return []int{1, 2, 3}[i]", "Cell In[3], line 5"}},
		{"a panic in a function of an earlier cell", "a := 0\nf(7+a)", "Panic", "index out of range", []string{"Cell In[3], line 2", "Cell In[4], line 2"}},
		{"a nil map", "var m map[string]int\nm[\"a\"] = 1", "Panic", "assignment to entry in nil map", []string{"line 2"}},
		{"a panic with an error", `panic(errors.New("mine"))`, "Panic", "mine", nil},
		{"an error as the last value", `strconv.Atoi("x")`, "Error", `strconv.Atoi: parsing "x": invalid syntax`, []string{"Cell In[7], line 1"}},
		{"must", "b := 0\nmust(strconv.Atoi(\"x\"))\nb", "Error", `strconv.Atoi: parsing "x": invalid syntax`, []string{"Cell In[8], line 2"}},
		{"a panic in a goroutine", "go func() { panic(\"there\") }()\nselect {}", "Panic", "there", nil},
		{"an empty message", `panic("")`, "Panic", "Panic", nil},
	} {
		n++
		t.Run(test.name, func(t *testing.T) {
			r := k.Execute(test.code)
			r.Busy()
			r.Input(n)
			f := r.Error()
			if f.EName != test.ename || !strings.Contains(f.EValue, test.evalue) {
				t.Errorf("%s: %s; want %s: … %s …", f.EName, f.EValue, test.ename, test.evalue)
			}
			for _, want := range test.traceback {
				if !strings.Contains(f.Text(), want) {
					t.Errorf("no %q in the traceback:\n%s", want, f.Text())
				}
			}
			if strings.Contains(f.Text(), "In[0]") || strings.Contains(f.Text(), "__") {
				t.Errorf("the traceback shows our insides:\n%s", f.Text())
			}
			if reply := r.ReplyError(n); reply.EName != f.EName || reply.EValue != f.EValue {
				t.Errorf("the reply has %+v", reply.Failure)
			}
			r.Idle()
		})
	}
}

func TestCounting(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 1")
	r := k.ExecuteWith(map[string]any{"code": `fmt.Println("loud"); x = 2; x`, "silent": true})
	r.Busy()
	r.ReplyOK(1) // and no output
	r.Idle()
	r = k.ExecuteWith(map[string]any{"code": "x", "store_history": false})
	r.Busy()
	r.Input(1)
	r.Result("2")
	r.ReplyOK(1)
	r.Idle()
	r = k.ExecuteWith(map[string]any{"code": "y := x\ny", "user_expressions": map[string]string{"a": "x + 1", "b": "nope"}})
	r.Busy()
	r.Input(2)
	r.Result("2")
	reply := r.ReplyOK(2)
	if data, _ := reply.UserExpressions["a"]["data"].(map[string]any); data["text/plain"] != "3" {
		t.Errorf("user expression a is %v", reply.UserExpressions["a"])
	}
	if reply.UserExpressions["b"]["status"] != "error" || reply.UserExpressions["b"]["ename"] == "" {
		t.Errorf("user expression b is %v", reply.UserExpressions["b"])
	}
	r.Idle()
}
