package yaegi

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/symbols"
)

// What cells may import, they can run: the types and the values are those of
// the same packages.
func TestEveryPackageWithTypesHasValues(t *testing.T) {
	names := exports.Names()
	for path := range names {
		if symbols.Table(path) == nil {
			t.Errorf("%s has types and no values", path)
		}
	}
	for _, path := range symbols.Paths() {
		if names[path] == "" {
			t.Errorf("%s has values and no types", path)
		}
	}
}
