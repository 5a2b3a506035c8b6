package yaegi

import (
	"go/ast"
	"go/types"
	"strings"
)

// Calls.
//
// Functions that block or end in a way that only the host can do right become
// the host's, as do waits, so that an interrupt ends them. Arguments are
// converted where yaegi passes them wrong:
//
//	s.mu.Lock()
//	host.Lock(&s.mu)
//
//	sort.Slice(xs, func(i, j int) bool {...})
//	sort__.Slice(xs, fn__1(func(i, j int) bool {...}))

// hostFuncs are functions of packages that the host replaces: they end or
// block in a way that only the host can do right.
var hostFuncs = map[string]string{
	"os.Exit":        "Exit",
	"runtime.Goexit": "Goexit",
	"time.Sleep":     "Sleep",
	"log.Fatal":      "Fatal",
	"log.Fatalf":     "Fatalf",
	"log.Fatalln":    "Fatalln",

	// these start goroutines, whose panics would end the process
	"time.AfterFunc":    "After",
	"context.AfterFunc": "AfterContext",
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
		if isUnsafe(t) != isUnsafe(l.typeOf(c.Args[0])) {
			l.fail(c, "package unsafe")
		}
		if from := l.typeOf(c.Args[0]); types.IsInterface(t) && !types.IsInterface(from) {
			s := l.text(c.Args[0])
			if v := l.converted(c.Args[0], s, t); v != s {
				return v, true
			}
			if l.interpreted(from) {
				return l.asInterface(s, from, t), true
			}
			return head(l.text(c.Fun)) + "(" + s + ")", true
		}
		if isBoolean(t) {
			return l.toBool(l.text(c.Args[0]), l.typeOf(c.Args[0]), t), true
		}
		return head(l.text(c.Fun)) + "(" + l.texts(c.Args) + ")", true
	}
	if s, ok := l.hostMethod(c); ok {
		return s, true
	}
	if s, ok := l.errorsCall(c); ok {
		return s, true
	}
	if s, ok := l.typeVerbs(c); ok {
		return s, true
	}
	return l.arguments(c)
}

// hostMethods are methods that the host replaces: an interrupt ends them, where
// they can block for ever, and what they start cannot end the process.
var hostMethods = map[string]string{
	"(*sync.WaitGroup).Go":   "WaitGo",
	"(*sync.WaitGroup).Wait": "Wait",
	"(*sync.Mutex).Lock":     "Lock",
	"(*sync.RWMutex).Lock":   "RWLock",
	"(*sync.RWMutex).RLock":  "RLock",
}

func (l *lowering) hostMethod(c *ast.CallExpr) (string, bool) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	s := l.src.info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return "", false
	}
	f, ok := s.Obj().(*types.Func)
	if !ok || hostMethods[f.FullName()] == "" {
		return "", false
	}
	x, t := l.text(sel.X), l.typeOf(sel.X)
	for _, i := range s.Index()[:len(s.Index())-1] {
		st, ok := deref(t).Underlying().(*types.Struct)
		if !ok {
			return "", false
		}
		x, t = x+"."+l.fieldName(st.Field(i)), st.Field(i).Type()
	}
	if _, ok := t.Underlying().(*types.Pointer); !ok {
		x = "&" + x
	}
	for _, a := range c.Args {
		s := l.text(a)
		if _, ok := ast.Unparen(a).(*ast.FuncLit); ok {
			s = l.captured(a, s)
		}
		x += ", " + s
	}
	return host(hostMethods[f.FullName()]) + "(" + x + ")", true
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// arguments renders the arguments of a call where yaegi passes them wrong.
func (l *lowering) arguments(c *ast.CallExpr) (string, bool) {
	sig, ok := l.typeOf(c.Fun).Underlying().(*types.Signature)
	if !ok {
		return "", false
	}
	if n := sig.Params().Len(); sig.Variadic() && len(c.Args) == n-1 && l.foreignFunc(c.Fun) == nil {
		return l.withoutLast(c, sig)
	}
	if len(c.Args) == 0 {
		return "", false
	}
	foreign := l.foreign(c.Fun)
	var as []string
	for i, a := range c.Args {
		s := l.text(a)
		to := paramType(sig, i, c.Ellipsis.IsValid())
		if to == nil {
			as = append(as, s)
			continue
		}
		if !foreign && l.src.info.Types[a].IsNil() && sig.Variadic() && i >= sig.Params().Len()-1 && !c.Ellipsis.IsValid() {
			s = l.zeroOf(l.subst(to)) + "()" // yaegi has no type for it
		} else if foreign && empty(l.subst(to)) {
			if w, ok := l.wrapped(c.Fun, i, a, s, to); ok {
				s = w
			}
		} else if v := l.converted(a, s, l.subst(to)); v != s {
			s = v
		} else if foreign {
			if _, ok := ast.Unparen(a).(*ast.FuncLit); ok {
				s = l.captured(a, s)
			} else if c.Ellipsis.IsValid() && i == len(c.Args)-1 && l.formatsAll(c.Fun, a) {
				s = host("FormatAll") + "(" + s + ")"
			}
		}
		as = append(as, s)
	}
	if last := sig.Params().Len() - 1; sig.Variadic() && !foreign && !c.Ellipsis.IsValid() && len(c.Args) > last && l.returned(c.Args[last:], l.subst(paramType(sig, last, false))) {
		list := l.typ(sig.Params().At(last).Type()) + "{" + strings.Join(as[last:], ", ") + "}..."
		return l.text(c.Fun) + "(" + strings.Join(append(as[:last:last], list), ", ") + ")", true
	}
	dots := ""
	if c.Ellipsis.IsValid() {
		dots = "..."
	}
	return l.text(c.Fun) + "(" + strings.Join(as, ", ") + dots + ")", true
}

// returned tells whether one of the arguments for elements of an interpreted
// interface type comes from a call. A literal gives such values the form that
// assertions look for, as an assignment does, see lower_func.go:
//
//	all(newSquare(1))
//	all([]Shape{newSquare(1)}...)
func (l *lowering) returned(args []ast.Expr, elem types.Type) bool {
	if !types.IsInterface(elem) || empty(elem) || l.compiled(elem) {
		return false
	}
	for _, a := range args {
		if c, ok := ast.Unparen(a).(*ast.CallExpr); ok && types.IsInterface(l.typeOf(c)) {
			return true
		}
	}
	return false
}

// withoutLast renders a call with no argument for the variadic parameter, which
// is nil then; yaegi makes an empty slice:
//
//	f(1)
//	f(1, ([]int)(nil)...)
func (l *lowering) withoutLast(c *ast.CallExpr, sig *types.Signature) (string, bool) {
	if len(c.Args) == 1 {
		if _, tuple := l.typeOf(c.Args[0]).(*types.Tuple); tuple {
			return "", false
		}
	}
	var as []string
	for i, a := range c.Args {
		as = append(as, l.converted(a, l.text(a), l.subst(sig.Params().At(i).Type())))
	}
	last := sig.Params().At(len(c.Args)).Type()
	as = append(as, "("+l.typ(last)+")(nil)...")
	return l.text(c.Fun) + "(" + strings.Join(as, ", ") + ")", true
}

// empty tells the type any.
func empty(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
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
	if o := l.foreignFunc(f); o != nil {
		return o.Pkg().Path()
	}
	return ""
}

// foreignFunc is the function or method of a compiled package that f names.
func (l *lowering) foreignFunc(f ast.Expr) *types.Func {
	o, ok := l.object(f).(*types.Func)
	if !ok || o.Pkg() == nil || l.ours(o) {
		return nil
	}
	return o
}

// object is what a name or a selector stands for, or nil.
func (l *lowering) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.src.info.Uses[e]
	case *ast.SelectorExpr:
		return l.src.info.Uses[e.Sel]
	}
	return nil
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
