package yaegi

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// Type switches.
//
// yaegi's type switch misses interfaces that a compiled value implements; its
// type assertions do not. The switch finds the clause by assertions, then the
// clause makes its own:
//
//	switch v := x.(type) { case int: f(v); case error, nil: g(v); default: h() }
//	{ x__1, k__2 := x, 0
//	  if _, ok := x__1.(int); ok { k__2 = 1 } else if ... { k__2 = 2 }
//	  switch k__2 {
//	  case 1: v := x__1.(int); _ = v; f(v)
//	  case 2: v := x__1; _ = v; g(v)
//	  default: h() } }

func (l *lowering) typeSwitch(n *ast.TypeSwitchStmt) string {
	f := &frame{node: n, label: l.label[n]}
	var b strings.Builder
	b.WriteString("{ ")
	if n.Init != nil {
		b.WriteString(l.text(n.Init) + "; ")
	}
	var x ast.Expr
	name := ""
	switch a := n.Assign.(type) {
	case *ast.AssignStmt:
		x = a.Rhs[0].(*ast.TypeAssertExpr).X
		if name = a.Lhs[0].(*ast.Ident).Name; reserved(l, name) {
			name += "__v"
		}
	case *ast.ExprStmt:
		x = a.X.(*ast.TypeAssertExpr).X
	}
	v, k := l.fresh("x"), l.fresh("k")
	b.WriteString(v + ", " + k + " := " + l.text(x) + ", 0; ")
	var tests, clauses []string
	null := 0 // the clause for nil
	for i, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		for _, e := range c.List {
			if l.src.info.Types[e].IsNil() {
				null = i + 1
				continue
			}
			tests = append(tests, fmt.Sprintf("if %s { %s = %d }", l.typeTest(v, l.typeOf(x), e), k, i+1))
		}
		head := "default: "
		if c.List != nil {
			head = fmt.Sprintf("case %d: ", i+1)
		}
		if name != "" && name != "_" {
			bound := v
			if len(c.List) == 1 && !l.src.info.Types[c.List[0]].IsNil() {
				bound = l.assertion(v, l.typeOf(x), l.typeOf(c.List[0]))
			}
			head += name + " := " + bound + "; _ = " + name + "; "
		}
		end := n.Body.Rbrace
		if i+1 < len(n.Body.List) {
			end = n.Body.List[i+1].Pos()
		}
		clauses = append(clauses, mark(l.src.off(c.Pos()), 0)+head+l.clause(f, c, c.Body, c.Colon+1, end))
	}
	tests = append([]string{fmt.Sprintf("if %s(%s) { %s = %d }", host("IsNil"), v, k, null)}, tests...)
	b.WriteString(strings.Join(tests, " else "))
	b.WriteString("\n")
	if f.label != "" {
		b.WriteString(f.label + ": ")
	}
	b.WriteString("switch " + k + " {\n" + strings.Join(clauses, "\n") + "\n} }")
	return b.String()
}

// typeTest is a condition that tells whether variable v holds a value of the
// type of a clause, as an if statement's head.
func (l *lowering) typeTest(v string, from types.Type, e ast.Expr) string {
	t := l.typeOf(e)
	if l.asserts(from, t) {
		return l.toType("is", from, t) + "(" + v + ")"
	}
	return "_, ok := " + l.asserted(v, from, t) + ".(" + l.text(e) + "); ok"
}

// mayBeConfused tells types that yaegi takes for others of their shape, or
// others for them: all that have no tag.
func (l *lowering) mayBeConfused(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok && !l.ours(n.Obj()) {
		return false
	}
	switch u := deref(t).Underlying().(type) {
	case *types.Struct:
		return u.NumFields() == 0
	case *types.Signature:
		return false
	}
	return true
}

// quoted is a string literal of a type's name in the interpreter.
func (l *lowering) quoted(t types.Type) string {
	star := ""
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		star, t = "*", p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && l.ours(n.Obj()) {
		return `"` + star + "main." + unmarked(l.typ(t)) + `"`
	}
	return `"` + star + `"`
}

// typeAssert renders a type assertion.
func (l *lowering) typeAssert(e *ast.TypeAssertExpr) (string, bool) {
	if e.Type == nil {
		return "", false
	}
	x, from, to := l.text(e.X), l.typeOf(e.X), l.typeOf(e.Type)
	if _, two := l.src.info.TypeOf(e).(*types.Tuple); two {
		if l.asserts(from, to) {
			return l.toType("maybe", from, to) + "(" + x + ")", true
		}
		if types.IsInterface(to) && empty(to) {
			fs, ts := l.typ(from), l.typ(to)
			return l.helper("holds", fs+", "+ts, func(n string) string {
				return "func " + n + "(x " + fs + ") (" + ts + ", bool) { return x, x != nil }"
			}) + "(" + x + ")", true
		}
		return l.asserted(x, from, to) + ".(" + l.typ(to) + ")", true
	}
	if types.IsInterface(to) && empty(to) {
		return host("NotNil") + "([]interface{}{" + x + "})", true
	}
	if isBoolean(to) {
		return l.assertedBool(x, from, to), true
	}
	return l.assertion(x, from, to), true
}

func isBoolean(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// assertedBool renders an assertion of a bool, which yaegi takes for true in
// conditions:
//
//	if x.(bool) {}
//	if asserted__1(x) {}
func (l *lowering) assertedBool(x string, from, to types.Type) string {
	fs, ts := l.typ(from), l.typ(to)
	return l.helper("asserted", fs+", "+ts, func(n string) string {
		return "func " + n + "(x " + fs + ") " + ts + " { v := " + l.assertion("x", from, to) + "; return v }"
	}) + "(" + x + ")"
}

// boolOfResult tells bool fields of a call's result, which yaegi reads wrong in
// conditions.
func (l *lowering) boolOfResult(e *ast.SelectorExpr) bool {
	s := l.src.info.Selections[e]
	_, call := ast.Unparen(e.X).(*ast.CallExpr)
	return call && s != nil && s.Kind() == types.FieldVal && isBoolean(s.Type()) && !isPointer(l.typeOf(e.X))
}

// literalCondition renders && and || whose first operand holds a composite
// literal. yaegi takes the literal for the operand; a function keeps it apart:
//
//	len(map[int]bool{}) == 0 && b
//	func() bool { return len(map[int]bool{}) == 0 }() && b
func (l *lowering) literalCondition(e *ast.BinaryExpr) (string, bool) {
	if e.Op != token.LAND && e.Op != token.LOR {
		return "", false
	}
	literal := false
	ast.Inspect(e.X, func(n ast.Node) bool {
		_, is := n.(*ast.CompositeLit)
		literal = literal || is
		_, apart := n.(*ast.FuncLit)
		return !apart && !literal
	})
	if !literal {
		return "", false
	}
	t := l.typ(types.Default(l.typeOf(e.X)))
	return "func() " + t + " { return " + l.text(e.X) + " }() " + e.Op.String() + " " + l.text(e.Y), true
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// toBool renders a conversion to a type of bools, which yaegi takes for true in
// conditions as well.
func (l *lowering) toBool(x string, from, to types.Type) string {
	fs, ts := l.typ(types.Default(from)), l.typ(to)
	return l.helper("bool", fs+", "+ts, func(n string) string {
		return "func " + n + "(x " + fs + ") " + ts + " { v := " + ts + "(x); return v }"
	}) + "(" + x + ")"
}

// asserted renders x, of interface type from, for an assertion. yaegi refuses
// those that cannot succeed, which instances of generic functions may hold:
//
//	x.(string)
//	host.Any(x).(string)
func (l *lowering) asserted(x string, from, to types.Type) string {
	if i, ok := from.Underlying().(*types.Interface); ok && !i.Empty() && !types.IsInterface(to) && !types.AssertableTo(i, to) {
		return host("Any") + "(" + x + ")"
	}
	return x
}

// compiled tells types of compiled packages, and error.
func (l *lowering) compiled(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && (n.Obj().Pkg() == nil || !l.ours(n.Obj()))
}

// Comparisons.
//
// yaegi compares interfaces that hold interpreted values by where they came
// from. The host compares what they hold:
//
//	err == stop
//	host.Equal([]interface{}{err, stop})

func (l *lowering) compare(e *ast.BinaryExpr) (string, bool) {
	if tv := l.src.info.Types[e.Y]; e.Op == token.QUO && tv.Value != nil && constant.Sign(tv.Value) == 0 {
		// of floats; yaegi's compiler refuses it as it does that of integers
		ts := l.typ(l.typeOf(e))
		return l.text(e.X) + " / " + l.helper("zero", ts, func(n string) string {
			return "func " + n + "() " + ts + " { var x " + ts + "; return x }"
		}) + "()", true
	}
	if e.Op != token.EQL && e.Op != token.NEQ {
		return "", false
	}
	info := l.src.info
	if info.Types[e.X].IsNil() || info.Types[e.Y].IsNil() {
		return "", false
	}
	if !holdsInterface(l.typeOf(e.X)) && !holdsInterface(l.typeOf(e.Y)) {
		return "", false
	}
	not := ""
	if e.Op == token.NEQ {
		not = "!"
	}
	return not + host("Equal") + "([]interface{}{" + l.text(e.X) + ", " + l.text(e.Y) + "})", true
}

// holdsInterface tells interfaces, and structs and arrays of them.
func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return holdsInterface(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if holdsInterface(f.Type()) {
				return true
			}
		}
	}
	return false
}
