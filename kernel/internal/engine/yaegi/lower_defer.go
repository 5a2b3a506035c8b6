package yaegi

import (
	"go/ast"
	"go/types"
	"strings"
)

// Deferred calls and goroutines.
//
// yaegi reads the function, receiver and arguments of a deferred call when it
// runs, loses panics in deferred calls and deadlocks in some. The body of a
// function that defers becomes a literal that the host runs, and a deferred
// call a closure over its values:
//
//	defer fmt.Println(i)
//	d__1.Add(func(da__2 int) func() { return func() { fmt__.Println(da__2) } }(i))
//
// A go statement is the same with host__0.Go, which makes a panic the cell's
// failure instead of the end of the process. The values go through parameters
// because a variable declared in a loop is not new in each turn for yaegi.

func (l *lowering) deferStmt(d *ast.DeferStmt) string {
	dn := l.fnFrame(len(l.stack)).d
	if lit, ok := ast.Unparen(d.Call.Fun).(*ast.FuncLit); ok {
		l.direct[lit] = dn
	}
	if id, ok := ast.Unparen(d.Call.Fun).(*ast.Ident); ok {
		if b, ok := l.src.info.Uses[id].(*types.Builtin); ok && b.Name() == "recover" {
			return dn + ".Add(func() { " + dn + ".Recover() })"
		}
	}
	return dn + ".Add(" + l.thunk(d.Call) + ")"
}

func (l *lowering) goStmt(g *ast.GoStmt) string {
	return host("Go") + "(" + l.thunk(g.Call) + ")"
}

// thunk renders a call as a func() that makes it with the values of now.
func (l *lowering) thunk(c *ast.CallExpr) string {
	info := l.src.info
	if lit, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok && l.typeOf(lit).(*types.Signature).Params().Len() == 0 && l.typeOf(lit).(*types.Signature).Results().Len() == 0 {
		return l.captured(lit, l.text(lit))
	}
	var ps, vs, as []string
	bind := func(t types.Type, v string) string {
		n := l.fresh("da")
		ps, vs = append(ps, n+" "+l.typ(t)), append(vs, v)
		return n
	}
	var fun string
	var sig *types.Signature
	discard := false
	switch tv := info.Types[c.Fun]; {
	case tv.IsBuiltin():
		fun = l.src.string(c.Fun)
		switch fun {
		case "print", "println":
			fun = host("P" + fun[1:])
		case "recover":
			fun = host("Recover")
		}
	case tv.IsType():
		fun, discard = head(l.text(c.Fun)), true
	default:
		sig, _ = l.typeOf(c.Fun).Underlying().(*types.Signature)
		fun = l.callee(c.Fun, bind)
	}
	for i, a := range c.Args {
		tv := info.Types[a]
		t := l.typeOf(a)
		if tuple, ok := t.(*types.Tuple); ok {
			for k := range tuple.Len() {
				n := l.fresh("da")
				ps, as = append(ps, n+" "+l.typ(tuple.At(k).Type())), append(as, n)
			}
			vs = append(vs, l.text(a))
			continue
		}
		if tv.IsType() {
			as = append(as, l.text(a))
			continue
		}
		if sig != nil {
			if p := paramType(sig, i, c.Ellipsis.IsValid()); p != nil {
				t = p
			}
		}
		if b, ok := t.(*types.Basic); ok && b.Kind() == types.UntypedNil {
			as = append(as, "nil")
			continue
		}
		s := l.text(a)
		if l.foreign(c.Fun) {
			if w, ok := l.wrapped(c.Fun, i, a, s, t); ok {
				s = w
			} else if types.IsInterface(t) && !tv.IsNil() { // compiled code gets the value itself
				t = types.Default(l.typeOf(a))
			}
		} else if types.IsInterface(t) {
			s = l.converted(a, s, t)
		}
		as = append(as, bind(t, s))
	}
	dots := ""
	if c.Ellipsis.IsValid() {
		dots = "..."
	} else if sig != nil && sig.Variadic() && len(c.Args) == sig.Params().Len()-1 && l.foreignFunc(c.Fun) == nil {
		as = append(as, "("+l.typ(sig.Params().At(len(c.Args)).Type())+")(nil)")
		dots = "..."
	}
	call := fun + "(" + strings.Join(as, ", ") + dots + ")"
	if discard {
		call = "_ = " + call
	}
	call = "func() { " + call + " }"
	if len(ps) == 0 {
		return call
	}
	return "func(" + strings.Join(ps, ", ") + ") func() { return " + call + " }(" + strings.Join(vs, ", ") + ")"
}

// captured renders a function literal that compiled code gets. yaegi would
// pass it with the frame as it is when it runs; through a function's parameter
// it captures the variables of now.
func (l *lowering) captured(e ast.Expr, s string) string {
	t := l.typ(l.typeOf(e))
	return l.helper("fn", t, func(n string) string {
		return "func " + n + "(f " + t + ") " + t + " { return f }"
	}) + "(" + s + ")"
}

// callee renders the function of a call that is made later.
func (l *lowering) callee(f ast.Expr, bind func(types.Type, string) string) string {
	info := l.src.info
	switch f := ast.Unparen(f).(type) {
	case *ast.Ident:
		if _, ok := info.Uses[f].(*types.Func); ok {
			return l.text(f)
		}
	case *ast.SelectorExpr:
		s := info.Selections[f]
		if s == nil {
			return l.text(f) // of a package
		}
		if s.Kind() == types.MethodVal && len(s.Index()) == 1 {
			_, ptr := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
			x, xt := l.text(f.X), l.typeOf(f.X)
			if _, isPtr := types.Unalias(xt).(*types.Pointer); ptr && !isPtr {
				x, xt = "&("+x+")", types.NewPointer(xt)
			}
			return bind(xt, x) + "." + f.Sel.Name
		}
	}
	return bind(l.typeOf(f), l.text(f))
}

// string is the source text of a node.
func (s *source) string(n ast.Node) string { return string(s.text[s.off(n.Pos()):s.off(n.End())]) }
