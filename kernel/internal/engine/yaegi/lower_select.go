package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Select.
//
// yaegi's goroutines share the cases of a select statement while they run it,
// and it knows few forms of clauses. The host selects; values travel through
// variables of their type:
//
//	select { case x.a = <-c: f(); case d <- 1: default: g() }
//	{ var v__1 int; ok__2 := false; s__3 := 1
//	  switch host.Select(true, host.Recv(c, &v__1, &ok__2), host.Send(d, &s__3)) {
//	  case 0: x.a = v__1; f()
//	  case 1:
//	  default: g() } }

func (l *lowering) selectStmt(n *ast.SelectStmt) string {
	if len(n.Body.List) == 0 {
		return host("Select") + "(false)" // yaegi skips a switch without clauses
	}
	f := &frame{node: n, label: l.label[n]}
	var b strings.Builder
	b.WriteString("{ ")
	hasDefault := false
	var cases, clauses []string
	for i, s := range n.Body.List {
		c := s.(*ast.CommClause)
		first, head := "", fmt.Sprintf("case %d: ", len(cases))
		switch comm := c.Comm.(type) {
		case nil:
			hasDefault, head = true, "default: "
		case *ast.SendStmt:
			ch, v := l.fresh("ch"), l.fresh("s")
			e := l.typeOf(comm.Chan).Underlying().(*types.Chan).Elem()
			b.WriteString(ch + " := " + l.text(comm.Chan) + "; var " + v + " " + l.typ(e) + " = " + l.text(comm.Value) + "; ")
			cases = append(cases, host("Send")+"("+ch+", &"+v+")")
		case *ast.ExprStmt:
			cases = append(cases, l.receive(&b, comm.X, "nil", "nil"))
		case *ast.AssignStmt:
			v, ok := "nil", "nil"
			var vars []string
			if !isBlank(comm.Lhs[0]) {
				v = l.fresh("v")
				e := l.typeOf(ast.Unparen(comm.Rhs[0]).(*ast.UnaryExpr).X).Underlying().(*types.Chan).Elem()
				b.WriteString("var " + v + " " + l.typ(e) + "; ")
				vars = append(vars, l.text(comm.Lhs[0])+" "+comm.Tok.String()+" "+v)
				v = "&" + v
			}
			if len(comm.Lhs) > 1 && !isBlank(comm.Lhs[1]) {
				ok = l.fresh("ok")
				b.WriteString(ok + " := false; ")
				vars = append(vars, l.text(comm.Lhs[1])+" "+comm.Tok.String()+" "+ok)
				ok = "&" + ok
			}
			cases = append(cases, l.receive(&b, comm.Rhs[0], v, ok))
			for _, s := range vars {
				first += s + "; "
				if comm.Tok == token.DEFINE {
					first += "_ = " + s[:strings.Index(s, " :=")] + "; "
				}
			}
		}
		end := n.Body.Rbrace
		if i+1 < len(n.Body.List) {
			end = n.Body.List[i+1].Pos()
		}
		clauses = append(clauses, mark(l.src.off(c.Pos()), 0)+head+first+l.clause(f, c, c.Body, c.Colon+1, end))
	}
	b.WriteString("\n")
	if f.label != "" {
		b.WriteString(f.label + ": ")
	}
	args := append([]string{fmt.Sprint(hasDefault)}, cases...)
	b.WriteString("switch " + mark(l.src.off(n.Pos()), 0) + host("Select") + "(" + strings.Join(args, ", ") + ") {\n" + strings.Join(clauses, "\n") + "\n} }")
	return b.String()
}

// receive evaluates the channel of a receive and returns its case.
func (l *lowering) receive(b *strings.Builder, e ast.Expr, v, ok string) string {
	ch := l.fresh("ch")
	b.WriteString(ch + " := " + l.text(ast.Unparen(e).(*ast.UnaryExpr).X) + "; ")
	return host("Recv") + "(" + ch + ", " + v + ", " + ok + ")"
}
