package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Loops.
//
// yaegi shares loop variables between iterations. A variable that a closure
// uses, or whose address is taken, gets a copy per turn; a three-clause loop
// copies it back:
//
//	for i := 0; i < n; i++ { go f(&i) }
//	for i__1, st__2 := 0, false; true; {
//		i := i__1
//		if st__2 { i++ } else { st__2 = true }
//		if !(i < n) { break }
//		go f(&i)
//		i__1 = i
//	}
//
// Ranges over integers become counter loops, over strings loops that decode
// (yaegi gives wrong positions after bytes that are no UTF-8), over functions
// see lower_rangefunc.go.

// findEscapes marks variables that a closure uses or whose address is taken,
// and functions that are called where they stand.
func (l *lowering) findEscapes(root ast.Node) {
	info, at := l.src.info, map[types.Object]ast.Node{}
	escape := func(e ast.Expr) {
		if id := rootIdent(e); id != nil {
			l.esc[info.Uses[id]] = true
		}
	}
	var walk func(n, fn ast.Node)
	walk = func(n, fn ast.Node) {
		ast.Inspect(n, func(c ast.Node) bool {
			switch c := c.(type) {
			case *ast.FuncLit:
				if c != n {
					walk(c, c)
					return false
				}
			case *ast.Ident:
				if o := info.Defs[c]; o != nil {
					at[o] = fn
				}
				if o := info.Uses[c]; o != nil && at[o] != nil && at[o] != fn {
					l.esc[o] = true
				}
			case *ast.CallExpr:
				l.called[ast.Unparen(c.Fun)] = true
			case *ast.UnaryExpr:
				if c.Op == token.AND {
					escape(c.X)
				}
			case *ast.SliceExpr:
				escape(c.X)
			case *ast.SelectorExpr:
				if s := info.Selections[c]; s != nil && s.Kind() == types.MethodVal {
					escape(c.X)
				}
			case *ast.DeferStmt, *ast.GoStmt:
				// their closures come with lowering
				ast.Inspect(c, func(d ast.Node) bool {
					if id, ok := d.(*ast.Ident); ok {
						l.esc[info.Uses[id]] = true
					}
					return true
				})
			}
			return true
		})
	}
	walk(root, root)
	delete(l.esc, nil)
}

func rootIdent(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// loopBody renders a block with statements put at its start and end.
func (l *lowering) loopBody(b *ast.BlockStmt, first, last string) string {
	if first != "" {
		first += ";"
	}
	if last != "" {
		last = "; " + last
	}
	return "{" + first + l.block(b) + last + "}"
}

// copies declares anew what escapes.
func (l *lowering) copies(es ...ast.Expr) string {
	var r []string
	for _, e := range es {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" && l.esc[l.src.info.Defs[id]] {
			n := l.text(id)
			r = append(r, n+" := "+n)
		}
	}
	return strings.Join(r, "; ")
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return e == nil || ok && id.Name == "_"
}

func (l *lowering) rangeStmt(r *ast.RangeStmt) string {
	f := &frame{node: r, label: l.label[r], loop: true}
	if l.isSeq(r) {
		return l.rangeSeq(r, f)
	}
	if b, ok := l.typeOf(r.X).Underlying().(*types.Basic); ok {
		if b.Info()&types.IsInteger != 0 {
			return l.rangeInt(r, f, b)
		}
		if b.Info()&types.IsString != 0 {
			return l.rangeString(r, f)
		}
	}
	if s, ok := l.rangeKeys(r, f); ok {
		return s
	}
	if r.Tok == token.ASSIGN {
		return l.rangeAssign(r, f)
	}
	first := ""
	if r.Tok == token.DEFINE {
		first = l.copies(r.Key, r.Value)
	}
	head := l.cut(r, r.Pos(), r.Body.Pos())
	if n := l.pointedArray(r); n > 0 {
		k := "_"
		if !isBlank(r.Key) {
			k = l.text(r.Key)
		}
		if isBlank(r.Value) && l.simpleCondition(r.X) { // the pointer may be nil
			head = fmt.Sprintf("for %s := range [%d]struct{}{} ", k, n)
			if k == "_" {
				head = fmt.Sprintf("for range [%d]struct{}{} ", n)
			}
		} else {
			v := "_"
			if !isBlank(r.Value) {
				v = l.text(r.Value)
			}
			define := " := "
			if k == "_" && v == "_" {
				define = " = "
			}
			head = "for " + k + ", " + v + define + "range " + l.ranged(r) + " "
		}
	}
	return head + l.within(f, func() string { return l.loopBody(r.Body, first, "") })
}

// pointedArray is the length of the array behind a pointer that is ranged over,
// which yaegi cannot do; 0 for other ranges:
//
//	for _, x := range p {}
//	for _, x := range (p)[:] {}
func (l *lowering) pointedArray(r *ast.RangeStmt) int64 {
	if p, ok := l.typeOf(r.X).Underlying().(*types.Pointer); ok {
		if a, ok := p.Elem().Underlying().(*types.Array); ok {
			return a.Len()
		}
	}
	return 0
}

// ranged renders what is ranged over.
func (l *lowering) ranged(r *ast.RangeStmt) string {
	if l.pointedArray(r) > 0 {
		return "(" + l.text(r.X) + ")[:]"
	}
	return l.text(r.X)
}

// rangeAssign renders a range that assigns to operands that are there. yaegi
// makes new variables:
//
//	for k = range m { f(k) }
//	for k__1 := range m { k = k__1; f(k) }
func (l *lowering) rangeAssign(r *ast.RangeStmt, f *frame) string {
	var vars, sets []string
	for _, e := range []ast.Expr{r.Key, r.Value} {
		if e == nil {
			continue
		}
		if isBlank(e) {
			vars = append(vars, "_")
			continue
		}
		v := l.fresh("k")
		// for i, xs[i] = range: the index is that of before
		vars, sets = append(vars, v), append([]string{l.text(e) + " = " + v}, sets...)
	}
	define := " := "
	if len(sets) == 0 {
		define = " = "
	}
	return "for " + strings.Join(vars, ", ") + define + "range " + l.ranged(r) + " " +
		l.within(f, func() string { return l.loopBody(r.Body, strings.Join(sets, "; "), "") })
}

func (l *lowering) rangeInt(r *ast.RangeStmt, f *frame, b *types.Basic) string {
	t := l.typeOf(r.X)
	if r.Key != nil && r.Tok == token.DEFINE {
		if o := l.src.info.Defs[r.Key.(*ast.Ident)]; o != nil {
			t = o.Type()
		}
	} else if r.Key != nil && b.Info()&types.IsUntyped != 0 && !isBlank(r.Key) {
		t = l.typeOf(r.Key)
	}
	ts := head(l.typ(t))
	c, m, first := l.fresh("c"), l.fresh("m"), ""
	x := l.text(r.X)
	if !isBlank(r.Key) {
		k := l.text(r.Key)
		if r.Tok == token.DEFINE && !l.esc[l.src.info.Defs[r.Key.(*ast.Ident)]] && !assigns(r.Body, l.src.info, l.src.info.Defs[r.Key.(*ast.Ident)]) {
			// nothing tells the variable from the counter
			return fmt.Sprintf("for %s, %s := %s(0), %s(%s); %s < %s; %s++ %s", k, m, ts, ts, x, k, m, k,
				l.within(f, func() string { return l.loopBody(r.Body, "", "") }))
		}
		first = k + " " + r.Tok.String() + " " + c
	}
	return fmt.Sprintf("for %s, %s := %s(0), %s(%s); %s < %s; %s++ %s", c, m, ts, ts, x, c, m, c,
		l.within(f, func() string { return l.loopBody(r.Body, first, "") }))
}

// assigns tells whether a block assigns to a variable.
func assigns(b ast.Node, info *types.Info, v types.Object) bool {
	found := false
	is := func(e ast.Expr) {
		if id := rootIdent(e); id != nil && info.Uses[id] == v {
			found = true
		}
	}
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				is(e)
			}
		case *ast.IncDecStmt:
			is(n.X)
		case *ast.RangeStmt:
			if n.Key != nil {
				is(n.Key)
			}
			if n.Value != nil {
				is(n.Value)
			}
		}
		return !found
	})
	return found
}

func (l *lowering) rangeString(r *ast.RangeStmt, f *frame) string {
	s, i, v, w := l.fresh("s"), l.fresh("i"), l.fresh("r"), l.fresh("w")
	first := fmt.Sprintf("%s, %s := %s(%s, %s); _ = %s", v, w, host("Rune"), s, i, v)
	if !isBlank(r.Value) { // first: its operands are those of before
		first += "; " + l.text(r.Value) + " " + r.Tok.String() + " " + v
	}
	if !isBlank(r.Key) {
		first += "; " + l.text(r.Key) + " " + r.Tok.String() + " " + i
	}
	f.cont = i + " += " + w
	return fmt.Sprintf("for %s, %s := string(%s), 0; %s < len(%s); %s", s, i, l.text(r.X), i, s,
		l.within(f, func() string { return l.loopBody(r.Body, first, f.cont) }))
}

func (l *lowering) forStmt(n *ast.ForStmt) string {
	f := &frame{node: n, label: l.label[n], loop: true}
	if a, ok := n.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && l.copies(a.Lhs...) != "" {
		return l.forCopies(n, a, f)
	}
	if n.Init != nil && n.Cond == nil && n.Post == nil {
		// yaegi runs the init statement again
		return "for " + l.text(n.Init) + "; true; " + l.within(f, func() string { return "{" + l.block(n.Body) + "}" })
	}
	return l.within(f, func() string { return l.inner(n) })
}

func (l *lowering) forCopies(n *ast.ForStmt, a *ast.AssignStmt, f *frame) string {
	var outs, ins, back []string
	for _, e := range a.Lhs {
		if isBlank(e) {
			outs = append(outs, "_")
			continue
		}
		v := l.text(e)
		o := l.fresh(e.(*ast.Ident).Name)
		outs, ins, back = append(outs, o), append(ins, v+" := "+o), append(back, o+" = "+v)
	}
	started := l.fresh("st")
	first := strings.Join(ins, "; ")
	if n.Post != nil {
		first += "; if " + started + " { " + l.text(n.Post) + " } else { " + started + " = true }"
	}
	if n.Cond != nil {
		first += "; if !(" + l.text(n.Cond) + ") { break }"
	}
	f.cont = strings.Join(back, "; ")
	init := strings.Join(outs, ", ") + " := " + l.texts(a.Rhs)
	if len(outs) == len(a.Rhs) {
		init = strings.Join(outs, ", ") + ", " + started + " := " + l.texts(a.Rhs) + ", false"
	} else {
		return "{ " + started + " := false; for " + init + "; true; " +
			l.within(f, func() string { return l.loopBody(n.Body, first, f.cont) }) + " }"
	}
	return "for " + init + "; true; " + l.within(f, func() string { return l.loopBody(n.Body, first, f.cont) })
}
