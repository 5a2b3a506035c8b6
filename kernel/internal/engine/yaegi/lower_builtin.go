package yaegi

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
)

// Builtins.
//
// yaegi has no min, max, clear and new(expr); its print and recover differ
// from Go's. They become calls of the host or of small functions, one for a
// type:
//
//	min(x, 2.5)
//	min__1(x, float64(2.5))
//
//	new(42)
//	new__1(42)
//
// The length of an array behind a pointer, which is a constant but in generic
// functions, needs no array: the pointer may be nil.
//
//	len(p)
//	int(16)

func (l *lowering) builtin(name string, c *ast.CallExpr) (string, bool) {
	if b, ok := l.src.info.Uses[ast.Unparen(c.Fun).(*ast.Ident)].(*types.Builtin); !ok || b.Name() != name {
		return "", false
	}
	switch name {
	case "append":
		return l.appendTo(c)
	case "print", "println":
		return host("P"+name[1:]) + "(" + l.texts(c.Args) + ")", true
	case "min", "max":
		return l.minmax(name, c), true
	case "clear":
		return l.clear(c), true
	case "delete":
		if _, ok := l.faceKeys(l.typeOf(c.Args[0])); ok {
			return "delete(" + l.text(c.Args[0]) + ", " + l.key(c.Args[1]) + ")", true
		}
	case "len", "cap":
		x := ast.Unparen(c.Args[0])
		if p, ok := l.typeOf(x).Underlying().(*types.Pointer); ok {
			if _, ok := x.(*ast.Ident); ok {
				return "int(" + strconv.FormatInt(p.Elem().Underlying().(*types.Array).Len(), 10) + ")", true
			}
		}
	case "recover":
		f := l.fnFrame(len(l.stack))
		if f.direct != "" {
			return f.direct + ".Recover()", true
		}
		return host("Recover") + "()", true
	case "new":
		if tv := l.src.info.Types[c.Args[0]]; !tv.IsType() {
			t := l.typ(l.typeOf(c).(*types.Pointer).Elem())
			return l.helper("new", t, func(n string) string {
				return "func " + n + "(x " + t + ") *" + t + " { y := x; return &y }"
			}) + "(" + l.text(c.Args[0]) + ")", true
		}
	}
	return "", false
}

// appendTo renders an append of values that become interface values. yaegi
// takes a slice for its elements where those are of the same type:
//
//	var xs, ys []any; xs = append(xs, ys)
//	xs = append(xs, as__1(ys))
func (l *lowering) appendTo(c *ast.CallExpr) (string, bool) {
	to := elementOf(l.typeOf(c))
	if c.Ellipsis.IsValid() || to == nil || !types.IsInterface(to) {
		return "", false
	}
	r := "append(" + l.text(c.Args[0])
	for _, e := range c.Args[1:] {
		v := l.text(e)
		s := l.converted(e, v, to)
		if from := elementOf(l.typeOf(e)); s == v && from != nil && types.Identical(from, to) {
			s = l.asInterface(v, l.typeOf(e), to)
		}
		r += ", " + s
	}
	return r + ")", true
}

// elementOf is the type of the elements of slices and arrays; nil for others.
func elementOf(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	}
	return nil
}

// zero renders *new(T), by which cells make variables zero. yaegi's has no
// value where T is an interpreted interface:
//
//	*new(Shape)
//	zero__1()
func (l *lowering) zero(e *ast.StarExpr) (string, bool) {
	c, ok := ast.Unparen(e.X).(*ast.CallExpr)
	if !ok || !l.src.info.Types[c.Fun].IsBuiltin() {
		return "", false
	}
	if id, ok := ast.Unparen(c.Fun).(*ast.Ident); !ok || id.Name != "new" {
		return "", false
	}
	t := l.typeOf(e)
	if !types.IsInterface(t) || l.compiled(t) || !l.src.info.Types[c.Args[0]].IsType() {
		return "", false
	}
	return l.zeroOf(t) + "()", true
}

// zeroOf is a function that returns the zero value of a type.
func (l *lowering) zeroOf(t types.Type) string {
	ts := l.typ(t)
	return l.helper("zero", ts, func(n string) string {
		return "func " + n + "() " + ts + " { var x " + ts + "; return x }"
	})
}

func (l *lowering) clear(c *ast.CallExpr) string {
	t := l.typeOf(c.Args[0])
	ts := l.typ(t)
	h := l.helper("clear", ts, func(n string) string {
		if _, ok := t.Underlying().(*types.Map); ok {
			return "func " + n + "(m " + ts + ") { " + host("Clear") + "(m) }"
		}
		e := t.Underlying().(*types.Slice).Elem()
		return "func " + n + "(s " + ts + ") { var z " + l.typ(e) + "; for i := range s { s[i] = z } }"
	})
	return h + "(" + l.text(c.Args[0]) + ")"
}

func (l *lowering) minmax(which string, c *ast.CallExpr) string {
	t := l.typeOf(c)
	ts := l.typ(t)
	h := l.helper(which, ts, func(n string) string {
		op := "<"
		if which == "max" {
			op = ">"
		}
		extra := ""
		if t.Underlying().(*types.Basic).Info()&types.IsFloat != 0 {
			// NaN wins; of zeros the negative is less
			extra = "if b != b { a = b; continue }; if a != a { continue }; if a == 0 && b == 0 { if " +
				host("Signbit") + "(float64(b)) == " + strconv.FormatBool(which == "min") + " { a = b }; continue }; "
		}
		return fmt.Sprintf("func %s(a %s, bs ...%s) %s { for _, b := range bs { %sif b %s a { a = b } }; return a }", n, ts, ts, ts, extra, op)
	})
	return h + "(" + l.texts(c.Args) + ")"
}

// panicStmt renders a panic with a value of an interpreted type: the host keeps
// the value with its type for recover and its message for the user.
//
//	panic(E{4})
//	{ p__1 := E{4}; panic(host.Raise([]interface{}{p__1}, func() string { return p__1.Error() })) }
func (l *lowering) panicStmt(n *ast.ExprStmt) (string, bool) {
	c, ok := n.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || !l.src.info.Types[c.Fun].IsBuiltin() {
		return "", false
	}
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	if !ok || id.Name != "panic" || l.src.info.Types[c.Args[0]].IsNil() {
		return "", false
	}
	t, message := l.typeOf(c.Args[0]), "nil"
	p := l.fresh("p")
	switch {
	case types.IsInterface(t):
	case !l.interpreted(t):
		return "", false
	case types.Implements(t, errorType):
		message = "func() string { return " + p + ".Error() }"
	case types.Implements(t, stringerType):
		message = "func() string { return " + p + ".String() }"
	}
	return "{ " + p + " := " + l.text(c.Args[0]) + "; " + mark(l.src.off(c.Pos()), 0) + "panic(" + host("Raise") + "([]interface{}{" + p + "}, " + message + ")) }", true
}
