package yaegi

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// Method expressions.
//
// yaegi fails on most of them. They become function literals:
//
//	(*T).Set
//	func(r__1 *T, a0 int) { r__1.Set(a0) }

func (l *lowering) methodExpr(e *ast.SelectorExpr, s *types.Selection) string {
	sig := l.typeOf(e).Underlying().(*types.Signature)
	r := l.fresh("r")
	var ps, as []string
	for i, t := range l.params(sig) {
		a := "a" + strconv.Itoa(i) + "__"
		if i == 0 {
			a = r
		} else {
			as = append(as, a)
		}
		ps = append(ps, a+" "+t)
	}
	dots, back := "", ""
	if sig.Variadic() {
		dots = "..."
	}
	if sig.Results().Len() > 0 {
		back = "return "
	}
	res := ""
	if sig.Results().Len() > 0 {
		res = "(" + strings.Join(l.types(sig.Results()), ", ") + ") "
	}
	return "(func(" + strings.Join(ps, ", ") + ") " + res + "{ " + back + r + "." + s.Obj().Name() + "(" + strings.Join(as, ", ") + dots + ") })"
}
