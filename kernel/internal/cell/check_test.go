package cell_test

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

var prelude = cell.Prelude{Imports: map[string]string{
	"errors": "errors", "fmt": "fmt", "math": "math", "os": "os", "rand": "math/rand/v2", "slices": "slices", "strconv": "strconv", "strings": "strings", "time": "time", "maps": "maps", "path": "path", "missing": "example.com/missing",
}}

// newScope returns a scope in which the cells have run.
func newScope(t testing.TB, cells ...string) *cell.Scope {
	t.Helper()
	s := cell.NewScope(exports.Importer(), prelude)
	for i, src := range cells {
		c, err := s.Check(i+1, src)
		if err != nil {
			t.Fatalf("In[%d]: %v", i+1, err)
		}
		s.Commit(c)
	}
	return s
}
