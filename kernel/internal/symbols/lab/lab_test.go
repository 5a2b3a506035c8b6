package lab

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// What cells may import, they can run: the types and the values are those of
// the same packages.
func TestEveryPackageWithTypesHasValues(t *testing.T) {
	names, all := exports.Names(), All()
	for path := range names {
		if all.Table(path) == nil {
			t.Errorf("%s has types and no values", path)
		}
	}
	for _, path := range all.Paths() {
		if names[path] == "" {
			t.Errorf("%s has values and no types", path)
		}
		for name, v := range all.Table(path) {
			if !v.IsValid() {
				t.Errorf("%s.%s has no value", path, name)
			}
		}
	}
}
