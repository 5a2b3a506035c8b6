package yaegi

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// Builtins and conversions of calls.
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

// hostFuncs are functions of packages that the host replaces: they end or
// block in a way that only the host can do right.
var hostFuncs = map[string]string{
	"os.Exit":        "Exit",
	"runtime.Goexit": "Goexit",
	"time.Sleep":     "Sleep",
	"log.Fatal":      "Fatal",
	"log.Fatalf":     "Fatalf",
	"log.Fatalln":    "Fatalln",
}

func (l *lowering) call(c *ast.CallExpr) (string, bool) {
	tv := l.src.info.Types[c.Fun]
	switch {
	case tv.IsBuiltin():
		if id, ok := ast.Unparen(c.Fun).(*ast.Ident); ok {
			return l.builtin(id.Name, c)
		}
		return "", false
	case tv.IsType():
		t := l.typeOf(c.Fun)
		if from := l.typeOf(c.Args[0]); types.IsInterface(t) && !types.IsInterface(from) && l.interpreted(from) {
			s := l.text(c.Args[0])
			if v := l.converted(c.Args[0], s, t); v != s {
				return v, true
			}
			return l.asInterface(s, from, l.typ(t)), true
		}
		return head(l.text(c.Fun)) + "(" + l.texts(c.Args) + ")", true
	}
	if s, ok := l.wait(c); ok {
		return s, true
	}
	if s, ok := l.errorsCall(c); ok {
		return s, true
	}
	return l.arguments(c)
}

// waits are methods that can block for ever; the host makes an interrupt end
// them.
var waits = map[string]string{
	"(*sync.WaitGroup).Wait": "Wait",
	"(*sync.Mutex).Lock":     "Lock",
	"(*sync.RWMutex).Lock":   "RWLock",
	"(*sync.RWMutex).RLock":  "RLock",
}

func (l *lowering) wait(c *ast.CallExpr) (string, bool) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	s := l.src.info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return "", false
	}
	f, ok := s.Obj().(*types.Func)
	if !ok || waits[f.FullName()] == "" {
		return "", false
	}
	x, t := l.text(sel.X), l.typeOf(sel.X)
	for _, i := range s.Index()[:len(s.Index())-1] {
		st, ok := deref(t).Underlying().(*types.Struct)
		if !ok {
			return "", false
		}
		x, t = x+"."+st.Field(i).Name(), st.Field(i).Type()
	}
	if _, ok := t.Underlying().(*types.Pointer); !ok {
		x = "&" + x
	}
	return host(waits[f.FullName()]) + "(" + x + ")", true
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func (l *lowering) builtin(name string, c *ast.CallExpr) (string, bool) {
	if b, ok := l.src.info.Uses[ast.Unparen(c.Fun).(*ast.Ident)].(*types.Builtin); !ok || b.Name() != name {
		return "", false
	}
	switch name {
	case "print", "println":
		return host("P"+name[1:]) + "(" + l.texts(c.Args) + ")", true
	case "min", "max":
		return l.minmax(name, c), true
	case "clear":
		return l.clear(c), true
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
	ts := l.typ(t)
	return l.helper("zero", ts, func(n string) string {
		return "func " + n + "() " + ts + " { var x " + ts + "; return x }"
	}) + "()", true
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

// arguments renders the arguments of a call where yaegi passes them wrong.
func (l *lowering) arguments(c *ast.CallExpr) (string, bool) {
	sig, ok := l.typeOf(c.Fun).Underlying().(*types.Signature)
	if !ok || len(c.Args) == 0 {
		return "", false
	}
	foreign := l.foreign(c.Fun)
	var as []string
	changed := false
	for i, a := range c.Args {
		s := l.text(a)
		to := paramType(sig, i, c.Ellipsis.IsValid())
		if to == nil {
			as = append(as, s)
			continue
		}
		if v := l.converted(a, s, l.subst(to)); v != s {
			s, changed = v, true
		} else if foreign {
			if _, ok := ast.Unparen(a).(*ast.FuncLit); ok {
				s, changed = l.captured(a, s), true
			} else if w, ok := l.wrapped(c.Fun, a, s, to); ok {
				s, changed = w, true
			}
		}
		as = append(as, s)
	}
	if !changed {
		return "", false
	}
	dots := ""
	if c.Ellipsis.IsValid() {
		dots = "..."
	}
	return l.text(c.Fun) + "(" + strings.Join(as, ", ") + dots + ")", true
}

func paramType(sig *types.Signature, i int, ellipsis bool) types.Type {
	p := sig.Params()
	switch {
	case sig.Variadic() && i >= p.Len()-1:
		if ellipsis {
			return p.At(p.Len() - 1).Type()
		}
		if s, ok := p.At(p.Len() - 1).Type().(*types.Slice); ok {
			return s.Elem()
		}
	case i < p.Len():
		return p.At(i).Type()
	}
	return nil
}

// foreign tells functions and methods of compiled packages.
func (l *lowering) foreign(f ast.Expr) bool { return l.foreignPackage(f) != "" }

// foreignPackage is the path of the compiled package that has function f.
func (l *lowering) foreignPackage(f ast.Expr) string {
	var id *ast.Ident
	switch f := ast.Unparen(f).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return ""
	}
	o, ok := l.src.info.Uses[id].(*types.Func)
	if !ok || o.Pkg() == nil || l.ours(o) {
		return ""
	}
	return o.Pkg().Path()
}

// panicStmt renders a panic with a value whose message is an interpreted
// method's: the host keeps the value for recover and the message for the user.
//
//	panic(E{4})
//	{ p__1 := E{4}; panic(host.Raise(p__1, func() string { return p__1.Error() })) }
func (l *lowering) panicStmt(n *ast.ExprStmt) (string, bool) {
	c, ok := n.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || !l.src.info.Types[c.Fun].IsBuiltin() {
		return "", false
	}
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	if !ok || id.Name != "panic" || l.src.info.Types[c.Args[0]].IsNil() {
		return "", false
	}
	t := l.typeOf(c.Args[0])
	if types.IsInterface(t) || !l.interpreted(t) {
		return "", false
	}
	method := "Error"
	if !types.Implements(t, errorType) {
		if method = "String"; !types.Implements(t, stringerType) {
			return "", false
		}
	}
	p := l.fresh("p")
	return "{ " + p + " := " + l.text(c.Args[0]) + "; " + mark(l.src.off(c.Pos()), 0) + "panic(" + host("Raise") + "(" + p + ", func() string { return " + p + "." + method + "() })) }", true
}

// interpreted tells types whose methods, if any, are in the interpreter, and
// interfaces that may hold one.
func (l *lowering) interpreted(t types.Type) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if types.IsInterface(t) {
		return true
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Pkg() != nil && l.ours(n.Obj())
}
