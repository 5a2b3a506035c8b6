package history

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

func open(t *testing.T, name string) *Log {
	t.Helper()
	return Open(name, slog.New(slog.NewTextHandler(testLog{t}, nil)))
}

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) { l.t.Logf("%s", p); return len(p), nil }

// session runs cells in a session of their own.
func session(t *testing.T, name string, inputs ...string) {
	l := open(t, name)
	for i, input := range inputs {
		l.Add(i+1, input)
	}
	l.Close()
}

// text writes entries as "session:line input", with the output if there is one.
func text(entries []Entry) string {
	var list []string
	for _, e := range entries {
		s := fmt.Sprintf("%d:%d %s", e.Session, e.Line, e.Input)
		if e.Output != nil {
			s += " = " + *e.Output
		}
		list = append(list, s)
	}
	return strings.Join(list, "|")
}

func at(n int) *int { return &n }

func TestFind(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state", "history.jsonl")
	session(t, name, "a", "b\nc", "a")
	session(t, name, "old", "x.*y")
	l := open(t, name)
	defer l.Close()
	for i, input := range []string{"one", "a", " \n", "three"} {
		l.Add(i+1, input)
	}
	l.SetOutput(4, "3")
	for _, test := range []struct {
		name string
		req  wire.HistoryRequest
		want string
	}{
		{"the tail", wire.HistoryRequest{HistAccessType: "tail", N: 2}, "3:2 a|3:4 three = 3"},
		{"a tail that begins in an earlier session", wire.HistoryRequest{HistAccessType: "tail", N: 4}, "2:2 x.*y|3:1 one|3:2 a|3:4 three = 3"},
		{"all", wire.HistoryRequest{HistAccessType: "tail", N: 99}, "1:1 a|1:2 b\nc|1:3 a|2:1 old|2:2 x.*y|3:1 one|3:2 a|3:4 three = 3"},
		{"a range, its end left out", wire.HistoryRequest{HistAccessType: "range", Start: 1, Stop: at(3)}, "0:1 one|0:2 a"},
		{"a range to the end", wire.HistoryRequest{HistAccessType: "range", Start: 2}, "0:2 a|0:4 three = 3"},
		{"from behind", wire.HistoryRequest{HistAccessType: "range", Start: -3, Stop: at(-1)}, "0:2 a"},
		{"of this session, by its number", wire.HistoryRequest{HistAccessType: "range", Session: 3, Start: 1, Stop: at(2)}, "3:1 one"},
		{"of the session before", wire.HistoryRequest{HistAccessType: "range", Session: -1, Start: 1}, "2:1 old|2:2 x.*y"},
		{"of an earlier session, by its number", wire.HistoryRequest{HistAccessType: "range", Session: 1, Start: 2}, "1:2 b\nc|1:3 a"},
		{"of a session that never was", wire.HistoryRequest{HistAccessType: "range", Session: -9, Start: 1}, ""},
		{"of a session to come", wire.HistoryRequest{HistAccessType: "range", Session: 9, Start: 1}, ""},
		{"a pattern is of the whole cell", wire.HistoryRequest{HistAccessType: "search", Pattern: "a"}, "1:1 a|1:3 a|3:2 a"},
		{"a star stands for lines", wire.HistoryRequest{HistAccessType: "search", Pattern: "b*c"}, "1:2 b\nc"},
		{"a question mark is one character", wire.HistoryRequest{HistAccessType: "search", Pattern: "???"}, "1:2 b\nc|2:1 old|3:1 one"},
		{"a set", wire.HistoryRequest{HistAccessType: "search", Pattern: "[n-p]*"}, "2:1 old|3:1 one"},
		{"the other characters", wire.HistoryRequest{HistAccessType: "search", Pattern: "[^a-w]*"}, "2:2 x.*y"},
		{"a set that is none", wire.HistoryRequest{HistAccessType: "search", Pattern: "[a"}, ""},
		{"a set in the wrong order", wire.HistoryRequest{HistAccessType: "search", Pattern: "[z-a]"}, ""},
		{"others stand for themselves", wire.HistoryRequest{HistAccessType: "search", Pattern: "x.\\*y"}, ""},
		{"a dot is a dot", wire.HistoryRequest{HistAccessType: "search", Pattern: "x.[*]y"}, "2:2 x.*y"},
		{"no pattern is any", wire.HistoryRequest{HistAccessType: "search", N: 2}, "3:2 a|3:4 three = 3"},
		{"each once, where last", wire.HistoryRequest{HistAccessType: "search", Pattern: "?", Unique: true}, "3:2 a"},
		{"an unknown way", wire.HistoryRequest{HistAccessType: "guess"}, ""},
	} {
		if got := text(l.Find(test.req)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestSeveralKernelsAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history.jsonl")
	const kernels, each = 4, 50
	var all sync.WaitGroup
	for range kernels {
		all.Go(func() {
			l := open(t, name)
			for i := range each {
				l.Add(i+1, fmt.Sprintf("line %d\n", i+1))
			}
			l.Close()
		})
	}
	all.Wait()
	entries, err := read(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]int{} // the last of each session
	for _, e := range entries {
		if e.Line != 0 && e.Line != lines[e.Session]+1 {
			t.Errorf("line %d of session %d comes after %d", e.Line, e.Session, lines[e.Session])
		}
		lines[e.Session] = e.Line
	}
	for n := 1; n <= kernels; n++ {
		if lines[n] != each {
			t.Errorf("session %d has %d lines, want %d", n, lines[n], each)
		}
	}
}

func TestAnotherKernelsLinesAreFound(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history.jsonl")
	l := open(t, name)
	defer l.Close()
	l.Find(wire.HistoryRequest{HistAccessType: "tail"}) // it is session 1
	session(t, name, "theirs")
	if got := text(l.Find(wire.HistoryRequest{HistAccessType: "tail", N: 5})); got != "2:1 theirs" {
		t.Errorf("%q", got)
	}
}

func TestBrokenFiles(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"empty", "", "1:1 new"},
		{"binary", "\x00\xff\x7fELF\n\n\x01", "1:1 new"},
		{"a line that was cut off", `{"session":7,"line":1,"input":"old"}` + "\n" + `{"session":7,"li`, "7:1 old|8:1 new"},
		{"another program's lines", `[1,2]` + "\n" + `{"session":"x"}` + "\n" + `{"session":-3,"line":1}` + "\n" + `{"session":2,"line":4,"input":"ours"}` + "\n", "2:4 ours|3:1 new"},
	} {
		name := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(name, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, name)
		l.Add(1, "new")
		if got := text(l.Find(wire.HistoryRequest{HistAccessType: "tail", N: 9})); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		l.Close()
		entries, err := read(name)
		if err != nil || !strings.HasSuffix(text(entries), "new") {
			t.Errorf("%s: kept %q, %v", test.name, text(entries), err)
		}
	}
}

func TestWhereNothingCanBeKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"turned off": "", "a directory in its place": dir, "a file in the place of its directory": filepath.Join(file, "history.jsonl")}
	if os.Getuid() != 0 { // who may write anywhere
		names["a home that is read-only"] = filepath.Join(closed, "history.jsonl")
	}
	for what, name := range names {
		l := open(t, name)
		l.Add(1, "x")
		if got := text(l.Find(wire.HistoryRequest{HistAccessType: "tail", N: 9})); got != "1:1 x" {
			t.Errorf("%s: %q", what, got)
		}
		l.Close()
	}
}

func TestTheFileIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history.jsonl")
	l := open(t, name)
	input := strings.Repeat("x", 100_000)
	for i := range 100 { // 10 MB
		l.Add(i+1, fmt.Sprint(i+1, input))
	}
	l.Add(101, strings.Repeat("y", maxInput+1)) // one that is not kept
	l.Close()
	<-l.ended
	info, err := os.Stat(name)
	if err != nil || info.Size() > maxFile || info.Size() < maxFile/3 || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, %v, %v", info.Size(), info.Mode(), err)
	}
	entries, err := read(name)
	if err != nil || len(entries) == 0 || entries[len(entries)-1].Line != 100 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	left, _ := os.ReadDir(filepath.Dir(name))
	if len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
	session(t, name, "next")
	if entries, _ = read(name); entries[len(entries)-1].Session != 2 {
		t.Errorf("the next session is %d", entries[len(entries)-1].Session)
	}
}

func TestFile(t *testing.T) {
	for _, test := range []struct{ history, state, home, want string }{
		{"", "", "/home/u", "/home/u/.local/state/branchbook/history.jsonl"},
		{"", "/state", "/home/u", "/state/branchbook/history.jsonl"},
		{"", "relative", "/home/u", "/home/u/.local/state/branchbook/history.jsonl"},
		{"/mine", "/state", "/home/u", "/mine"},
		{"off", "/state", "/home/u", ""},
		{"", "", "", ""},
	} {
		t.Setenv("BRANCHBOOK_HISTORY", test.history)
		t.Setenv("XDG_STATE_HOME", test.state)
		t.Setenv("HOME", test.home)
		if got := File(); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// A session knows its newest cells, however long it lives.
func TestASessionIsBounded(t *testing.T) {
	l := Open("", slog.New(slog.DiscardHandler))
	defer l.Close()
	long := strings.Repeat("x", 10_000)
	const cells = 3000
	for line := range cells {
		l.Add(line+1, long)
		l.SetOutput(line+1, long)
	}
	sum := 0
	found := l.Find(wire.HistoryRequest{HistAccessType: "tail"})
	for _, e := range found {
		sum += size(e)
	}
	if sum > maxOwn || sum < maxOwn/3 || found[len(found)-1].Line != cells || found[0].Line != cells-len(found)+1 {
		t.Errorf("%d bytes in lines %d to %d", sum, found[0].Line, found[len(found)-1].Line)
	}
}
