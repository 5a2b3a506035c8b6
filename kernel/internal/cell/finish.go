package cell

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// finish fills in what a cell that checks says about itself.
func (k *check) finish(c *Cell) {
	for id, o := range c.Info.Uses {
		if old := k.old[o]; old != nil {
			c.Info.Uses[id] = old
		}
	}
	c.Main, c.Vars = k.program, k.decls
	c.named, c.dots = k.named, k.dots
	for _, name := range k.order {
		if v, ok := c.Pkg.Scope().Lookup(name).(*types.Var); ok {
			c.Hoisted = append(c.Hoisted, v)
		}
	}
	for _, name := range c.Pkg.Scope().Names() {
		if o := c.Pkg.Scope().Lookup(name); o.Pkg() == c.Pkg && (c.Body == nil || o != c.Info.Defs[c.Body.Name]) {
			c.Defines = append(c.Defines, o)
		}
	}
	slices.SortFunc(c.Defines, func(a, b types.Object) int { return cmp.Compare(a.Pos(), b.Pos()) })
	c.Info.InitOrder = slices.DeleteFunc(c.Info.InitOrder, func(i *types.Initializer) bool {
		return k.decls != nil && k.decls.FileStart <= i.Rhs.Pos() && i.Rhs.Pos() < k.decls.FileEnd
	})
	c.Imports = usedImports(c)
	c.Packages = k.packages(c)
	c.Show = k.show(c)
	c.Replaces = k.replacements(c)

	c.pieces = slices.Concat(k.carried, k.pieces)
	for i, d := range k.declsOf(c) {
		if i < len(c.pieces) {
			c.pieces[i] = c.pieces[i].noted(d, c)
		}
	}
	c.changed, c.lost = k.changed, map[string]string{}
	for p := range k.failed {
		if p.kind == methodChunk {
			c.dropped = append(c.dropped, p)
		} else {
			for _, name := range p.names {
				c.lost[name] = k.cause(p)
			}
		}
	}
}

// usedImports lists the packages that the file uses, in the order of its
// imports.
func usedImports(c *Cell) (list []*types.PkgName) {
	used := map[*types.PkgName]bool{}
	for _, o := range c.Info.Uses {
		if p, ok := o.(*types.PkgName); ok {
			used[p] = true
		}
	}
	for _, spec := range c.File.Imports {
		if p := importedBy(c.Info, spec); p != nil && (used[p] || p.Name() == ".") {
			list = append(list, p)
		}
	}
	return list
}

// replacements pairs what the cell declares with what had the name, kind and
// type before.
func (k *check) replacements(c *Cell) map[types.Object]types.Object {
	m := map[types.Object]types.Object{}
	for _, o := range c.Defines {
		if e := k.live.names[o.Name()]; e != nil && replaces(o, e.obj) {
			m[o] = e.obj
		}
	}
	return m
}

// lastExpr returns the expression that ends the cell's statements, or nil.
func (k *check) lastExpr(c *Cell) ast.Expr {
	if c.Body == nil || len(c.Body.Body.List) == 0 {
		return nil
	}
	st, ok := c.Body.Body.List[len(c.Body.Body.List)-1].(*ast.ExprStmt)
	if !ok {
		return nil
	}
	return st.X
}

// show returns the expression whose values are for show, or nil.
func (k *check) show(c *Cell) ast.Expr {
	x := k.lastExpr(c)
	if x == nil || c.Info.Types[x].IsVoid() {
		return nil
	}
	for _, ch := range slices.Backward(k.chunks) {
		if ch.kind == stmtChunk || ch.kind == varChunk {
			if ch.semi {
				return nil
			}
			break
		}
	}
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && printer(c.Info, call) {
		return nil
	}
	return x
}

// printer reports whether a call is one of fmt's that print: nobody wants to
// see what they return.
func printer(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return false
	}
	switch strings.TrimPrefix(f.Name(), "F") {
	case "Print", "Printf", "Println", "print", "printf", "println":
		return true
	}
	return false
}
