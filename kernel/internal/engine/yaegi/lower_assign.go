package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Assignments.
//
// yaegi evaluates the operands of a tuple assignment after it began to
// assign. Operands on the left that a variable assigned in the same statement
// could change are evaluated first:
//
//	i, xs[i] = 2, 99
//	{ k__1 := i; i, xs[k__1] = 2, 99 }
//
// It cannot assign interface values in a tuple, and where one of the operands
// is a call, a received value or a literal, it assigns that one only:
//
//	x, y = f(), 2
//	{ v__1 := f(); v__2 := 2; x = v__1; y = v__2 }

func (l *lowering) assign(a *ast.AssignStmt) (string, bool) {
	if len(a.Lhs) > 1 && len(a.Lhs) == len(a.Rhs) && a.Tok == token.DEFINE {
		if s, ok := l.redeclares(a); ok {
			return s, true
		}
		l.apart(a.Rhs)
	}
	if len(a.Lhs) > 1 && len(a.Rhs) == 1 && a.Tok == token.DEFINE {
		if s, ok := l.redeclaresCall(a); ok {
			return s, true
		}
	}
	if len(a.Lhs) == 2 && len(a.Rhs) == 1 {
		l.receiveOnly(a.Rhs[0])
	}
	if a.Tok == token.ASSIGN && len(a.Lhs) != len(a.Rhs) {
		return l.several(a)
	}
	if a.Tok == token.SHL_ASSIGN || a.Tok == token.SHR_ASSIGN {
		return l.shiftAssign(a)
	}
	if a.Tok != token.ASSIGN {
		return "", false
	}
	if len(a.Lhs) == 1 {
		if id, ok := ast.Unparen(a.Lhs[0]).(*ast.Ident); ok && !isBlank(id) && l.seen(l.src.info.Uses[id]) {
			l.apart(a.Rhs)
		}
		return l.assignInterface(a)
	}
	assigned := map[types.Object]bool{}
	for _, e := range a.Lhs {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && id.Name != "_" {
			assigned[l.src.info.Uses[id]] = true
		}
	}
	touched := false
	for _, e := range a.Lhs {
		if _, ok := ast.Unparen(e).(*ast.Ident); !ok {
			ast.Inspect(e, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && assigned[l.src.info.Uses[id]] {
					touched = true
				}
				return !touched
			})
		}
	}
	// yaegi is left single assignments only
	single := slices.ContainsFunc(a.Rhs, l.inPlace) || slices.ContainsFunc(a.Lhs, l.compiledVar)
	for i, e := range a.Lhs {
		single = single || !isBlank(e) && types.IsInterface(l.typeOf(e)) && !l.src.info.Types[a.Rhs[i]].IsNil()
	}
	if !touched && !single {
		for _, e := range a.Rhs {
			if l.src.info.Types[e].IsNil() {
				return l.tuple(l.each(a.Lhs), l.each(a.Rhs), a.Rhs), true
			}
		}
		return "", false
	}
	var pre string
	hold := func(e ast.Expr) string {
		if tv := l.src.info.Types[e]; tv.Value != nil {
			return l.text(e)
		}
		v := l.fresh("k")
		pre += v + " := " + l.text(e) + "; "
		return v
	}
	var ls []string
	for _, e := range a.Lhs {
		switch e := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			x := ""
			if _, ok := l.typeOf(e.X).Underlying().(*types.Array); ok {
				x = l.text(e.X)
			} else {
				x = hold(e.X)
			}
			if _, ok := l.faceKeys(l.typeOf(e.X)); ok {
				v := l.fresh("k")
				pre += v + " := " + l.key(e.Index) + "; "
				ls = append(ls, x+"["+v+"]")
				continue
			}
			ls = append(ls, x+"["+hold(e.Index)+"]")
		case *ast.StarExpr:
			ls = append(ls, "*"+hold(e.X))
		case *ast.SelectorExpr:
			if _, ok := l.typeOf(e.X).Underlying().(*types.Pointer); ok && l.src.info.Selections[e] != nil {
				ls = append(ls, hold(e.X)+l.raw(l.src.off(e.X.End()), l.src.off(e.End())))
				continue
			}
			ls = append(ls, l.left(e))
		default:
			ls = append(ls, l.left(e))
		}
	}
	if single {
		return "{ " + pre + l.inTurn(ls, a.Rhs, func(i int) types.Type { return l.typeOf(a.Lhs[i]) }) + " }", true
	}
	return "{ " + pre + l.tuple(ls, l.each(a.Rhs), a.Rhs) + " }", true
}

// shiftAssign renders x <<= n, where yaegi wants an operator's result n to be
// of the type of x:
//
//	x <<= a + b
//	x <<= count__1(a + b)
func (l *lowering) shiftAssign(a *ast.AssignStmt) (string, bool) {
	n := a.Rhs[0]
	if _, ok := ast.Unparen(n).(*ast.BinaryExpr); !ok || l.src.info.Types[n].Value != nil {
		return "", false
	}
	ts := l.typ(l.typeOf(n))
	return l.text(a.Lhs[0]) + " " + a.Tok.String() + " " + l.helper("count", ts, func(name string) string {
		return "func " + name + "(n " + ts + ") " + ts + " { return n }"
	}) + "(" + l.text(n) + ")", true
}

// assignInterface renders an assignment to a variable of a compiled interface
// type, where yaegi stores a literal as it is:
//
//	err = E{4}
//	err = as__1(E{4})
func (l *lowering) assignInterface(a *ast.AssignStmt) (string, bool) {
	if isBlank(a.Lhs[0]) {
		return "", false
	}
	literal := l.literals[ast.Unparen(a.Rhs[0])]
	s := l.text(a.Rhs[0])
	c := l.converted(a.Rhs[0], s, l.typeOf(a.Lhs[0]))
	if c == s {
		c = l.stored(a.Lhs[0], a.Rhs[0], s)
	}
	if c == s && !literal && !l.compiledVar(a.Lhs[0]) {
		return "", false
	}
	return l.left(a.Lhs[0]) + " = " + c, true
}

// left renders what is assigned to. yaegi does not assign literals and
// results to a variable of a compiled package, but through a pointer it does:
//
//	os.Args = []string{"a"}
//	*(&os__.Args) = []string{"a"}
func (l *lowering) left(e ast.Expr) string {
	if l.compiledVar(e) {
		return "*(&" + l.text(e) + ")"
	}
	return l.text(e)
}

// compiledVar tells variables of compiled packages.
func (l *lowering) compiledVar(e ast.Expr) bool {
	v, ok := l.object(e).(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() && !l.ours(v)
}

// stored renders a literal or a call's result, which is s already, that is
// assigned to an element or a field of an interface type of the notebook's.
// yaegi makes it in that place, as if that had the value's type:
//
//	shapes[i] = square{2}
//	shapes[i] = as__1(square{2})
func (l *lowering) stored(to, e ast.Expr, s string) string {
	if _, ok := ast.Unparen(to).(*ast.Ident); ok {
		return s
	}
	switch ast.Unparen(e).(type) {
	case *ast.CompositeLit, *ast.CallExpr:
	default:
		return s
	}
	t, from := l.typeOf(to), l.typeOf(e)
	if i, ok := t.Underlying().(*types.Interface); !ok || i.NumMethods() == 0 || !l.interpreted(from) {
		return s
	}
	return l.asInterface(s, from, t)
}

// each renders expressions.
func (l *lowering) each(es []ast.Expr) []string {
	var r []string
	for _, e := range es {
		r = append(r, l.text(e))
	}
	return r
}

// Addresses of elements.
//
// yaegi refuses the address of an element of an array behind a pointer:
//
//	&p[i]
//	&p[:][i]

func (l *lowering) address(e *ast.UnaryExpr) (string, bool) {
	x, ok := ast.Unparen(e.X).(*ast.IndexExpr)
	if e.Op != token.AND || !ok {
		return "", false
	}
	p, ok := l.typeOf(x.X).Underlying().(*types.Pointer)
	if !ok {
		return "", false
	}
	if _, ok := p.Elem().Underlying().(*types.Array); !ok {
		return "", false
	}
	return "&" + l.text(x.X) + "[:][" + l.text(x.Index) + "]", true
}

// apart notes the literals of a tuple, or of an assignment to a variable. yaegi
// lets a literal take the place of another operand's result, and of a variable
// that pointers and closures go on to see as it was, so they go through a call:
//
//	a, b := f(), []int{1}
//	a, b := f(), literal__1([]int{1})
//
//	p := &c; c = point{1, 2}
//	p := &c; c = literal__2(point{1, 2})
func (l *lowering) apart(es []ast.Expr) {
	for _, e := range es {
		if _, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
			l.literals[ast.Unparen(e)] = true
		}
	}
}

// seen tells variables that pointers or closures may see, those included that
// come with lowering.
func (l *lowering) seen(v types.Object) bool {
	top := len(l.stack)
	return l.esc[v] || l.of(v) != nil || l.innerSeq(top) != nil || l.fnFrame(top) != nil && l.fnFrame(top).d != ""
}

// passed renders a literal as the result of a call.
func (l *lowering) passed(c *ast.CompositeLit) string {
	delete(l.literals, c)
	ts := l.typ(l.typeOf(c))
	return l.helper("literal", ts, func(n string) string {
		return "func " + n + "(x " + ts + ") " + ts + " { return x }"
	}) + "(" + l.text(c) + ")"
}
