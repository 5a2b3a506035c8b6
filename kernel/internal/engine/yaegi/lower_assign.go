package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Assignments.
//
// yaegi evaluates the operands of a tuple assignment after it began to
// assign. Operands on the left that a variable assigned in the same statement
// could change are evaluated first:
//
//	i, xs[i] = 2, 99
//	{ k__1 := i; i, xs[k__1] = 2, 99 }

func (l *lowering) assign(a *ast.AssignStmt) (string, bool) {
	if a.Tok != token.ASSIGN || len(a.Lhs) < 2 {
		return "", false
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
	if !touched {
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
			ls = append(ls, x+"["+hold(e.Index)+"]")
		case *ast.StarExpr:
			ls = append(ls, "*"+hold(e.X))
		case *ast.SelectorExpr:
			if _, ok := l.typeOf(e.X).Underlying().(*types.Pointer); ok && l.src.info.Selections[e] != nil {
				ls = append(ls, hold(e.X)+l.raw(l.src.off(e.X.End()), l.src.off(e.End())))
				continue
			}
			ls = append(ls, l.text(e))
		default:
			ls = append(ls, l.text(e))
		}
	}
	return "{ " + pre + strings.Join(ls, ", ") + " = " + l.texts(a.Rhs) + " }", true
}
