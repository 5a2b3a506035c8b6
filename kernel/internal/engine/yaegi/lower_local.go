package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
			l.pieces = append(l.pieces, &piece{name: l.assigned[moved.Obj()], text: "type " + l.localNames[moved.Obj()] + " " + l.definition(s, l.localNames[moved.Obj()]) + l.marking(moved, l.localNames[moved.Obj()]), src: l.src, pos: s.Pos(), holds: l.holds(l.typeOf(s.Type)), parts: l.parts(l.typeOf(s.Type))})
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

// localVar renders local variables. A var statement with a value makes no new
// variables in a loop for yaegi, and loses what function literals return; :=
// is right:
//
//	var x T = y
//	x := T(y)
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
		b.WriteString(l.varSpec(v, names))
		for _, n := range names {
			if n := unmarked(n); n != "_" {
				b.WriteString("; _ = " + n)
			}
		}
	}
	return b.String()
}

func (l *lowering) varSpec(v *ast.ValueSpec, names []string) string {
	blank := func(n string) bool { return unmarked(n) == "_" }
	switch {
	case len(v.Values) == 1 && len(names) > 1 && v.Type == nil && !slices.ContainsFunc(names, blank):
		return strings.Join(names, ", ") + " := " + l.text(v.Values[0])
	case len(v.Values) != len(names):
		typ, values := "", ""
		if v.Type != nil {
			typ = " " + l.text(v.Type)
		}
		if len(v.Values) > 0 {
			values = " = " + l.text(v.Values[0])
		}
		return "var " + strings.Join(names, ", ") + typ + values
	}
	if len(names) > 1 {
		l.apart(v.Values)
	}
	var pre, sets []string
	for i, e := range v.Values {
		s, ok := l.varValue(v, e)
		switch {
		case blank(names[i]):
			pre = append(pre, "_ = "+s)
		case !ok:
			sets = append(sets, "var "+names[i]+" "+l.text(v.Type)+" = "+s)
		case len(names) == 1:
			sets = append(sets, names[i]+" := "+s)
		default: // the names hide others only when all values are there
			k := l.fresh("v")
			pre, sets = append(pre, k+" := "+s), append(sets, names[i]+" := "+k)
		}
	}
	return strings.Join(append(pre, sets...), "; ")
}

// varValue renders the value of a variable with its type; ok is false where
// that takes a var statement.
func (l *lowering) varValue(v *ast.ValueSpec, e ast.Expr) (s string, ok bool) {
	s = l.text(e)
	if v.Type == nil {
		return s, true
	}
	to, from, tv := l.typeOf(v.Type), l.typeOf(e), l.src.info.Types[e]
	switch {
	case tv.IsNil():
		return s, false
	case types.Identical(to, from):
		return s, true
	case types.IsInterface(to):
		c := l.converted(e, s, to)
		if c == s {
			c = l.asInterface(s, from, to)
		}
		return c, c != s
	}
	return head(l.text(v.Type)) + "(" + s + ")", true
}
