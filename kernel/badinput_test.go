package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// badInputs are cells that nobody should write, and the error of each: "" for
// those that Go accepts.
func badInputs() []badInput {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	repeat := strings.Repeat
	return []badInput{
		{"a NUL", "x := 1\x00", "invalid NUL character"},
		{"binary garbage", "\x7fELF\x02\x01\x01\x00\x00\xff\xfe\x80({[\x00\x1b[2J", "invalid character"},
		// JSON has U+FFFD in its place.
		{"invalid UTF-8 in a string", "x := \"\xff\"", ""},
		{"invalid UTF-8 in a name", "x\xff := 1", "invalid character U+FFFD"},
		{"invalid UTF-8 in a comment", "x := 1 // \xc3", ""},
		{"invalid UTF-8 in a magic", "%cd \xff\xfe", "no such file"},
		{"invalid UTF-8 in a shell line", "!true \xff\xfe", ""},
		{"a byte order mark first", "\ufeffx := 1\nx", ""},
		{"a byte order mark inside", "x := 1\ny :=\ufeff2", "invalid BOM"},
		{"lines that end in CR LF", "x := 1\r\nif x > 0 {\r\n\tx++\r\n}\r\nx\r\n", ""},
		{"an open string", "x := \"abc\ny := 1", "newline in string"},
		{"an open raw string", "x := `abc\ny := 1", "string not terminated"},
		{"an open comment", "x := 1 /* abc\n", "comment not terminated"},
		{"an open rune", "x := 'a\n", "newline in rune literal"},

		{"10,000 parentheses", "x := " + repeat("(", 10000) + "1" + repeat(")", 10000), "brackets nested more than 1000 deep"},
		{"900 parentheses", "x := " + repeat("(", 900) + "1" + repeat(")", 900), ""},
		{"10,000 blocks", repeat("{", 10000) + repeat("}", 10000), "brackets nested more than 1000 deep"},
		{"900 blocks", repeat("{", 900) + repeat("}", 900), ""},
		{"10,000 open brackets", repeat("[", 10000), "brackets nested more than 1000 deep"},
		{"10,000 pointers", "var x " + repeat("*", 10000) + "int", "nested more than 3000 deep"},
		{"2,000 slices", "var x " + repeat("[]", 2000) + "int", ""},
		{"100,000 summands", "x := 0" + repeat("+1", 100000), "nest"},
		{"2,000 summands", "x := 0" + repeat("+1", 2000), ""},
		{"10,000 signs", "x := " + repeat("!", 10000) + "true", "nest"},
		{"functions in functions", repeat("func() {", 400) + repeat("}()", 400), ""},
		{"else after else", "if false {}" + repeat(" else if false {}", 2000), ""},

		{"a string of a megabyte", "len(\"" + repeat("x", 1_000_000) + "\")", ""},
		{"a table of a megabyte", "len([]int{" + repeat("1234567,", 125_000) + "})", ""},
		{"a line of a megabyte that is wrong", "x := \"" + repeat("x", 1_000_000) + "\" 1", "unexpected literal 1"},
		{"20,000 statements", "n := 0\n" + lines(20000, "n += %d\n") + "n", ""},
		{"2,000 declarations", lines(2000, "func bad%d() int { return 1 }\n"), ""},
		{"20,000 errors", lines(20000, "un%d()\n"), "(and 9 more)"},
		{"a name of 10,000 letters", repeat("n", 10000) + " := 1", ""},
		{"a number of a million digits", "const c = 1" + repeat("0", 1_000_000), "excessively long constant"},
		{"a constant of 400 digits", "x := 1" + repeat("0", 400), "overflow"},
		{"a shift by 100,000", "x := 1 << 100000", "invalid shift count"},

		{"our function's name", "cell__7 := 1", "a name that the notebook gives itself"},
		{"the interpreter's names", "x__3 := 1", map[string]string{"yaegi": "a name that ends in two underscores"}[engineName()]},
		{"a type that holds itself", "type R struct{ r R }", "invalid recursive type"},
		{"types that hold each other", "type A struct{ b B }\ntype B struct{ a A }", "invalid recursive type"},
		{"an array of itself", "type R [2]R", "invalid recursive type"},
		{"a type that is itself", "type R R", "invalid recursive type"},
		{"a recursive type", "type R struct{ r *R; m map[string]R; f func(R) R }\nR{}", ""},
		{"variables in a circle", "var va = vb\nvar vb = va", "initialization cycle"},
		{"an import of C", "import \"C\"", "could not import C"},
		{"an unknown module", "import \"example.com/none\"\nnone.F()", "could not import example.com/none"},
		{"an import of nothing", "import \"\"", "import"},
		{"a broken import path", "import \"a b\\x00\"", "import"},
		{"an assignment to a literal", "func foo() { 1 = 1 }", "cannot assign to 1"},
		{"a label alone", "L:", "label L defined and not used"},
		{"nothing but space", " \n\t\r\n", ""},
		{"a percent sign", "%", "unknown magic %"},
		{"a thousand magics", repeat("%pwd\n", 1000), "more than 200 magics"},
	}
}

type badInput struct{ name, code, want string }

// TestBadInput runs each bad cell, asks about it, and expects the kernel to go
// on as if it had not been there.
func TestBadInput(t *testing.T) {
	k := start(t)
	run(k, 1, "keep := 41\ntype kept struct{ a int }\nfunc keeper(k kept) int { return keep + k.a }")
	for _, bad := range badInputs() {
		t.Run(bad.name, func(t *testing.T) {
			began := time.Now()
			r := k.Execute(bad.code)
			outputs := r.UntilIdle()
			var reply kerneltest.ExecuteReply
			r.Reply(&reply)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			switch {
			case bad.want == "" && reply.Status != "ok":
				t.Errorf("got %s: %s", reply.EName, reply.EValue)
			case bad.want != "" && (reply.Status != "error" || !strings.Contains(reply.EValue, bad.want)):
				t.Errorf("got %s: %s: %s; want %q", reply.Status, reply.EName, reply.EValue, bad.want)
			case len(reply.Text()) > 20_000:
				t.Errorf("the traceback has %d bytes", len(reply.Text()))
			}
			if bad.want != "" && outputs[len(outputs)-1].Header.MsgType != "error" {
				t.Errorf("the last output is %v", outputs[len(outputs)-1])
			}
			n := utf8.RuneCountInString(bad.code)
			for _, cursor := range []int{0, n / 2, n} {
				ask(k, "shell", "complete_request", map[string]any{"code": bad.code, "cursor_pos": cursor}, nil)
				ask(k, "shell", "inspect_request", map[string]any{"code": bad.code, "cursor_pos": cursor, "detail_level": 1}, nil)
			}
			ask(k, "shell", "is_complete_request", map[string]any{"code": bad.code}, nil)
			if got, _ := shown(t, k, "keeper(kept{1}) + keep", false); strings.Join(got, "\n") != "= 83" {
				t.Errorf("afterwards the notebook shows %q", got)
			}
		})
	}
}
