package cell

import (
	"go/ast"
	"go/types"
	"iter"
)

// The type checker takes it that every type name of the package's scope is
// declared in its files. Earlier cells' are not: what would make it look for
// the declaration is kept from it by guard and wrap.

// guard returns an error if the cell declares a method of an earlier type that
// the file does not declare again, directly or by an alias.
func (k *check) guard(c *Cell) error {
	specs := map[string]*ast.TypeSpec{}
	for spec := range typeSpecs(c.File) {
		specs[spec.Name.Name] = spec
	}
	for _, p := range k.pieces {
		if p.kind != methodChunk {
			continue
		}
		name := p.recv
		for range len(specs) + 1 {
			if _, ok := c.Pkg.Scope().Lookup(name).(*types.TypeName); ok {
				return &fault{
					off:  k.toks[p.span.first].off,
					msg:  "cannot define new methods on the earlier type " + name,
					hint: "declare the type again in this cell",
				}
			}
			spec := specs[name]
			if spec == nil || !spec.Assign.IsValid() {
				break
			}
			typ := ast.Unparen(spec.Type)
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = ast.Unparen(star.X)
			}
			id, ok := typ.(*ast.Ident)
			if !ok {
				break
			}
			name = id.Name
		}
	}
	return nil
}

// wrap puts earlier types that a type declaration names, as type A T does, in
// parentheses. The function that it returns takes them off.
func (k *check) wrap(c *Cell) (unwrap func()) {
	var wrapped []*ast.TypeSpec
	for spec := range typeSpecs(c.File) {
		id, ok := spec.Type.(*ast.Ident)
		if !ok {
			continue
		}
		if _, ok := c.Pkg.Scope().Lookup(id.Name).(*types.TypeName); ok {
			spec.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
			wrapped = append(wrapped, spec)
		}
	}
	return func() {
		for _, spec := range wrapped {
			spec.Type = spec.Type.(*ast.ParenExpr).X
		}
	}
}

// typeSpecs yields the type declarations of the package.
func typeSpecs(f *ast.File) iter.Seq[*ast.TypeSpec] {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok && !yield(spec) {
					return
				}
			}
		}
	}
}
