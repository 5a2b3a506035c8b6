package yaegi

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// Method expressions and values.
//
// yaegi fails on most method expressions and reads the receiver of a method
// value when it is called. They become function literals:
//
//	(*T).Set
//	func(r__1 *T, a0 int) { r__1.Set(a0) }
//
//	t.Get
//	func(r__1 T) func() int { return func() int { return r__1.Get() } }(t)

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

func (l *lowering) methodValue(e *ast.SelectorExpr, s *types.Selection) string {
	xt := l.typeOf(e.X)
	if !l.interpreted(xt) || types.IsInterface(xt) {
		return l.text(e.X) + l.raw(l.src.off(e.X.End()), l.src.off(e.End()))
	}
	x := l.text(e.X)
	_, ptr := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
	if _, isPtr := xt.Underlying().(*types.Pointer); ptr && !isPtr && len(s.Index()) == 1 {
		x, xt = "&("+x+")", types.NewPointer(xt)
	}
	sig := l.typeOf(e).Underlying().(*types.Signature)
	r := l.fresh("r")
	f := l.forward(sig, "__")
	return "func(" + r + " " + l.typ(xt) + ") " + l.typ(sig) + " { return func" + f.params + f.results +
		" { " + f.ret + r + "." + e.Sel.Name + f.args + " } }(" + x + ")"
}
