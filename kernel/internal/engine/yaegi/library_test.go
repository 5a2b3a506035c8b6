package yaegi

import (
	"go/types"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/stdlib"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// Every function of our sources has the type that the standard library's has.
func TestSourcesAreOfTheStandardLibrarysTypes(t *testing.T) {
	imp := exports.Importer()
	lib := newLibrary(imp)
	for _, path := range stdlib.Paths {
		p := lib.pkg(path)
		if p == nil {
			t.Errorf("no source of %s", path)
			continue
		}
		real, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for name := range p.names {
			ours, theirs := p.src.pkg.Scope().Lookup(name), real.Scope().Lookup(name)
			if theirs == nil {
				t.Errorf("%s has no %s", path, name)
				continue
			}
			if _, ok := ours.(*types.Func); !ok {
				continue
			}
			a, b := typeParams(ours), typeParams(theirs)
			if a != b {
				t.Errorf("%s.%s has type parameters %s, want %s", path, name, a, b)
			}
		}
	}
}

// typeParams lists the core types of the type parameters in order, which is
// what instances rely on.
func typeParams(o types.Object) string {
	var r []string
	for p := range o.(*types.Func).Signature().TypeParams().TypeParams() {
		r = append(r, types.TypeString(p.Constraint().Underlying(), func(*types.Package) string { return "" }))
	}
	s := strings.Join(r, "; ")
	return s
}
