package cell_test

import (
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

func TestStatus(t *testing.T) {
	for _, c := range []struct{ name, source, status, indent string }{
		{"nothing", "", "complete", ""},
		{"an expression", "x + 1", "complete", ""},
		{"a declaration", "x := 1", "complete", ""},
		{"a whole function", "func f() {\n\treturn\n}", "complete", ""},
		{"what does not type-check", "undefined + 1", "complete", ""},
		{"a comment", "// x", "complete", ""},
		{"an open block", "if x {", "incomplete", "\t"},
		{"two open blocks", "for {\n\tif x {\n\t\ty()", "incomplete", "\t\t"},
		{"an open call", "f(1,", "incomplete", "\t"},
		{"an open literal", "xs := []int{\n\t1,", "incomplete", "\t"},
		{"an operator at the end", "x +", "incomplete", "\t"},
		{"a period at the end", "x.", "incomplete", "\t"},
		{"a define at the end", "x :=", "incomplete", "\t"},
		{"a keyword at the end", "func", "incomplete", "\t"},
		{"an open raw string", "x := `abc", "incomplete", ""},
		{"an open comment", "/* abc", "incomplete", ""},
		{"an open comment in a block", "if x { /* abc", "incomplete", ""},
		{"an open string", `x := "abc`, "invalid", ""},
		{"a bracket too many", "x)", "invalid", ""},
		{"the wrong bracket", "f(]", "invalid", ""},
		{"words", "hello there world", "invalid", ""},
		{"a keyword for a name", "func func", "invalid", ""},
		{"an open bracket after a fault", "x y (", "invalid", ""},
		{"an open block after a fault", "x := 1\nfor for {", "invalid", ""},
		{"a block on the next line", "if x\n{\n}", "invalid", ""},
		{"two defines", "x := := 1", "invalid", ""},
		{"no new variables", "x := 1\nx := 2", "invalid", ""},
		{"an import in the middle", "x := 1\nimport \"fmt\"\nx", "complete", ""},
		{"a line magic", "%who", "complete", ""},
		{"a shell line and Go", "!ls\nx := 1", "complete", ""},
		{"a line magic and an open block", "%cd x\nif y {", "incomplete", "\t"},
		{"an open call that is timed", "%time f(", "incomplete", "\t"},
		{"an open block in a body of main", "%%\nfor {", "incomplete", "\t"},
		{"a magic for the whole cell", "%%bash", "incomplete", ""},
		{"its first line", "%%bash\nfor x in 1; do", "incomplete", ""},
		{"its end", "%%bash\nls\n", "complete", ""},
		{"an unknown magic", "%quack", "invalid", ""},
		{"a program", "package main\nfunc main() {}", "complete", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, indent := cell.Status(c.source)
			if status != c.status || indent != c.indent {
				t.Errorf("got %s %q, want %s %q", status, indent, c.status, c.indent)
			}
		})
	}
}

// TestIncompleteIsSaidByCheckToo holds Check to what Status says.
func TestIncompleteIsSaidByCheckToo(t *testing.T) {
	s := newScope(t)
	for source, want := range map[string]bool{"if true {": true, "x +": true, "`a": true, "x)": false, "undefined": false, "x y": false} {
		_, err := s.Check(1, source)
		d, ok := err.(cell.Diagnostics)
		if !ok || len(d) == 0 || d[0].Incomplete != want {
			t.Errorf("%s: %v, want Incomplete %v", source, d, want)
		}
	}
}

func TestManyErrorsAreCutToTen(t *testing.T) {
	_, err := newScope(t).Check(1, strings.Repeat("undefined\n", 50))
	if d, ok := err.(cell.Diagnostics); !ok || len(d) != 10 || d[9].Line != 10 {
		t.Errorf("got %d errors: %v", len(d), err)
	}
}
