package yaegi

import (
	"go/ast"
	"go/types"
)

// errors.Is and errors.As.
//
// Compiled, they see the type of no interpreted error. Interpreted versions
// walk the chain:
//
//	errors.As(err, &e)
//	As__1(err, &e)
//
//	func As__1(err error, target **E) bool {
//		if err == nil { return false }
//		if v, ok := err.(*E); ok { *target = v; return true }
//		...
//	}

// unwrapping ends both functions: again is the call for what err wraps.
func unwrapping(again string) string {
	return "for _, err := range " + host("Unwrap") + "(err) { if " + again + " { return true } }; return false }"
}

func (l *lowering) errorsCall(c *ast.CallExpr) (string, bool) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || len(c.Args) != 2 {
		return "", false
	}
	o, ok := l.src.info.Uses[sel.Sel].(*types.Func)
	if !ok || o.Pkg() == nil || o.Pkg().Path() != "errors" {
		return "", false
	}
	switch o.Name() {
	case "Is":
		h := l.helper("Is", "", func(n string) string {
			return "func " + n + "(err, target error) bool { if err == nil || target == nil { return err == nil && target == nil }; " +
				"if " + host("Same") + "(err, target) { return true }; " +
				"if " + host("Is") + "(err, target) { return true }; " +
				unwrapping(n+"(err, target)")
		})
		return h + "(" + l.texts(c.Args) + ")", true
	case "As":
		p, ok := l.typeOf(c.Args[1]).Underlying().(*types.Pointer)
		if !ok {
			return "", false
		}
		t := l.typ(p.Elem())
		h := l.helper("As", t, func(n string) string {
			return "func " + n + "(err error, target *" + t + ") bool { if err == nil { return false }; " +
				"if v, ok := err.(" + t + "); ok { *target = v; return true }; " +
				unwrapping(n+"(err, target)")
		})
		return h + "(" + l.texts(c.Args) + ")", true
	}
	return "", false
}
