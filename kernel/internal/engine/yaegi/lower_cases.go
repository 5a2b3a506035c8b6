package yaegi

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Switches.
//
// yaegi converts the values of the cases to the type of an operand that is an
// interface, or the other way round, and panics or compares wrong. It looks at
// the first of several conditions only, evaluates those wrong that call or
// assert, and falls through from them into the wrong clause. In such a switch
// an if statement finds the clause:
//
//	switch f() { case nil: a(); fallthrough; case io.EOF, g(): b(); default: c() }
//	{ x__1 := f(); k__2 := 0
//	  if x__1 == nil { k__2 = 1 } else if host.Equal(...) || host.Equal(...) { k__2 = 2 }
//	  switch k__2 { case 1: a(); fallthrough; case 2: b(); default: c() } }

func (l *lowering) switchStmt(n *ast.SwitchStmt) string {
	f := &frame{node: n, label: l.label[n]}
	if l.plainSwitch(n) {
		return l.within(f, func() string { return l.inner(n) })
	}
	var b strings.Builder
	b.WriteString("{ ")
	if n.Init != nil {
		b.WriteString(l.text(n.Init) + "; ")
	}
	x, k := "", l.fresh("k")
	if n.Tag != nil {
		x = l.fresh("x")
		b.WriteString(x + " := " + l.text(n.Tag) + "; ")
	}
	b.WriteString(k + " := 0; ")
	var tests, clauses []string
	for i, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		var is []string
		for _, e := range c.List {
			is = append(is, l.isCase(n.Tag, x, e))
		}
		head := "default: "
		if c.List != nil {
			head = fmt.Sprintf("case %d: ", i+1)
			tests = append(tests, fmt.Sprintf("if %s { %s = %d }", strings.Join(is, " || "), k, i+1))
		}
		end := n.Body.Rbrace
		if i+1 < len(n.Body.List) {
			end = n.Body.List[i+1].Pos()
		}
		clauses = append(clauses, mark(l.src.off(c.Pos()), 0)+head+l.clause(f, c, c.Body, c.Colon+1, end))
	}
	b.WriteString(strings.Join(tests, " else ") + "\n")
	if f.label != "" {
		b.WriteString(f.label + ": ")
	}
	b.WriteString("switch " + k + " {\n" + strings.Join(clauses, "\n") + "\n} }")
	return b.String()
}

// clause renders the statements of a clause, between two positions. yaegi does
// not know labels there, but in a block:
//
//	case 1: L: for {}; fallthrough
//	case 1: { L: for {} }; fallthrough
func (l *lowering) clause(f *frame, c ast.Node, body []ast.Stmt, from, to token.Pos) string {
	return l.within(f, func() string {
		if !labelled(body) {
			return l.cut(c, from, to)
		}
		end := to
		if fallsThrough(body) {
			end = body[len(body)-1].Pos()
		}
		return "{ " + l.cut(c, from, end) + " }; " + l.cut(c, end, to)
	})
}

// labelled tells whether a statement of the list, not one in it, has a label.
func labelled(list []ast.Stmt) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool { _, ok := s.(*ast.LabeledStmt); return ok })
}

// isCase is the condition under which the clause of e is chosen.
func (l *lowering) isCase(tag ast.Expr, x string, e ast.Expr) string {
	switch {
	case tag == nil:
		return "(" + l.text(e) + ")"
	case l.src.info.Types[e].IsNil():
		return x + " == nil"
	case types.IsInterface(l.typeOf(tag)) || types.IsInterface(l.typeOf(e)):
		return host("Equal") + "([]interface{}{" + x + ", " + l.text(e) + "})"
	}
	if _, ok := ast.Unparen(e).(*ast.BinaryExpr); ok {
		return x + " == (" + l.text(e) + ")"
	}
	return x + " == " + l.text(e)
}

// plainSwitch tells the switches that yaegi runs right.
func (l *lowering) plainSwitch(n *ast.SwitchStmt) bool {
	if l.overInterface(n) {
		return false
	}
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		if labelled(c.Body) {
			return false
		}
		for _, e := range c.List {
			literal := n.Tag != nil && l.src.info.Types[e].Value != nil && !wide(l.src.info.Types[e].Value)
			if !literal && (len(c.List) > 1 || !l.simpleCondition(e) || fallsThrough(c.Body)) {
				return false
			}
		}
	}
	return true
}

// wide tells numbers that are no literals for yaegi, see lower_const.go.
func wide(v constant.Value) bool {
	v = constant.ToInt(v)
	_, exact := constant.Int64Val(v)
	return v.Kind() == constant.Int && !exact
}

func fallsThrough(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.FALLTHROUGH
}

// simpleCondition tells expressions without calls and assertions.
func (l *lowering) simpleCondition(e ast.Expr) bool {
	simple := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			tv := l.src.info.Types[n.Fun]
			simple = simple && (tv.IsType() || tv.IsBuiltin())
		case *ast.TypeAssertExpr, *ast.FuncLit:
			simple = false
		}
		return simple
	})
	return simple
}

// overInterface tells switches in which an interface value is compared.
func (l *lowering) overInterface(n *ast.SwitchStmt) bool {
	if n.Tag == nil {
		return false
	}
	if types.IsInterface(l.typeOf(n.Tag)) {
		return true
	}
	for _, s := range n.Body.List {
		for _, e := range s.(*ast.CaseClause).List {
			if types.IsInterface(l.typeOf(e)) {
				return true
			}
		}
	}
	return false
}
