package cell

import (
	"go/ast"
	"go/types"
)

// nameElements finds the struct literals without field names whose type is of
// an earlier cell, and sets the keys that the text gives their elements. Go
// allows such literals in the package of the type; to the type checker an
// earlier cell is another one, of the same path, and names are in order.
func (k *check) nameElements(c *Cell) bool {
	if c.Info == nil {
		return false
	}
	splits := map[string]*split{fileName(k.n): k.split}
	for _, p := range k.carried {
		splits[fileName(p.n)] = p.src
	}
	found := false
	visit := func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return true
		}
		if _, ok := lit.Elts[0].(*ast.KeyValueExpr); ok {
			return true
		}
		st := structOf(c.Info.Types[lit].Type)
		if st == nil || len(lit.Elts) != st.NumFields() {
			return true
		}
		needs := false
		for f := range st.Fields() {
			needs = needs || !f.Exported() && f.Pkg() != c.Pkg && f.Pkg().Path() == "main"
		}
		for i, e := range lit.Elts {
			pos := k.fset.Position(e.Pos())
			if s := splits[pos.Filename]; needs && s != nil && st.Field(i).Name() != "_" {
				if k.keys[s] == nil {
					k.keys[s] = map[int]string{}
				}
				k.keys[s][s.lines[pos.Line-1]+pos.Column-1] = st.Field(i).Name() + ": "
				found = true
			}
		}
		return true
	}
	ast.Inspect(c.File, visit)
	return found
}

// structOf returns the struct that a literal of type t makes, or nil.
func structOf(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem() // &T{} with the type left out
	}
	st, _ := t.Underlying().(*types.Struct)
	return st
}
