package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// TestNotebooks runs the notebooks of testdata in a kernel, one kernel each. A
// line "=== name" begins a notebook, three dashes separate its cells, and the
// lines at the end of a cell that begin with one of
//
//	>  a line on standard output
//	2> a line on standard error; "2> …" is any number of them
//	=  the line of a shown value
//	!  an error's name and text
//	|  what lines of its traceback contain, in their order
//
// say what the cell shows, in order; "…" at a line's end is any rest. A cell with the comment "// interrupt"
// is interrupted once it has printed something. A name may end in [yaegi] or
// [vm]: then it is of that engine alone.
func TestNotebooks(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
			title, body, _ := strings.Cut(part, "\n")
			title, of, _ := strings.Cut(strings.TrimSuffix(title, "]"), " [")
			if of != "" && of != engineName() {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txt")+"/"+title, func(t *testing.T) {
				k := start(t)
				for i, chunk := range strings.Split("\n"+body, "\n---\n") {
					code, want := cutShown(chunk)
					got, traceback := shown(t, k, code, slices.Contains(want, anyStderr))
					if w := without(want, "| "); !slices.EqualFunc(got, w, agrees) {
						t.Errorf("In[%d]:\n%s\ngot\n%s\nwant\n%s", i+1, code, strings.Join(got, "\n"), strings.Join(w, "\n"))
					}
					rest := traceback
					for _, l := range want {
						if l, ok := strings.CutPrefix(l, "| "); ok {
							_, after, found := strings.Cut(rest, l)
							if !found {
								t.Errorf("In[%d]:\n%s\nno %q, or not in this place, in the traceback\n%s", i+1, code, l, traceback)
							}
							rest = after
						}
					}
				}
			})
		}
	}
}

// agrees reports whether a line is the one wanted.
func agrees(got, want string) bool {
	if start, ok := strings.CutSuffix(want, "…"); ok && want != anyStderr {
		return strings.HasPrefix(got, start)
	}
	return got == want
}

const anyStderr = "2> …"

var shownMarks = []string{"> ", "2> ", "= ", "! ", "| "}

// cutShown takes the lines off a cell's end that say what it shows.
func cutShown(chunk string) (code string, want []string) {
	lines := strings.Split(strings.Trim(chunk, "\n"), "\n")
	end := len(lines)
	marked := func(line string) bool {
		for _, m := range shownMarks {
			if strings.HasPrefix(line, m) || line == strings.TrimSpace(m) {
				return true
			}
		}
		return false
	}
	for end > 1 && marked(lines[end-1]) {
		end--
	}
	return strings.Join(lines[:end], "\n"), lines[end:]
}

func without(lines []string, mark string) (list []string) {
	for _, l := range lines {
		if !strings.HasPrefix(l, mark) {
			list = append(list, l)
		}
	}
	return list
}

// shown runs a cell and returns what it showed as a notebook of testdata says
// it; abridged stands for what went to standard error.
func shown(t *testing.T, k *kerneltest.Kernel, code string, abridged bool) (lines []string, traceback string) {
	t.Helper()
	r := k.Execute(code)
	var all []kerneltest.Message
	if strings.Contains(code, "// interrupt") {
		r.Busy()
		r.AnyInput()
		r.Stream("stdout", "on\n")
		lines = append(lines, "> on")
		k.Interrupt()
	}
	all = r.UntilIdle()
	r.Reply(nil)
	add := func(mark, text string) {
		for l := range strings.Lines(text) {
			lines = append(lines, strings.TrimRight(mark+strings.TrimSuffix(l, "\n"), " "))
		}
	}
	defer func() {
		lines = slices.CompactFunc(lines, func(a, b string) bool { return a == anyStderr && b == anyStderr })
	}()
	for _, m := range all {
		var content struct {
			Name, Text    string
			Data          map[string]any
			EName, EValue string
		}
		if err := json.Unmarshal(m.Content, &content); err != nil {
			t.Fatal(err)
		}
		switch m.Header.MsgType {
		case "stream":
			if content.Name == "stderr" && abridged {
				lines = append(lines, anyStderr)
			} else if content.Name == "stderr" {
				add("2> ", content.Text)
			} else {
				add("> ", content.Text)
			}
		case "execute_result", "display_data":
			text, _ := content.Data["text/plain"].(string)
			add("= ", text)
		case "error":
			add("! ", content.EName+": "+content.EValue)
			var f kerneltest.Failure
			if err := json.Unmarshal(m.Content, &f); err != nil {
				t.Fatal(err)
			}
			traceback = f.Text()
		}
	}
	return lines, traceback
}
