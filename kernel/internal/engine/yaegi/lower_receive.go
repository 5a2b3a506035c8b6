package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Received values.
//
// yaegi receives right into what is assigned to, which loses the value where
// that is no variable, or makes a variable that cannot be assigned to again,
// and loses it in conditions and results. It receives in a function:
//
//	x := <-ch; x++
//	x := received__1(ch); x++
//
//	func received__1(ch chan int) int { v := <-ch; return v }
//
// Statements that only receive, and x, ok := <-ch, are right.

// received renders a receive operator.
func (l *lowering) received(e *ast.UnaryExpr) (string, bool) {
	if e.Op != token.ARROW || l.receives[e] {
		return "", false
	}
	ts := l.typ(l.typeOf(e.X))
	elem := l.typeOf(e.X).Underlying().(*types.Chan).Elem()
	return l.helper("received", ts, func(n string) string {
		return "func " + n + "(ch " + ts + ") " + l.typ(elem) + " { v := <-ch; return v }"
	}) + "(" + l.text(e.X) + ")", true
}

// receiveOnly notes that e, if it receives, is a statement or has two results.
func (l *lowering) receiveOnly(e ast.Expr) {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		l.receives[u] = true
	}
}
