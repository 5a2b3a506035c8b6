package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// early finds the identifiers that mean a hoisted variable but stand before
// its declaration, as the second x of x := f(x), and what they are to be
// called so that they mean what the name meant before the cell. Names are by
// offset.
func (k *check) early(c *Cell) map[int]string {
	if c.Info == nil || !k.suspect() {
		return nil
	}
	renames := map[int]string{}
	find := func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v := k.hoisted[id.Name]
		o := c.Info.Uses[id]
		if v == nil || o == nil || o.Parent() != c.Pkg.Scope() {
			return true
		}
		off, ok := k.offset(id.Pos())
		if !ok || off >= k.toks[v.end-1].end || k.declares(v, off) {
			return true
		}
		if name := k.meaning(id.Name); name != "" {
			renames[off] = name
		} else {
			k.undefined(off, id.Name, v)
		}
		return true
	}
	ast.Inspect(k.decls, find)
	if c.Body != nil {
		ast.Inspect(c.Body, find)
	}
	return renames
}

// suspect reports whether the name of a hoisted variable stands anywhere
// before the end of its declaration, but where it is declared.
func (k *check) suspect() bool {
	for i, t := range k.toks {
		if t.tok != token.IDENT {
			continue
		}
		if v := k.hoisted[k.name(i)]; v != nil && i < v.end && !slices.Contains(v.names, i) {
			return k.decls != nil
		}
	}
	return false
}

// declares reports whether a name that v declares stands at off.
func (k *check) declares(v *vars, off int) bool {
	return slices.ContainsFunc(v.names, func(n int) bool { return k.toks[n].off == off })
}

// meaning returns the name under which the text may use what name meant
// before the cell; "" if it meant nothing.
func (k *check) meaning(name string) string {
	if a := k.alias[name]; a != "" {
		return a
	}
	if e := k.live.names[name]; e != nil {
		return "cell__" + itoa(e.cell) + "_" + name
	}
	return ""
}

// undefined reports the use of a variable before the statement that declares
// it.
func (k *check) undefined(off int, name string, v *vars) {
	line, _ := k.position(k.toks[v.start].off)
	if types.Universe.Lookup(name) != nil {
		k.fail(off, "choose another name than that of the predeclared "+name, "%s is the variable that line %d declares", name, line)
		return
	}
	if len(v.values) == 1 && k.at(v.values[0].first) == token.FUNC && off > k.toks[v.start].off {
		k.fail(off, "to call itself, it must be declared before: var "+name+" func(…)", "undefined: %s", name)
		return
	}
	k.fail(off, "line "+itoa(line)+" declares it, which is not before its use", "undefined: %s", name)
}

// standIn puts into the scope an object of the given name that stands for the
// earlier object of the name that it ends with.
func (k *check) standIn(pkg *types.Package, name string) {
	rest, _ := strings.CutPrefix(name, "cell__")
	_, rest, ok := strings.Cut(rest, "_")
	e := k.live.names[rest]
	if !ok || e == nil || pkg.Scope().Lookup(name) != nil {
		return // the alias of an import
	}
	var o types.Object
	switch old := e.obj.(type) {
	case *types.Var:
		o = types.NewVar(old.Pos(), old.Pkg(), name, old.Type())
	case *types.Func:
		o = types.NewFunc(old.Pos(), old.Pkg(), name, old.Signature())
	case *types.Const:
		o = types.NewConst(old.Pos(), old.Pkg(), name, old.Type(), old.Val())
	case *types.TypeName:
		o = types.NewTypeName(old.Pos(), old.Pkg(), name, old.Type())
	default:
		return
	}
	k.old[o] = e.obj
	pkg.Scope().Insert(o)
}
