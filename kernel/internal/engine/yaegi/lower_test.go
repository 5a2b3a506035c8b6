package yaegi

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testdata/lower.txt holds cells and the text that the last is lowered to:
// "=== name", cells separated by "---", ">>>", text.
func TestLoweredText(t *testing.T) {
	const file = "testdata/lower.txt"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, part := range strings.Split("\n"+string(b), "\n=== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		source, want, _ := strings.Cut(body, "\n>>>\n")
		cells := strings.Split(source, "\n---\n")
		nb := enginetest.Open(t, newEngine)
		for _, c := range cells[:len(cells)-1] {
			mustRun(t, nb, c)
		}
		c, err := nb.Scope.Check(len(cells), cells[len(cells)-1])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := tidy(nb.Engine.(*Engine).Lowered(c))
		if got != strings.TrimRight(want, "\n") && !*update {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		out.WriteString("=== " + name + "\n" + source + "\n>>>\n" + got + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tidy drops the blanks that comments and line directives leave, and the lines
// that all lowered texts have.
func tidy(s string) string {
	var r []string
	for _, l := range strings.Split(s, "\n") {
		l = strings.Join(strings.Fields(l), " ")
		if l != "" && l != "package main" && l != `import host__0 "host__0"` && !strings.HasPrefix(l, "func init() {") {
			r = append(r, l)
		}
	}
	return strings.Join(r, "\n")
}

func TestMarksLeadBackToTheSource(t *testing.T) {
	nb := enginetest.Open(t, newEngine)
	const source = "func f(xs []int, i int) int {\n\t// a comment\n\treturn xs[i] +\n\t\txs[0]\n}\nif f(nil, 1) > 0 { panic(3) }"
	c, err := nb.Scope.Check(7, source)
	if err != nil {
		t.Fatal(err)
	}
	e := nb.Engine.(*Engine)
	p, err := lowerCell(e.nb, e.lib, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		text string
		spot string // cell, line, column, function
	}{
		{"xs[i]", "7:3:9 f"},
		{"xs[0]", "7:4:3 f"},
		{"f(nil, 1)", "7:6:4 "},
		{"panic(3)", "7:6:20 "},
		{"host__0.Cell(", "none"},
	} {
		got := "none"
		if sp := p.spot(strings.Index(p.text, want.text)); sp != nil {
			f := sp.frame()
			got = strings.Join([]string{strconv.Itoa(f.Cell), strconv.Itoa(f.Line), strconv.Itoa(f.Col)}, ":") + " " + f.Func
		}
		if got != want.spot {
			t.Errorf("%q comes from %s, want %s", want.text, got, want.spot)
		}
	}
}

func TestCommentsAreBlanked(t *testing.T) {
	for in, want := range map[string]string{
		"a // b\nc":         "a     \nc",
		"a /* b\nc */ d":    "a     \n     d",
		"s := \"// no\"":    "s := \"// no\"",
		"`/* no */` // x":   "`/* no */`     ",
		"'/' /**/ \"/**/\"": "'/'      \"/**/\"",
	} {
		if got := string(blankComments([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
