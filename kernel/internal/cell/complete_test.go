package cell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

func TestComplete(t *testing.T) {
	s := newScope(t,
		"type pt struct{ X, Y int; inner }\ntype inner struct{ depth int }\nfunc (p *pt) Move(dx int) {}\nfunc (inner) Peek() int { return 0 }",
		"p := pt{}\nptrs := map[string][]*pt{}\nplus := 1",
		"func apply(f func(int) int) {}",
	)
	for _, c := range []struct {
		name   string
		source string   // the cursor stands at |
		want   []string // among the matches; !name: not among them
	}{
		{"a package's members", "strings.Sp|", []string{"Split", "SplitN", "!Replace"}},
		{"members of another case", "strings.spl|", []string{"Split"}},
		{"a package inside an open call", "fmt.Println(strings.Sp|", []string{"Split"}},
		{"all members", "strings.|", []string{"Split", "Replace", "!asciiSpace"}},
		{"a live name", "pl|", []string{"plus", "!p"}},
		{"fields and methods", "p.|", []string{"X", "Y", "Move", "depth", "Peek", "inner"}},
		{"a field by its beginning", "p.d|", []string{"depth", "!X"}},
		{"through map, slice and pointer", `ptrs["a"][0].|`, []string{"X", "Move"}},
		{"through a call's result", `strings.NewReplacer("a", "b").|`, []string{"Replace", "WriteString"}},
		{"in the header of an if", "if p.|", []string{"X"}},
		{"in the header of a for", "for i := 0; i < p.|", []string{"X"}},
		{"in the second part of a header", "if q := p; q.|", []string{"X"}},
		{"in the last part of a header", "for q := p; ; q.|", []string{"X"}},
		{"in a switch's header", "switch p.|", []string{"X"}},
		{"inside a block", "for _, q := range ptrs[\"a\"] {\n\tq.|", []string{"X", "Move"}},
		{"inside a block that is closed", "for _, q := range ptrs[\"a\"] {\n\tq.|\n}\nplus", []string{"X", "Move"}},
		{"before a statement", "q := p\nq.|\nplus++", []string{"X"}},
		{"a parameter", "func f(param1 pt) { par| }", []string{"param1"}},
		{"a parameter's field", "func f(param1 pt) { param1.| }", []string{"X"}},
		{"a variable declared above", "myVar := 1\nmyV|", []string{"myVar"}},
		{"a local declared above", "func f() {\n\tmyVar := 1\n\tmyV|\n}", []string{"myVar"}},
		{"not a local declared below", "func f() {\n\tmyV|\n\tmyVar := 1\n}", []string{"!myVar"}},
		{"a function's parameter in a literal", "apply(func(num int) int { return nu|", []string{"num"}},
		{"a keyword", "fal|", []string{"false", "fallthrough"}},
		{"a package", "strin|", []string{"strings", "string"}},
		{"a type", "var x p|", []string{"pt"}},
		{"a struct's keys", "pt{X|", []string{"X"}},
		{"a struct's keys after another", "pt{X: 1, Y|}", []string{"Y"}},
		{"an array's element is no key", "[]int{pl|}", []string{"plus"}},
		{"after a non-BMP character", `fmt.Println("🙂"); p.M|`, []string{"Move", "!X"}},
		{"on the next line after a non-BMP comment", "// 🙂🙂\np.|", []string{"Move"}},
		{"in the middle of a word", "strings.Sp|lit(1)", []string{"Split", "SplitN"}},
		{"at the start", "|p.X", []string{"p", "strings"}},
		{"in an empty cell", "|", []string{"p", "for"}},
		{"after an error elsewhere", "y := undefinedThing(1)\np.|", []string{"Move"}},
		{"after a broken line", "y := := 1\np.|", []string{"Move"}},
		{"of a variable whose value does not check", "y := p.undefinedThing\ny.|", nil},
		{"methods of a type", "pt.|", []string{"Peek", "!X"}},
		{"in a string", `"p.|"`, nil},
		{"in a string that is open", `"p.|`, nil},
		{"in a raw string", "`p.|`", nil},
		{"in a line comment", "// p.|", nil},
		{"in a block comment", "/* p.| */", nil},
		{"in a number", "12p|", nil},
		{"after a number's point", "12.|", nil},
		{"a magic", "%ti|", []string{"time", "timeit", "!writefile"}},
		{"a magic for the whole cell", "%%|", []string{"bash", "writefile", "!who"}},
		{"a magic after Go", "x := 1\n  %w|\n", []string{"who", "!p"}},
		{"all magics", "%|", []string{"help", "cd", "!bash", "!!"}},
		{"in a magic's arguments", "%cd pl|", nil},
		{"in a shell line", "!pl|", nil},
		{"in the body of a magic", "%%bash\npl|", nil},
		{"in a statement that is timed", "%cd é\n%timeit p.|", []string{"Move", "!who"}},
		{"after a magic", "!ls\np.|", []string{"Move"}},
		{"before a magic", "p.|\n!ls", []string{"Move"}},
		{"in a body of main", "%%\nlocal := p\nlocal.|", []string{"Move"}},
		{"after an unknown magic", "%quack\np.|", []string{"Move"}},
		{"a remainder", "plus %pl|", []string{"plus", "!who"}},
		{"a new variable's fields, itself hiding a live one", "p := strings.Builder{}\np.|", []string{"Grow", "!Move"}},
		{"the earlier variable in the value of the new", "p := p.|", []string{"Move"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after, ok := strings.Cut(c.source, "|")
			if !ok {
				t.Fatal("no cursor")
			}
			got := s.Complete(before+after, len([]rune(before)))
			var texts []string
			for _, m := range got.Matches {
				texts = append(texts, m.Text)
			}
			if len(c.want) == 0 && len(texts) > 0 {
				t.Errorf("matches %q, want none", texts)
			}
			for _, w := range c.want {
				absent, not := strings.CutPrefix(w, "!")
				if not == slices.Contains(texts, absent) {
					t.Errorf("matches %q, want %s", texts, w)
				}
			}
			if got.Matches == nil {
				t.Error("matches are nil")
			}
			if got.End != len([]rune(before)) || got.Start > got.End {
				t.Errorf("replaces %d to %d of a cursor at %d", got.Start, got.End, len([]rune(before)))
			}
		})
	}
}

func TestCompleteSaysWhatAMatchIs(t *testing.T) {
	s := newScope(t, "type pt struct{ X int }\nfunc (pt) Sum(n int) string { return \"\" }\nvar p pt\nconst limit = 3")
	for source, want := range map[string]cell.Match{
		"p.S":   {Text: "Sum", Kind: "function", Detail: "func(n int) string"},
		"p.X":   {Text: "X", Kind: "property", Detail: "int"},
		"p":     {Text: "p", Kind: "instance", Detail: "pt"},
		"pt":    {Text: "pt", Kind: "class", Detail: "struct{X int}"},
		"strco": {Text: "strconv", Kind: "module", Detail: "strconv"},
		"retu":  {Text: "return", Kind: "keyword"},
		"limi":  {Text: "limit", Kind: "instance", Detail: "untyped int"},
	} {
		got := s.Complete(source, len(source))
		if !slices.Contains(got.Matches, want) {
			t.Errorf("%s: %v, want %v", source, got.Matches, want)
		}
	}
}
