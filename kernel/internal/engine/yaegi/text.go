package yaegi

import (
	"bytes"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// source is a checked file that lowering reads: a cell, one of our source
// versions of a standard package, or a file of a module's package.
type source struct {
	cell int                     // execution count, or none
	path string                  // of a module's package, and
	of   map[*token.File]*source // its files
	text []byte                  // with comments blanked
	fset *token.FileSet
	file *ast.File
	pkg  *types.Package
	info *types.Info

	shared bool // loop variables are shared by the turns, as before Go 1.22
}

// holding is the source that a position lies in: this one, or another file of
// the package.
func (s *source) holding(p token.Pos) *source {
	if other := s.of[s.fset.File(p)]; other != nil {
		return other
	}
	return s
}

// none is the cell of our own sources and of modules.
const none = -1

// off is the position's offset in text, whatever line directives say.
func (s *source) off(p token.Pos) int { return s.fset.PositionFor(p, false).Offset }

// blankComments replaces comments by spaces, so that pieces of the text can be
// joined in one line.
func blankComments(text []byte) []byte {
	out := slices.Clone(text)
	var sc scanner.Scanner
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(text))
	sc.Init(f, text, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.COMMENT {
			at := f.Offset(pos)
			// lit lacks carriage returns
			closing := "\n"
			if lit[1] == '*' {
				closing = "*/"
			}
			end := len(out)
			if i := bytes.Index(text[at+2:], []byte(closing)); i >= 0 {
				end = at + 2 + i + len(closing)
			}
			for i := at; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
	}
}

// Lowered text carries two kinds of marks until it is assembled: where it
// comes from, "\x01offset,length\x02", and names of the notebook's objects,
// "\x03id\x04", whose spelling in the interpreter is known only at the end.
const (
	markOpen, markClose = '\x01', '\x02'
	nameOpen, nameClose = '\x03', '\x04'
)

func mark(off, n int) string {
	return string(markOpen) + strconv.Itoa(off) + "," + strconv.Itoa(n) + string(markClose)
}

func nameRef(id int) string { return string(nameOpen) + strconv.Itoa(id) + string(nameClose) }

// unmarked is s without the marks of positions.
func unmarked(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, markOpen)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+strings.IndexByte(s[i:], markClose)+1:]
	}
}

// raw is the source text between two offsets, marked.
func (l *lowering) raw(a, b int) string {
	if a >= b {
		return ""
	}
	return mark(a, b-a) + string(l.src.text[a:b])
}

// text renders a node with the rules applied to it and all below.
func (l *lowering) text(n ast.Node) string {
	if s, ok := l.rule(n); ok {
		return mark(l.src.off(n.Pos()), 0) + s
	}
	return l.inner(n)
}

// texts renders expressions, separated by commas.
func (l *lowering) texts(es []ast.Expr) string {
	var r []string
	for _, e := range es {
		r = append(r, l.text(e))
	}
	return strings.Join(r, ", ")
}

// inner renders a node with the rules applied only below it.
func (l *lowering) inner(n ast.Node) string { return l.cut(n, n.Pos(), n.End()) }

// block renders the statements of a block, without its braces.
func (l *lowering) block(b *ast.BlockStmt) string { return l.cut(b, b.Lbrace+1, b.Rbrace) }

// cut renders a part of node n with the rules applied below n.
func (l *lowering) cut(n ast.Node, from, to token.Pos) string {
	type edit struct {
		a, b int
		s    string
	}
	lo, hi := l.src.off(from), l.src.off(to)
	var es []edit
	ast.Inspect(n, func(c ast.Node) bool {
		if c == n || c == nil {
			return true
		}
		a, b := l.src.off(c.Pos()), l.src.off(c.End())
		if b <= lo || a >= hi {
			return false
		}
		if a < lo || b > hi {
			return true
		}
		if s, ok := l.rule(c); ok {
			es = append(es, edit{a, b, mark(a, 0) + s})
			return false
		}
		return true
	})
	slices.SortStableFunc(es, func(x, y edit) int { return x.a - y.a })
	var b strings.Builder
	for _, e := range es {
		if e.a < lo {
			continue
		}
		b.WriteString(l.raw(lo, e.a))
		b.WriteString(e.s)
		lo = e.b
	}
	b.WriteString(l.raw(lo, hi))
	return b.String()
}
