package vm

import (
	"go/ast"
	"go/token"
)

// begin is where the expression begins whose operator or bracket is at p, if
// that is on the same line: package ssa tells the bracket of a call, and readers
// look for its function.
func (k *compiler) begin(p token.Pos) token.Pos {
	if k.c.source != nil || k.fn == nil || k.fn.Syntax() == nil {
		return p
	}
	if k.begins == nil {
		k.begins = beginnings(k.fn.Syntax())
	}
	at, ok := k.begins[p]
	if fset := k.e.prog.Fset; !ok || fset.Position(at).Line != fset.Position(p).Line {
		return p
	}
	return at
}

// beginnings maps operators and brackets of a function, without the functions
// in it, to where their expressions begin.
func beginnings(fn ast.Node) map[token.Pos]token.Pos {
	begins := map[token.Pos]token.Pos{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == fn
		case *ast.CallExpr:
			begins[n.Lparen] = n.Pos()
		case *ast.IndexExpr:
			begins[n.Lbrack] = n.Pos()
		case *ast.SliceExpr:
			begins[n.Lbrack] = n.Pos()
		case *ast.TypeAssertExpr:
			begins[n.Lparen] = n.Pos()
		case *ast.BinaryExpr:
			begins[n.OpPos] = n.Pos()
		case *ast.SelectorExpr:
			begins[n.Sel.Pos()] = n.Pos()
		case *ast.SendStmt:
			begins[n.Arrow] = n.Pos()
		}
		return true
	})
	return begins
}
