package cell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// write shows the steps of a script, one a line: magic(args){body}`go`.
func write(s *cell.Script) string {
	var lines []string
	for _, st := range s.Steps {
		line := ""
		if st.Magic != "" {
			line = fmt.Sprintf("%s(%s)", st.Magic, st.Args)
		}
		if st.Body != "" {
			line += fmt.Sprintf("{%s}", st.Body)
		}
		if st.Go != "" {
			line += fmt.Sprintf("`%s`", st.Go)
		}
		lines = append(lines, line)
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), "\n", "⏎")
}

func TestReadScript(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"Go alone", "x := 5 % 2\nx != 1", "`x := 5 % 2⏎x != 1`"},
		{"nothing", "", ""},
		{"a line magic", "%who", "who()"},
		{"a shell line", "!ls -l", "!(ls -l)"},
		{"a shell line that goes on", "!echo a \\\n  b\nx", "!(echo a \\⏎  b); `⏎⏎x`"},
		{"a shell line that goes on at the end", "!echo a \\", "!(echo a \\)"},
		{"a shell line for a module's directory", "!*go mod tidy", "!(*go mod tidy)"},
		{"magics before Go", "%cd /tmp\n!ls\n\nx := 1\nx", "cd(/tmp); !(ls); `⏎⏎⏎x := 1⏎x`"},
		{"magics before and among Go", "x := 1\n!ls\ny := 2", "`x := 1⏎`; !(ls); `⏎⏎y := 2`"},
		{"magics after Go", "x := 1\n!ls", "`x := 1⏎`; !(ls)"},
		{"only a comment beside the magic", "// list\n!ls\n// done\n", "!(ls)"},
		{"indented", "  %who", "who()"},
		{"carriage returns", "%cd a\r\nx\r\n", "cd(a); `⏎x\r⏎`"},
		{"as a comment for other tools", "//gonb:%who\n//gonb:!ls\nx", "who(); !(ls); `⏎⏎x`"},
		{"a comment that is none of them", "//gonb: who\nx", "`//gonb: who⏎x`"},
		{"a shell line of gophernotes'", "$ls -l\n$ pwd\nx", "!(ls -l); !(pwd); `⏎⏎x`"},
		{"a dollar in a raw string", "x := `\n$ls`", "`x := `⏎$ls``"},
		{"an import of gopherlab's", ":import \"fmt\"\nfmt.Println(1)", "` import \"fmt\"⏎fmt.Println(1)`"},
		{"an import of gopherlab's after a magic", "!ls\n:import \"fmt\"", "!(ls); `⏎ import \"fmt\"`"},
		{"a case with a colon", "switch {\ncase x\n:import()\n}", "`switch {⏎case x⏎:import()⏎}`"},
		{"a function called at the end", "%exec f -x=1\nfunc f() {}", "`⏎func f() {}`; exec(f -x=1)"},
		{"tests at the end", "%test -run=A\nfunc TestA(t *testing.T) {}\n!ls", "`⏎func TestA(t *testing.T) {}⏎`; !(ls); test(-run=A)"},
		{"an operator on the next line of an expression", "x := 7 +\n!y", "`x := 7 +⏎!y`"},
		{"in a raw string", "x := `\n!ls\n%who`", "`x := `⏎!ls⏎%who``"},
		{"in a comment", "/*\n%who\n*/ x", "`/*⏎%who⏎*/ x`"},
		{"in brackets", "f(\n!x)", "`f(⏎!x)`"},
		{"the whole cell", "%%bash\necho a\n%who", "bash(){echo a⏎%who}"},
		{"the whole cell after a line magic", "%cd x\n%%sh\nls", "cd(x); sh(){ls}"},
		{"a file", "\n%%writefile -a f.txt\na\nb", "writefile(-a f.txt){a⏎b}"},
		{"a file of nothing", "%%writefile f.txt", "writefile(f.txt)"},
		{"a statement timed", "%time f(1)\ng()", "time()`      f(1)`; `⏎g()`"},
		{"a statement of several lines timed", "%time for {\n\tf()\n}\ng()", "time()`      for {⏎\tf()⏎}`; `⏎⏎⏎g()`"},
		{"the rest timed", "x := 1\n%time\nf(x)", "`x := 1⏎`; time(); `⏎⏎f(x)`"},
		{"the cell timed", "%%time\nf(1)\ng()", "time(); `⏎f(1)⏎g()`"},
		{"a statement in a loop", "%timeit -n 10 -r3 f(x)", "timeit(-n 10 -r3)`                  f(x)`"},
		{"a negative value in a loop", "%timeit -n * 2", "timeit()`        -n * 2`"},
		{"the cell in a loop", "%%timeit -n 5\na()\nb()", "timeit(-n 5)`⏎a()⏎b()`"},
		{"a body of main", "%%\nx := 1\nf(x) // f", "`{⏎x := 1⏎f(x) // f⏎}`"},
		{"a body of main after declarations", "import \"os\"\n\n%%\nf()", "`import \"os\"⏎⏎{⏎f()⏎}`"},
		{"a body of main with flags", "%% -n=3 a\nf()", "args(-n=3 a); `{flag.Parse();⏎f()⏎}`"},
		{"a body of main under its name", "//gonb:%main\nf()", "`       {⏎f()⏎}`"},
		{"a body of main that is open", "%%\nf(", "`⏎f(`"},
		{"a body of main that is closed", "%%\nf()\n}", "`⏎f()⏎}`"},
		{"a body of main after a magic", "!ls\n%%\nf()", "!(ls); `⏎{⏎f()⏎}`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := cell.ReadScript(c.source)
			if err != nil {
				t.Fatal(err)
			}
			if got := write(s); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTheGoOfAScriptAsOne(t *testing.T) {
	s, err := cell.ReadScript("%cd x\na := 1\n!ls; ls\n%time f(a)\n%timeit g()\nb := 2")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\na := 1\n\n      f(a)\n\nb := 2"; s.Go != want {
		t.Errorf("got %q, want %q", s.Go, want)
	}
}

func TestMagicsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		name, source string
		line, col    int
		msg, hint    string
	}{
		{"a typing error", "x := 1\n%tmie x", 2, 1, "unknown magic %tmie", "did you mean %time? %help lists the magics"},
		{"a typing error in a cell's magic", "%%bsh\nls", 1, 1, "unknown magic %%bsh", "did you mean %%bash?"},
		{"nothing like any", "%quack", 1, 1, "unknown magic %quack", "%help lists the magics"},
		{"a cell's magic as a line", "%bash ls", 1, 1, "unknown magic %bash", "it is written %%bash, as the first line"},
		{"a line's magic as a cell", "%%who", 1, 1, "unknown magic %%who", "it is written %who"},
		{"a percent sign alone", "a := 7\n% 2", 2, 1, "unknown magic %", "%help"},
		{"a cell's magic after Go", "x := 1\n%%bash\nls", 2, 1, "%%bash must come first", "a cell of its own"},
		{"in a body of main", "%%\nf()\n!ls", 3, 1, "cannot stand in the body of main", "before the %%"},
		{"too many", strings.Repeat("!ls\n", 300), 201, 1, "more than 200 magics", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cell.ReadScript(c.source)
			d, ok := err.(cell.Diagnostics)
			if !ok || d[0].Line != c.line || d[0].Col != c.col || !strings.Contains(d[0].Msg, c.msg) || !strings.Contains(d[0].Hint, c.hint) {
				t.Errorf("%v, want %d:%d: %s (%s)", err, c.line, c.col, c.msg, c.hint)
			}
		})
	}
}

func TestPositionsAfterMagics(t *testing.T) {
	s, err := cell.ReadScript("%cd é\n!ls\nx := 1\n%time  wrong(x)")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newScope(t).Check(1, s.Go)
	if d, ok := err.(cell.Diagnostics); !ok || len(d) != 1 || d[0].Line != 4 || d[0].Col != 8 {
		t.Errorf("%v, want an error at 4:8", err)
	}
}

func TestLoop(t *testing.T) {
	scope := newScope(t, "func f() (int, int) { return 1, 2 }\nfunc g() {}")
	for _, c := range []struct{ name, source, want string }{
		{"a value", "  1 + 1", "  [_ = 1 + 1]"},
		{"several values", "f()", "[f()]"},
		{"none", "g()", "[g()]"},
		{"a value at the end", "\nx := 1\nx", "\n[x := 1\n_ = x]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked, err := scope.Check(2, c.source)
			if err != nil {
				t.Fatal(err)
			}
			if got := checked.Loop("[", "]"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzReadScript sees that what a script keeps of a source stands where it
// stood.
func FuzzReadScript(f *testing.F) {
	seeds(f, func(src string) { f.Add(src) })
	f.Add("%cd x\na := 1\n!ls\\\n\n%time f(a)\n%timeit -n 1 g()\n%%\nb")
	f.Fuzz(func(t *testing.T, src string) {
		s, err := cell.ReadScript(src)
		if err != nil {
			return
		}
		lines := strings.Split(src, "\n")
		for _, st := range s.Steps {
			for i, line := range strings.Split(st.Go, "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "{") || strings.TrimSpace(line) == "}" {
					continue // of a body of main
				}
				if kept := strings.TrimLeft(line, " "); kept != "" && (i >= len(lines) || len(line) > len(lines[i]) || lines[i][len(line)-len(kept):len(line)] != kept) {
					t.Errorf("line %d is %q", i+1, line)
				}
			}
		}
	})
}
