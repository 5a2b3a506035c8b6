package cell_test

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

func TestTry(t *testing.T) {
	s := cell.NewScope(exports.Importer(), cell.Prelude{Imports: map[string]string{"strings": "strings", "strconv": "strconv", "fmt": "fmt", "os": "os"}})
	for i, src := range []string{
		"x := 1\nfunc inc() { x++ }\ninc()\nx",
		"x := strconv.Itoa(x) ; x",
		"a, err := os.ReadFile(x)\nb, err := os.ReadFile(x)\nvar c, _ error = err, nil\nvar z struct{\n\ta int\n}\nfmt.Println(a, b)",
		"x := foo(1)",
		"y := x +\n  1",
		"y",
		"strings := strings.Split(x, \",\")\nstrings",
		"f := func() { f() }",
		"import \"math/rand\"\nrand := rand.Int()\nrand",
		"max := max(1,2)",
		"1 + 2;",
		"for i := range 3 { i }\nos.ReadFile(`a`)",
		"var x = 3\nfunc main() { println(x) }",
		"p := &z\np.a",
	} {
		c, err := s.Check(i+1, src)
		if err != nil {
			t.Logf("%s\nERR %v", src, err)
			continue
		}
		t.Logf("%s\n--\n%s\n%v %v show=%v main=%v rep=%v", src, c.Text, c.Hoisted, c.Imports, c.Show, c.Main, c.Replaces)
		s.Commit(c)
	}
}
