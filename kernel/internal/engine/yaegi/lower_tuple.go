package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Tuples.
//
// Where yaegi loses or mixes up the operands of a tuple assignment, see
// lower_assign.go, they become variables, and the tuple single assignments:
//
//	x, m["a"] = f(), 2
//	{ v__1 := f(); v__2 := 2; x = v__1; m["a"] = v__2 }

// redeclares renders a := of which a variable is there already: yaegi would
// make another, which pointers and closures do not see.
//
//	y, x := 1, 2
//	v__1 := 1; v__2 := 2; y := v__1; x = v__2
func (l *lowering) redeclares(a *ast.AssignStmt) (string, bool) {
	again := false
	for _, e := range a.Lhs {
		again = again || !isBlank(e) && l.src.info.Defs[e.(*ast.Ident)] == nil
	}
	if !again {
		return "", false
	}
	var pre, sets string
	for i, e := range a.Lhs {
		if isBlank(e) {
			pre += "_ = " + l.text(a.Rhs[i]) + "; "
			continue
		}
		v, define := l.fresh("v"), " := "
		s := l.text(a.Rhs[i])
		if l.src.info.Defs[e.(*ast.Ident)] == nil {
			s, define = l.converted(a.Rhs[i], s, l.typeOf(e)), " = "
			if l.src.info.Types[a.Rhs[i]].IsNil() {
				sets += "; " + l.text(e) + " = nil"
				continue
			}
		}
		pre += v + " := " + s + "; "
		sets += "; " + l.text(e) + define + v
	}
	return pre + strings.TrimPrefix(sets, "; "), true
}

// redeclaresCall is redeclares for the values of one operand. It matters where
// a closure has the variable: so have the deferred calls of a function, whose
// body is one, its results.
//
//	f, err := os.Open(name)
//	v__1, v__2 := os.Open(name); f := v__1; err = v__2
func (l *lowering) redeclaresCall(a *ast.AssignStmt) (string, bool) {
	tuple, ok := l.typeOf(a.Rhs[0]).(*types.Tuple)
	if !ok || tuple.Len() != len(a.Lhs) {
		return "", false
	}
	fn, again := l.fnFrame(len(l.stack)), false
	for _, e := range a.Lhs {
		if id := e.(*ast.Ident); id.Name != "_" && l.src.info.Defs[id] == nil {
			again = again || fn != nil && fn.d != "" || l.esc[l.src.info.Uses[id]]
		}
	}
	if !again {
		return "", false
	}
	var vars, sets []string
	for i, e := range a.Lhs {
		if isBlank(e) {
			vars = append(vars, "_")
			continue
		}
		v, define := l.fresh("v"), " := "
		vars = append(vars, v)
		if l.src.info.Defs[e.(*ast.Ident)] == nil {
			define = " = "
			if from, to := tuple.At(i).Type(), l.typeOf(e); types.IsInterface(to) && !types.IsInterface(from) {
				v = l.asInterface(v, from, to)
			}
		}
		sets = append(sets, l.text(e)+define+v)
	}
	return strings.Join(vars, ", ") + " := " + l.text(a.Rhs[0]) + "; " + strings.Join(sets, "; "), true
}

// inPlace tells operands that yaegi evaluates right into what is assigned to,
// and calls in others, which come before the assignments.
func (l *lowering) inPlace(e ast.Expr) (found bool) {
	if _, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return true
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || l.src.info.Types[n].Value == nil
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// inTurn renders a tuple assignment as single ones, of which the operands are
// evaluated first. to are the types of what is assigned to.
func (l *lowering) inTurn(ls []string, es []ast.Expr, to func(i int) types.Type) string {
	var pre, sets string
	for i, e := range es {
		switch {
		case l.src.info.Types[e].IsNil():
			sets += "; " + ls[i] + " = nil"
		case unmarked(ls[i]) == "_":
			pre += "_ = " + l.text(e) + "; "
		case len(es) == 1 && !l.inPlace(e):
			sets = "; " + ls[i] + " = " + l.converted(e, l.text(e), to(i))
		default:
			v := l.fresh("v")
			define := v + " := "
			if l.src.info.Types[e].Value != nil || !types.Identical(l.typeOf(e), to(i)) {
				define = "var " + v + " " + l.typ(to(i)) + " = "
			}
			pre += define + l.converted(e, l.text(e), to(i)) + "; "
			sets += "; " + ls[i] + " = " + v
		}
	}
	return pre + strings.TrimPrefix(sets, "; ")
}

// several renders the assignment of several results. yaegi loses those that
// are assigned to elements of maps:
//
//	m["a"], err = f()
//	{ v__1, v__2 := f(); m["a"] = v__1; err = v__2 }
func (l *lowering) several(a *ast.AssignStmt) (string, bool) {
	tuple, ok := l.typeOf(a.Rhs[0]).(*types.Tuple)
	if !ok || tuple.Len() != len(a.Lhs) || !slices.ContainsFunc(a.Lhs, l.element) {
		return "", false
	}
	var vars, sets []string
	var pre string
	for i, e := range a.Lhs {
		if isBlank(e) {
			vars = append(vars, "_")
			continue
		}
		v := l.fresh("v")
		vars = append(vars, v)
		if from, to := tuple.At(i).Type(), l.typeOf(e); types.IsInterface(to) && !types.IsInterface(from) {
			v = l.asInterface(v, from, to)
		}
		left := ""
		if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok && l.element(e) {
			k := l.fresh("k")
			key := l.text(x.Index)
			if _, faces := l.faceKeys(l.typeOf(x.X)); faces {
				key = l.key(x.Index)
			}
			pre += k + " := " + key + "; "
			left = l.text(x.X) + "[" + k + "]"
		} else {
			left = l.left(e)
		}
		sets = append(sets, left+" = "+v)
	}
	return "{ " + pre + strings.Join(vars, ", ") + " := " + l.text(a.Rhs[0]) + "; " + strings.Join(sets, "; ") + " }", true
}

// element tells elements of maps.
func (l *lowering) element(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, ok = l.typeOf(x.X).Underlying().(*types.Map)
	return ok
}

// tuple renders a tuple assignment. yaegi has no type for a nil among the
// values, which are assigned on their own:
//
//	n, err = 1, nil
//	n = 1; err = nil
func (l *lowering) tuple(ls, rs []string, es []ast.Expr) string {
	var to, from, nils []string
	for i, e := range es {
		if l.src.info.Types[e].IsNil() {
			nils = append(nils, ls[i]+" = nil")
			continue
		}
		to, from = append(to, ls[i]), append(from, rs[i])
	}
	if len(to) == 0 {
		return strings.Join(nils, "; ")
	}
	return strings.Join(append([]string{strings.Join(to, ", ") + " = " + strings.Join(from, ", ")}, nils...), "; ")
}
