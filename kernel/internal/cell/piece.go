package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A piece is a declaration of the package as some cell wrote it: one function
// or method, one type, one const declaration.
type piece struct {
	n     int    // the cell that wrote it
	src   *split // of that cell
	kind  kind
	span  span     // a type's without the keyword
	names []string // that it declares; a method's own name
	recv  string   // the name of a method's receiver type

	// What it refers to, known once it checked.
	refs    map[string]bool   // names that cells declare
	imports map[string]string // packages: name to path
}

// name returns the first name that the piece declares, "" if it is blank.
func (p *piece) name() string {
	for _, name := range p.names {
		if name != "_" {
			return name
		}
	}
	return ""
}

// text returns the piece with one space between its tokens: two pieces of the
// same text say the same, however they are laid out.
func (p *piece) text() string {
	var b strings.Builder
	for i := p.span.first; i <= p.span.last; i++ {
		if t := p.src.toks[i]; t.off == t.end {
			b.WriteByte(';')
		} else {
			b.WriteString(p.src.name(i))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// cutPieces lists the declarations that the text has outside the function of the
// statements: in their order, one a type specification.
func (p *plan) cutPieces(n int) []*piece {
	var list []*piece
	for _, c := range p.chunks {
		pc := &piece{n: n, src: p.split, kind: c.kind, span: span{c.first, c.last}}
		switch c.kind {
		case funcChunk:
			pc.names = []string{p.name(c.first + 1)}
		case methodChunk:
			end := p.match(c.first + 1)
			pc.names = []string{p.name(end + 1)}
			pc.recv = p.receiver(c.first+2, end)
		case constChunk:
			pc.names = p.declaredBy(c)
		case varChunk:
			if p.body {
				continue
			}
			pc.names = p.declaredBy(c)
		case typeChunk:
			for _, sp := range p.typeSpecs(c) {
				list = append(list, &piece{n: n, src: p.split, kind: c.kind, span: sp, names: []string{p.name(sp.first)}})
			}
			continue
		default:
			continue
		}
		list = append(list, pc)
	}
	return list
}

// receiver returns the name of the type in a receiver of tokens first to
// end-1: the last identifier before type parameters.
func (s *split) receiver(first, end int) string {
	name := ""
	for i := first; i < end && s.at(i) != token.LBRACK; i++ {
		if s.at(i) == token.IDENT {
			name = s.name(i)
		}
	}
	return name
}

// typeSpecs cuts a type chunk into its specifications. What does not begin
// with a name is for the parser to refuse.
func (s *split) typeSpecs(c chunk) []span {
	i := c.first + 1
	if s.at(i) != token.LPAREN || s.match(i) != c.last {
		return []span{{min(i, c.last), c.last}}
	}
	var list []span
	depth, first := 0, i+1
	for i++; i <= c.last; i++ {
		switch s.at(i) {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if i == c.last || depth == 0 && s.at(i) == token.SEMICOLON {
			if first < i {
				list = append(list, span{first, i - 1})
			}
			first = i + 1
		}
	}
	return list
}

// noted returns the piece with what it, checked as the declaration d, refers
// to. The piece itself may be another goroutine's to read.
func (p *piece) noted(d ast.Decl, c *Cell) *piece {
	noted := *p
	p = &noted
	p.refs, p.imports = map[string]bool{}, map[string]string{}
	ast.Inspect(d, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := c.Info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			p.imports[o.Name()] = o.Imported().Path()
		default:
			if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && o.Pkg().Path() == "main" {
				p.refs[o.Name()] = true
			}
		}
		return true
	})
	for _, name := range p.names {
		delete(p.refs, name) // recursion is no dependence
	}
	return p
}

func (p *piece) refersTo(names map[string]bool) bool {
	for name := range names {
		if p.refs[name] {
			return true
		}
	}
	return false
}

// keep drops the declarations that say again what already lives: the types,
// with all that was made of them, and the constants stay the same objects.
//
// A type stays if its specification and every method that the cell declares
// for it read as before, and none that came with it is missing.
func (k *check) keep() {
	methods := map[string][]*piece{}
	for _, p := range k.pieces {
		if p.kind == methodChunk {
			methods[p.recv] = append(methods[p.recv], p)
		}
	}
	drop := map[*piece]bool{}
	for _, p := range k.pieces {
		if p.kind != typeChunk && p.kind != constChunk || k.repeated(p) {
			continue
		}
		e := k.live.names[p.name()]
		if e == nil || e.piece == nil || e.stale != "" || e.piece.kind != p.kind || e.piece.text() != p.text() || !k.live.whole(e.piece) {
			continue
		}
		if p.kind == constChunk {
			drop[p] = true
			continue
		}
		if same(methods[p.name()], e) {
			drop[p] = true
			for _, m := range methods[p.name()] {
				drop[m] = true
			}
		}
	}
	// The same for methods alone, of a type of another cell.
	for recv, list := range methods {
		e := k.live.names[recv]
		if k.declared[recv] || e == nil || e.piece == nil {
			continue
		}
		if !slices.ContainsFunc(list, func(m *piece) bool { return e.method(m.names[0]) == nil || e.method(m.names[0]).text() != m.text() }) {
			for _, m := range list {
				drop[m] = true
			}
		}
	}
	k.pieces = slices.DeleteFunc(k.pieces, func(p *piece) bool {
		if drop[p] && p.kind != methodChunk {
			for _, name := range p.names {
				delete(k.declared, name)
			}
		}
		return drop[p]
	})
}

// repeated reports whether the cell declares a name of p twice: the checker's
// to refuse.
func (k *check) repeated(p *piece) bool {
	for _, name := range p.names {
		if k.hoisted[name] != nil {
			return true
		}
		for _, q := range k.pieces {
			if q != p && q.kind != methodChunk && name != "_" && slices.Contains(q.names, name) {
				return true
			}
		}
	}
	return false
}

// same reports whether the methods that come with a type again are those that
// came with it before.
func same(methods []*piece, e *entry) bool {
	for _, m := range methods {
		if old := e.method(m.names[0]); old == nil || old.text() != m.text() {
			return false
		}
	}
	for _, old := range e.methods {
		if old.n == e.piece.n && !slices.ContainsFunc(methods, func(m *piece) bool { return m.names[0] == old.names[0] }) {
			return false
		}
	}
	return true
}

// method returns the piece of the method of that name, or nil.
func (e *entry) method(name string) *piece {
	for _, m := range e.methods {
		if m.names[0] == name {
			return m
		}
	}
	return nil
}

// whole reports whether all names that p declares still mean what it
// declares.
func (st *state) whole(p *piece) bool {
	for _, name := range p.names {
		if name == "_" {
			continue
		}
		if e := st.names[name]; e == nil || e.piece != p {
			return false
		}
	}
	return true
}
