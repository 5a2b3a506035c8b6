package session

import (
	"regexp"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

var colour = regexp.MustCompile("\x1b\\[[0-9]*m")

func plain(lines []string) string { return colour.ReplaceAllString(strings.Join(lines, "\n"), "") }

func TestExcerpt(t *testing.T) {
	const source = "a := 1\n\tb := é + c\nlast"
	for _, test := range []struct {
		name      string
		line, col int
		want      string
	}{
		{"the caret under the column", 1, 3, "   1 | a := 1\n     |   ^"},
		{"a tab is four columns", 2, 2, "   2 |     b := é + c\n     |     ^"},
		{"behind a letter of two bytes", 2, 12, "   2 |     b := é + c\n     |              ^"},
		{"inside a letter there is no caret", 2, 8, "   2 |     b := é + c"},
		{"behind the line's end", 3, 5, "   3 | last\n     |     ^"},
		{"column unknown", 3, 0, "   3 | last"},
		{"column beyond the line", 3, 99, "   3 | last"},
		{"line beyond the cell", 4, 1, ""},
		{"line unknown", 0, 1, ""},
	} {
		if got := plain(excerpt(source, test.line, test.col)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestCompileFailureShowsAllThatIsWrong(t *testing.T) {
	f := compileFailure(3, "x := a\ny := b", cell.Diagnostics{
		{Line: 1, Col: 6, Msg: "undefined: a", Hint: "did you mean A?"}, {Line: 2, Col: 6, Msg: "undefined: b"},
	})
	if f.name != "CompileError" || f.value != "undefined: a (and 1 more)" {
		t.Errorf("%s: %s", f.name, f.value)
	}
	const want = `Cell In[3], line 1
   1 | x := a
     |      ^
undefined: a
hint: did you mean A?
Cell In[3], line 2
   2 | y := b
     |      ^
undefined: b`
	if got := plain(f.traceback); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFrames(t *testing.T) {
	nb := &Notebook{}
	nb.sources.add(1, "func f() {\n\tf()\n}")
	nb.sources.add(2, "f()")
	got := plain(nb.frames([]worker.Frame{{Cell: 0, Line: 3}, {Cell: 1, Line: 2, Col: 2, Func: "f"}, {Cell: 2, Line: 1}}))
	const want = "Cell In[1], line 2, in f\n   2 |     f()\n     |     ^\nCell In[2], line 1\n   1 | f()"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	deep := make([]worker.Frame, 100)
	for i := range deep {
		deep[i] = worker.Frame{Cell: 1, Line: 2, Func: "f"}
	}
	got = plain(nb.frames(deep))
	if n := strings.Count(got, "in f"); n != 20 || !strings.Contains(got, "… 80 more frames") {
		t.Errorf("of a deep recursion %d frames are shown:\n%s", n, got)
	}
}

func TestNoPartOfAFailureIsEmpty(t *testing.T) {
	nb := &Notebook{}
	for name, f := range map[string]failure{
		"compile":   compileFailure(1, "", cell.Diagnostics{{}}),
		"panic":     nb.runFailure(worker.Failure{Kind: "panic"}),
		"interrupt": nb.runFailure(worker.Failure{Kind: "interrupt"}),
		"unknown":   nb.runFailure(worker.Failure{Kind: "?"}),
		"error":     nb.errorFailure(&cell.Cell{}, ""),
		"death":     deathFailure(&worker.Death{}, loss{}),
	} {
		if f.name == "" || f.value == "" || len(f.traceback) == 0 || strings.Join(f.traceback, "") == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
