package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Package is an imported package that runs from its source, as a third-party
// module's does: no compiled functions of it are there.
type Package struct {
	Path  string
	Fset  *token.FileSet
	Files []*ast.File
	Text  [][]byte // of Files
	Types *types.Package
	Info  *types.Info // all that Check fills in for a cell, of all Files
}

// SourceImporter is an importer some of whose packages run from their source.
// The one that a Scope gets may be one.
type SourceImporter interface {
	types.Importer
	// Source lists what must be loaded before code may use the packages: those
	// of them that run from their source and what they import, imported ones
	// first.
	Source(pkgs []*types.Package) []*Package
}

// packages lists the packages that the cell's imports need from their source.
func (k *check) packages(c *Cell) []*Package {
	imp, ok := k.imp.(SourceImporter)
	if !ok {
		return nil
	}
	var list []*types.Package
	for _, spec := range c.File.Imports {
		if p := importedBy(c.Info, spec); p != nil {
			list = append(list, p.Imported())
		}
	}
	return imp.Source(list)
}

// importedBy returns what an import declares, if only a blank.
func importedBy(info *types.Info, spec *ast.ImportSpec) *types.PkgName {
	o := info.Implicits[spec]
	if spec.Name != nil {
		o = info.Defs[spec.Name]
	}
	p, _ := o.(*types.PkgName)
	return p
}
