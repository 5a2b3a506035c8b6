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
		return head(l.text(c.Fun)) + "(" + l.texts(c.Args) + ")", true
	}
	return l.arguments(c)
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
		if to := paramType(sig, i, c.Ellipsis.IsValid()); to != nil && len(c.Args) > 1-1 && foreign {
			if w, ok := l.wrapped(a, s, to); ok {
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
func (l *lowering) foreign(f ast.Expr) bool {
	var id *ast.Ident
	switch f := ast.Unparen(f).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return false
	}
	o, ok := l.src.info.Uses[id].(*types.Func)
	return ok && o.Pkg() != nil && !l.ours(o)
}

var (
	errorType    = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	stringerType = types.NewInterfaceType([]*types.Func{types.NewFunc(0, nil, "String",
		types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(0, nil, "", types.Typ[types.String])), false))}, nil).Complete()
)

// wrapped renders an argument that compiled code gets as an interface: an
// interpreted type has no methods there, so the host wraps the ones that
// matter to fmt and errors.
//
//	fmt.Println(celsius(20))
//	fmt__.Println(host__0.Stringer(celsius(20)))
func (l *lowering) wrapped(a ast.Expr, s string, to types.Type) (string, bool) {
	i, ok := to.Underlying().(*types.Interface)
	if !ok || i.NumMethods() > 0 || l.src.info.Types[a].IsNil() {
		return "", false
	}
	t := l.typeOf(a)
	if _, ok := t.(*types.Tuple); ok || !l.interpreted(t) {
		return "", false
	}
	switch {
	case types.Implements(t, errorType):
		return host("Error") + "(" + s + ")", true
	case types.Implements(t, stringerType):
		return host("Stringer") + "(" + s + ")", true
	}
	return "", false
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
