package yaegi

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// Whatever checks is lowered to text that parses, or is refused.
func FuzzLower(f *testing.F) {
	for _, s := range enginetest.Scripts(f) {
		for _, c := range s.Cells {
			f.Add(c.Source)
		}
	}
	f.Add("type K struct{}\nfunc (K) m()\nfunc f()\n0")
	nb := enginetest.Open(f, newEngine)
	for _, source := range []string{
		"type T struct{ a int; b string }\nfunc (t T) M() int { return t.a }\nfunc (t *T) Set(a int) { t.a = a }\nfunc f(x, y int) int { return x + y }",
		"x := T{1, \"a\"}\ny := []T{x}\nvar e error\nvar m map[string]int",
		"type G[P any] struct{ p P }\nfunc (g *G[P]) Set(p P) { g.p = p }\nfunc id[P any](p P) P { return p }\nconst k = 1\nid(G[int]{1})",
		"type I interface{ M() int }\nvar i I = x",
	} {
		mustRun(f, nb, source)
	}
	e := nb.Engine.(*Engine)
	f.Fuzz(func(t *testing.T, source string) {
		c, err := nb.Scope.Check(9, source)
		if err != nil {
			return
		}
		text := e.Lowered(c)
		if strings.HasPrefix(text, "error: ") {
			return
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil {
			t.Errorf("%q is lowered to text that does not parse: %v\n%s", source, err, text)
		}
	})
}
