package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Functions and their results.
//
// In yaegi the result slots of a call are the caller's variables, so a result
// starts with the value that the caller's variable has. Named results become
// plain variables:
//
//	func f() (n int) { n++; return }
//	func f() (int) { var n int; _ = n; n++; return n }
//
// yaegi counts no parameter that has no name:
//
//	func f(int) {}
//	func f(_ int) {}
//
// An interface value that a call returns and another call takes has not the
// form that assertions look for, which an assignment gives it:
//
//	func is(s Shape) bool { _, ok := s.(*Square); return ok }
//	func is(s Shape) bool { s = s; _, ok := s.(*Square); return ok }
//
// A function with deferred calls has its body run by the host, see
// lower_defer.go.

// function renders a function from a position in its head on.
func (l *lowering) function(n ast.Node, from token.Pos, t *ast.FuncType, body *ast.BlockStmt, f *frame) string {
	if body == nil {
		l.fail(n, "a function without a body")
		return ""
	}
	for _, p := range t.Params.List {
		l.unnamed[p] = len(p.Names) == 0
	}
	has := hasDefer(body)
	named := f.sig.Results().Len() > 0 && f.sig.Results().At(0).Name() != ""
	vars := l.settled(t.Params, body)
	if !has && !named {
		return l.within(f, func() string { return l.cut(n, from, body.Pos()) + " {" + vars + l.block(body) + "}" })
	}
	f.named = true
	head := l.cut(n, from, t.Params.End())
	back := "return"
	if res := f.sig.Results(); res.Len() > 0 {
		var rs, ns []string
		for i := range res.Len() {
			rs = append(rs, l.typ(res.At(i).Type()))
			ns = append(ns, l.resultName(f, i))
			vars += "var " + ns[i] + " " + rs[i] + "; _ = " + ns[i] + "; "
		}
		head += " (" + strings.Join(rs, ", ") + ")"
		back += " " + strings.Join(ns, ", ")
	}
	return head + l.within(f, func() string {
		if !has {
			end := "; " + back
			if c := len(body.List); c > 0 {
				if _, ok := body.List[c-1].(*ast.ReturnStmt); ok {
					end = ""
				}
			}
			return " { " + vars + l.block(body) + end + " }"
		}
		f.d = l.fresh("d")
		return " { " + vars + host("Run") + "(func(" + f.d + " *" + host("D") + ") {" + l.block(body) + "}); " + back + " }"
	})
}

// settled assigns to themselves the parameters of interpreted interface types
// whose dynamic type the body asks for.
func (l *lowering) settled(params *ast.FieldList, body *ast.BlockStmt) string {
	asked := map[types.Object]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.TypeAssertExpr); ok { // of a type switch, too
			ast.Inspect(a.X, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					asked[l.src.info.Uses[id]] = true
				}
				return true
			})
		}
		return true
	})
	s := ""
	for _, p := range params.List {
		for _, id := range p.Names {
			o := l.src.info.Defs[id]
			if o == nil || !asked[o] {
				continue
			}
			if t := l.subst(o.Type()); types.IsInterface(t) && !empty(t) && !l.compiled(t) {
				x := l.text(id)
				s += x + " = " + x + "; "
			}
		}
	}
	return s
}

// hasDefer tells whether the function itself, not a literal in it, defers.
func hasDefer(body *ast.BlockStmt) bool {
	has := false
	ast.Inspect(body, func(c ast.Node) bool {
		switch c.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			has = true
		}
		return !has
	})
	return has
}

// resultName is the variable of result i.
func (l *lowering) resultName(f *frame, i int) string {
	if n := f.sig.Results().At(i).Name(); n != "" && n != "_" {
		if reserved(l, n) {
			return n + "__v"
		}
		return n
	}
	if f.names == nil {
		for range f.sig.Results().Len() {
			f.names = append(f.names, l.fresh("rv"))
		}
	}
	return f.names[i]
}

func (l *lowering) fnFrame(top int) *frame {
	for k := top - 1; k >= 0; k-- {
		if l.stack[k].fn {
			return l.stack[k]
		}
	}
	return nil
}

// ret renders a return statement, through range functions and deferred calls.
func (l *lowering) ret(n *ast.ReturnStmt) (string, bool) {
	f, fn := l.innerSeq(len(l.stack)), l.fnFrame(len(l.stack))
	if f == nil && fn.d == "" {
		if len(n.Results) > 0 {
			return "return " + strings.Join(l.results(n, fn), ", "), true
		}
		if !fn.named {
			return "", false
		}
		var ns []string
		for i := range fn.sig.Results().Len() {
			ns = append(ns, l.resultName(fn, i))
		}
		return "return " + strings.Join(ns, ", "), true
	}
	var b strings.Builder
	b.WriteString("{ ")
	if len(n.Results) > 0 {
		var ns []string
		for i := range fn.sig.Results().Len() {
			ns = append(ns, l.resultName(fn, i))
		}
		if len(n.Results) == len(ns) {
			b.WriteString(l.inTurn(ns, n.Results, func(i int) types.Type { return l.subst(fn.sig.Results().At(i).Type()) }) + "; ")
		} else {
			b.WriteString(strings.Join(ns, ", ") + " = " + l.text(n.Results[0]) + "; ")
		}
	}
	if f == nil {
		b.WriteString("return }")
	} else {
		b.WriteString(f.state + " = -2; return false }")
	}
	return b.String(), true
}

// results renders the operands of a return.
func (l *lowering) results(n *ast.ReturnStmt, fn *frame) []string {
	var r []string
	for i, e := range n.Results {
		s := l.text(e)
		if len(n.Results) == fn.sig.Results().Len() {
			s = l.converted(e, s, l.subst(fn.sig.Results().At(i).Type()))
		}
		r = append(r, s)
	}
	return r
}
