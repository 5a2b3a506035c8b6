package yaegi

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
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
		var as []string
		for _, a := range c.Args {
			as = append(as, l.converted(a, l.text(a), errorVar.Type()))
		}
		return h + "(" + strings.Join(as, ", ") + ")", true
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
		return h + "(" + l.converted(c.Args[0], l.text(c.Args[0]), errorVar.Type()) + ", " + l.text(c.Args[1]) + ")", true
	}
	return "", false
}

var errorVar = types.NewVar(0, nil, "", types.Universe.Lookup("error").Type())

// makeError is the function that makes an error of a type.
func (l *lowering) makeError(t types.Type) string {
	ts := l.typ(t)
	set := types.NewMethodSet(t)
	closure := func(name string) string {
		if m := set.Lookup(nil, name); m != nil {
			if f, ok := m.Type().(*types.Signature); ok && f.Params().Len() < 2 && f.Results().Len() == 1 {
				return l.bound("x", name, f)
			}
		}
		return "nil"
	}
	return l.helper("error", ts, func(n string) string {
		return "func " + n + "(x " + ts + ") error { return " + host("MakeError") + "(x, " + l.quoted(t) + ", func() string { return x.Error() }, " +
			closure("Unwrap") + ", " + closure("Is") + ") }"
	})
}

// bound is a literal that calls method name of x.
func (l *lowering) bound(x, name string, f *types.Signature) string {
	var as []string
	head := "func("
	for i, p := range l.params(f) {
		a := "a" + strconv.Itoa(i)
		head += a + " " + p
		as = append(as, a)
	}
	return head + ") (" + strings.Join(l.types(f.Results()), ", ") + ") { return " + x + "." + name + "(" + strings.Join(as, ", ") + ") }"
}
