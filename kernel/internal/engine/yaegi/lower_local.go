package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Types and constants inside functions.
//
// yaegi confuses local types of the same name. They move to package level,
// named after their function:
//
//	func f() { type T struct{}; var x T }
//	type T__f_1 struct{}; func f() { var x T__f_1 }

// localSpecs are the types that a function declares.
func localSpecs(fn ast.Node) []*ast.TypeSpec {
	var r []*ast.TypeSpec
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok {
			r = append(r, s)
		}
		return true
	})
	return r
}

// moveLocals moves the local types of an instance of something generic: each
// instance has its own.
func (l *lowering) moveLocals(fn ast.Node, owner string) {
	specs := localSpecs(fn)
	if len(specs) == 0 {
		return
	}
	for i, s := range specs {
		o := l.src.info.Defs[s.Name].(*types.TypeName)
		if o.IsAlias() {
			continue
		}
		n := l.add(s.Name.Name, typeName)
		n.current = s.Name.Name + "__" + owner + "_" + strconv.Itoa(i+1)
		moved := types.NewTypeName(o.Pos(), o.Pkg(), o.Name(), nil)
		types.NewNamed(moved, types.Typ[types.Int], nil)
		l.locals[o] = moved.Type().(*types.Named)
		l.assigned[moved] = n
		l.localNames[moved] = nameRef(n.id)
	}
	for _, s := range specs {
		o := l.src.info.Defs[s.Name].(*types.TypeName)
		if moved := l.locals[o]; moved != nil {
			moved.SetUnderlying(l.subst(o.Type().Underlying()).Underlying())
			l.known["main."+l.localNames[moved.Obj()]] = moved
			l.pieces = append(l.pieces, &piece{name: l.assigned[moved.Obj()], text: "type " + l.localNames[moved.Obj()] + " " + l.definition(s, l.localNames[moved.Obj()]) + l.marking(moved, l.localNames[moved.Obj()]), src: l.src, pos: s.Pos(), holds: l.holds(l.typeOf(s.Type))})
		}
	}
}

// declStmt drops local types and constants, which are elsewhere.
func (l *lowering) declStmt(d *ast.DeclStmt) (string, bool) {
	g, ok := d.Decl.(*ast.GenDecl)
	if !ok {
		return "", false
	}
	switch g.Tok {
	case token.TYPE, token.CONST:
		return "", true
	case token.VAR:
		return l.localVar(g), true
	}
	return "", false
}

// localVar renders local variables. A var statement in a loop does not make
// new variables for yaegi, := does. Nor does it take what a literal returns:
//
//	var n = func() int { return 1 }()
//	v__1 := func() int { return 1 }(); var n = v__1
func (l *lowering) localVar(g *ast.GenDecl) string {
	var b strings.Builder
	for i, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		if len(v.Names) == 2 && len(v.Values) == 1 {
			l.receiveOnly(v.Values[0])
		}
		if i > 0 {
			b.WriteString("; ")
		}
		var names []string
		for _, n := range v.Names {
			names = append(names, l.text(n))
		}
		var vs []string
		if len(v.Values) > 1 {
			l.apart(v.Values)
		}
		for _, e := range v.Values {
			s := l.text(e)
			if len(v.Values) == len(names) && callsLiteral(e) {
				k := l.fresh("v")
				b.WriteString(k + " := " + s + "; ")
				s = k
			}
			vs = append(vs, s)
		}
		b.WriteString("var " + strings.Join(names, ", "))
		if v.Type != nil {
			b.WriteString(" " + l.text(v.Type))
		}
		if len(v.Values) > 0 {
			if v.Type != nil && len(vs) == len(names) {
				for i, e := range v.Values {
					vs[i] = l.converted(e, vs[i], l.typeOf(v.Type))
				}
			}
			b.WriteString(" = " + strings.Join(vs, ", "))
		}
		for _, n := range names {
			if n := unmarked(n); n != "_" {
				b.WriteString("; _ = " + n)
			}
		}
	}
	return b.String()
}

// callsLiteral tells calls of function literals.
func callsLiteral(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	_, ok = ast.Unparen(c.Fun).(*ast.FuncLit)
	return ok
}
