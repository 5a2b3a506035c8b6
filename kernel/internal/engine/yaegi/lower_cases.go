package yaegi

import (
	"go/ast"
	"go/types"
	"strings"
)

// Switches over interface values.
//
// yaegi converts the values of the cases to the type of the operand, or the
// other way round, and panics or compares wrong. The cases become conditions,
// one for each, as yaegi looks at the first of several only:
//
//	switch err { case nil: f(); case io.EOF, stop: g() }
//	{ x__1 := err; switch {
//	  case x__1 == nil: f()
//	  case host.Equal([]interface{}{x__1, io.EOF}) || host.Equal([]interface{}{x__1, stop}): g() } }

// overInterface tells switches in which an interface value is compared.
func (l *lowering) overInterface(n *ast.SwitchStmt) bool {
	if n.Tag == nil {
		return false
	}
	if types.IsInterface(l.typeOf(n.Tag)) {
		return true
	}
	for _, s := range n.Body.List {
		for _, e := range s.(*ast.CaseClause).List {
			if types.IsInterface(l.typeOf(e)) {
				return true
			}
		}
	}
	return false
}

func (l *lowering) switchStmt(n *ast.SwitchStmt) string {
	f := &frame{node: n, label: l.label[n]}
	if !l.overInterface(n) {
		return l.within(f, func() string { return l.inner(n) })
	}
	var b strings.Builder
	b.WriteString("{ ")
	if n.Init != nil {
		b.WriteString(l.text(n.Init) + "; ")
	}
	x := l.fresh("x")
	b.WriteString(x + " := " + l.text(n.Tag) + "\n")
	if f.label != "" {
		b.WriteString(f.label + ": ")
	}
	b.WriteString("switch {\n")
	for i, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		var conditions []string
		for _, e := range c.List {
			if l.src.info.Types[e].IsNil() {
				conditions = append(conditions, x+" == nil")
				continue
			}
			conditions = append(conditions, host("Equal")+"([]interface{}{"+x+", "+l.text(e)+"})")
		}
		head := "default: "
		if c.List != nil {
			head = "case " + strings.Join(conditions, " || ") + ": "
		}
		end := n.Body.Rbrace
		if i+1 < len(n.Body.List) {
			end = n.Body.List[i+1].Pos()
		}
		b.WriteString(mark(l.src.off(c.Pos()), 0) + head + l.within(f, func() string { return l.cut(c, c.Colon+1, end) }) + "\n")
	}
	return b.String() + "} }"
}
