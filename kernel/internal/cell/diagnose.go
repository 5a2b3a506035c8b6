package cell

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// maxDiagnostics is how many things wrong one cell reports, as the compiler.
const maxDiagnostics = 10

// Error lists the diagnostics, one a line.
func (d Diagnostics) Error() string {
	var b strings.Builder
	for i, g := range d {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d:%d: %s", g.Line, g.Col, g.Msg)
		if g.Hint != "" {
			fmt.Fprintf(&b, " (%s)", g.Hint)
		}
	}
	return b.String()
}

// Excerpt shows the line of the source that the diagnostic is about, with its
// number, and below it a caret under the column:
//
//	3 | y := foo(1)
//	  |      ^
//
// Tabs stay tabs, in both lines. The text is plain and ends without a newline.
func (d Diagnostic) Excerpt(source string) string {
	lines := strings.Split(source, "\n")
	if d.Line < 1 || d.Line > len(lines) {
		return ""
	}
	line := strings.ToValidUTF8(strings.TrimSuffix(lines[d.Line-1], "\r"), "\uFFFD")
	var pad strings.Builder
	for i, r := range line {
		if i >= d.Col-1 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		pad.WriteRune(r)
	}
	number := itoa(d.Line)
	return number + " | " + line + "\n" + strings.Repeat(" ", len(number)) + " | " + pad.String() + "^"
}

// tidy sorts diagnostics, drops all but the first at each place, keeps them
// inside the source and cuts the list to maxDiagnostics.
func (d Diagnostics) tidy(s *split) Diagnostics {
	for i := range d {
		last := len(s.lines)
		if end := strings.TrimRight(s.src, " \t\r\n"); d[i].Line > last || d[i].Line < 1 || d[i].Line == last && d[i].Col > len(s.src)-s.lines[last-1]+1 {
			d[i].Line, d[i].Col = s.position(len(end))
		}
		d[i].Col = max(d[i].Col, 1)
	}
	slices.SortStableFunc(d, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	d = slices.CompactFunc(d, func(a, b Diagnostic) bool { return a.Line == b.Line && a.Col == b.Col })
	return d[:min(len(d), maxDiagnostics)]
}

// diagnose turns the errors of the parser and the type checker into
// diagnostics, without those that a notebook allows.
func (k *check) diagnose(c *Cell) Diagnostics {
	d := slices.Clone(k.diags)
	for _, err := range k.errs {
		switch err := err.(type) {
		case *scanner.Error:
			d = append(d, Diagnostic{Line: err.Pos.Line, Col: err.Pos.Column, Msg: "syntax error: " + err.Msg})
		case types.Error:
			if k.allowed(c, err) {
				continue
			}
			pos := k.fset.Position(err.Pos)
			if rest, ok := strings.CutPrefix(err.Msg, "\t"); ok {
				if len(d) > 0 && d[len(d)-1].Hint == "" {
					d[len(d)-1].Hint = fmt.Sprintf("%s at line %d, column %d", unqualify(rest), pos.Line, pos.Column)
				}
				continue
			}
			d = append(d, Diagnostic{Line: pos.Line, Col: pos.Column, Msg: unqualify(err.Msg)})
		default:
			d = append(d, Diagnostic{Line: 1, Col: 1, Msg: err.Error()})
		}
	}
	return d.tidy(k.split)
}

// allowed reports whether an error of Go's is none in a notebook.
func (k *check) allowed(c *Cell, err types.Error) bool {
	switch {
	case strings.HasPrefix(err.Msg, "declared and not used"), strings.HasSuffix(err.Msg, "imported and not used"):
		return true
	case strings.HasPrefix(err.Msg, "initialization cycle"):
		// What refers to itself through a function is in order where the
		// variable is assigned by a statement.
		return k.decls != nil && within(k.decls, err.Pos)
	case strings.HasSuffix(err.Msg, "is not used"):
		x := k.lastExpr(c)
		return x != nil && within(x, err.Pos) && !insideFunc(x, err.Pos)
	}
	return false
}

func within(n ast.Node, p token.Pos) bool { return n.Pos() <= p && p < n.End() }

// insideFunc reports whether p lies in the body of a function literal of x.
func insideFunc(x ast.Expr, p token.Pos) bool {
	inside := false
	ast.Inspect(x, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && within(f.Body, p) {
			inside = true
		}
		return !inside
	})
	return inside
}

// unqualify takes the package that all cells share off the names in a
// message.
func unqualify(msg string) string {
	var b strings.Builder
	for {
		i := strings.Index(msg, "main.")
		if i < 0 {
			b.WriteString(msg)
			return b.String()
		}
		b.WriteString(msg[:i])
		if i > 0 && (isWord(msg[i-1]) || msg[i-1] == '.') {
			b.WriteString("main.")
		}
		msg = msg[i+len("main."):]
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}
