package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// The compiler's type checker and the standard library's are one in origin,
// and differ in some words and places still.

// words returns the message of an error as the compiler writes it.
func (k *check) words(c *Cell, err types.Error) string {
	msg := funcLiteral.ReplaceAllStringFunc(unqualify(err.Msg), func(lit string) string {
		return k.literalAt(c, err.Pos, lit)
	})
	if v := k.varsAt(err.Pos); v != nil {
		// The text has assignments in place of declarations, and the file of
		// declarations has var in place of :=.
		const assignment, declaration = "in assignment", "in variable declaration"
		if rest, ok := strings.CutSuffix(msg, assignment); ok && v.define == 0 {
			msg = rest + declaration
		} else if rest, ok := strings.CutSuffix(msg, declaration); ok && v.define != 0 {
			msg = rest + assignment
		}
	}
	name := msg[strings.LastIndexByte(msg, ' ')+1:]
	switch {
	case msg == "undefined: "+name && (k.live.imports[name] != "" || k.prelude.Imports[name] != "") && !k.selects(err.Pos):
		return "use of package " + name + " not in selector"
	case strings.HasPrefix(msg, "label ") && strings.HasSuffix(msg, " declared and not used"):
		return strings.TrimSuffix(msg, "declared and not used") + "defined and not used"
	case msg == "break not in for, switch, or select statement":
		return "break is not in a loop, switch, or select"
	case msg == "continue not in for statement":
		return "continue is not in a loop"
	case (strings.HasPrefix(msg, "invalid break label ") || strings.HasPrefix(msg, "invalid continue label ")) && !labelled(c.File, err.Pos, name):
		return strings.Fields(msg)[1] + " label not defined: " + name
	case strings.HasPrefix(msg, "goto ") && strings.HasSuffix(msg, " jumps into block"):
		if pos := blockOf(c.File, strings.Fields(msg)[1]); pos.IsValid() {
			return msg + " starting at " + k.fset.Position(pos).String()
		}
	}
	return msg
}

var funcLiteral = regexp.MustCompile(`\(func\(.*? literal\)`)

// literalAt writes the function literal at or behind pos that lit describes.
func (k *check) literalAt(c *Cell, pos token.Pos, lit string) string {
	ast.Inspect(c.File, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncLit)
		if ok && f.Pos() >= pos && strings.HasPrefix(lit, "(") {
			body := " {…}"
			if len(f.Body.List) == 0 {
				body = " {}"
			}
			lit = strings.TrimSuffix(strings.TrimPrefix(lit, "("), " literal)") + body
		}
		return strings.HasPrefix(lit, "(")
	})
	return lit
}

// varsAt returns the declaration of hoisted variables that pos lies in.
func (k *check) varsAt(pos token.Pos) *vars {
	off, ok := k.offset(pos)
	if !ok {
		return nil
	}
	for _, list := range k.vars {
		for _, v := range list {
			if k.toks[v.start].off <= off && off < k.toks[v.end-1].end {
				return v
			}
		}
	}
	return nil
}

// selects reports whether a period follows the identifier at pos.
func (k *check) selects(pos token.Pos) bool {
	off, ok := k.offset(pos)
	i := k.tokenAt(off)
	return !ok || k.at(i+1) == token.PERIOD || k.at(i-1) == token.PERIOD
}

// labelled reports whether pos lies in a statement with that label.
func labelled(f *ast.File, pos token.Pos, label string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		l, ok := n.(*ast.LabeledStmt)
		found = found || ok && l.Label.Name == label && within(l, pos)
		return !found && n != nil && within(n, pos)
	})
	return found
}

// blockOf returns where the block begins in which a label stands.
func blockOf(f *ast.File, label string) (pos token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok {
			for _, s := range b.List {
				if l, ok := s.(*ast.LabeledStmt); ok && l.Label.Name == label {
					pos = b.Lbrace
				}
			}
		}
		return !pos.IsValid()
	})
	return pos
}

// place returns where the compiler reports an error: of calls, indices and
// channel operations elsewhere than the standard library.
func (k *check) place(c *Cell, err types.Error) (pos token.Pos) {
	pos = err.Pos
	msg := err.Msg
	var there func(ast.Node) token.Pos // where it is, if that is the node
	switch {
	case strings.HasPrefix(msg, "in call to ") && strings.Contains(msg, "cannot infer"), strings.Contains(msg, " does not satisfy "):
		there = func(n ast.Node) token.Pos {
			if call, ok := n.(*ast.CallExpr); ok && call.Pos() == err.Pos {
				return call.Lparen
			}
			return token.NoPos
		}
	case strings.HasPrefix(msg, "not enough arguments in call to "):
		there = func(n ast.Node) token.Pos {
			call, ok := n.(*ast.CallExpr)
			switch {
			case !ok || call.Rparen != err.Pos:
				return token.NoPos
			case len(call.Args) == 0:
				return call.Pos()
			}
			return call.Args[len(call.Args)-1].Pos()
		}
	case strings.HasPrefix(msg, "invalid operation: not enough arguments for "), strings.HasPrefix(msg, "cannot use ... in call to non-variadic"), strings.HasPrefix(msg, "missing argument in conversion"):
		there = func(n ast.Node) token.Pos {
			if call, ok := n.(*ast.CallExpr); ok && (call.Rparen == err.Pos || call.Ellipsis == err.Pos || len(call.Args) > 0 && call.Args[len(call.Args)-1].Pos() == err.Pos) {
				return call.Pos()
			}
			return token.NoPos
		}
	case strings.HasPrefix(msg, "cannot index "):
		there = func(n ast.Node) token.Pos {
			if x, ok := n.(*ast.IndexExpr); ok && x.Pos() == err.Pos {
				return x.Lbrack
			}
			return token.NoPos
		}
	case strings.HasPrefix(msg, "invalid operation: cannot send to "):
		there = func(n ast.Node) token.Pos {
			if s, ok := n.(*ast.SendStmt); ok && s.Arrow == err.Pos {
				return s.Pos()
			}
			return token.NoPos
		}
	default:
		return pos
	}
	for _, f := range []*ast.File{c.File, k.decls} {
		if f == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				if p := there(n); p.IsValid() {
					pos = p
				}
			}
			return true
		})
	}
	return pos
}
