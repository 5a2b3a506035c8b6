package cell

import (
	"go/token"
	"strings"
)

// A vars is one statement that declares variables of the package: a define,
// or one specification of a var declaration. All fields are token indexes.
type vars struct {
	names      []int
	reused     []bool // names[i] was declared by an earlier define of the cell
	define     int    // the := token; 0 for a var specification
	typ        span   // empty where the type is inferred
	values     []span // empty where the variables are zero
	start, end int    // first token, and the one after the last
}

// A span is tokens from first to last, empty when last < first.
type span struct{ first, last int }

func (p span) empty() bool { return p.last < p.first }

var none = span{0, -1}

// defines reads the chunk as `a, b := values`; nil if it is none. Left-hand
// sides that are no names are the type checker's to refuse.
func (s *split) defines(c chunk) *vars {
	if c.kind != stmtChunk {
		return nil
	}
	names, i := s.names(c.first)
	if names == nil || s.at(i) != token.DEFINE {
		return nil
	}
	return &vars{names: names, reused: make([]bool, len(names)), define: i, typ: none, values: s.list(i+1, c.last), start: c.first, end: c.last + 1}
}

// specs reads a var chunk; nil if it is none that parses.
func (s *split) specs(c chunk) []*vars {
	i, end := c.first+1, c.last+1
	if s.at(i) != token.LPAREN {
		if v := s.spec(i, end); v != nil {
			return []*vars{v}
		}
		return nil
	}
	if s.match(i) != c.last {
		return nil
	}
	list := []*vars{}
	depth, first := 0, i+1
	for i++; i < end; i++ {
		switch s.at(i) {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if depth < 0 || depth == 0 && s.at(i) == token.SEMICOLON {
			if first < i {
				v := s.spec(first, i)
				if v == nil {
					return nil
				}
				list = append(list, v)
			}
			first = i + 1
		}
	}
	return list
}

func (s *split) spec(first, end int) *vars {
	names, i := s.names(first)
	if names == nil || i >= end {
		return nil
	}
	v := &vars{names: names, reused: make([]bool, len(names)), typ: none, start: first, end: end}
	t := i
	for depth := 0; i < end && (depth > 0 || s.at(i) != token.ASSIGN); i++ {
		switch s.at(i) {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
	}
	if t < i {
		v.typ = span{t, i - 1}
	}
	if i < end {
		if v.values = s.list(i+1, end-1); v.values == nil {
			return nil
		}
	}
	return v
}

// names reads a, b, c from token i on and returns them and what follows.
func (s *split) names(i int) ([]int, int) {
	var names []int
	for s.at(i) == token.IDENT {
		names = append(names, i)
		if s.at(i+1) != token.COMMA {
			return names, i + 1
		}
		i += 2
	}
	return nil, i
}

// list cuts tokens first to last at their commas.
func (s *split) list(first, last int) []span {
	var list []span
	depth, start := 0, first
	for i := first; i <= last; i++ {
		switch s.at(i) {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.COMMA:
			if depth == 0 {
				list = append(list, span{start, i - 1})
				start = i + 1
			}
		}
	}
	if start <= last {
		list = append(list, span{start, last})
	}
	return list
}

// A plan is what becomes of each chunk of a cell.
type plan struct {
	*split
	imps []importSpec
	// vars of chunk i that the text turns into assignments; nil for a chunk
	// that stays as it is.
	vars map[int][]*vars
	// hoisted names and the statement that declares each.
	hoisted map[string]*vars
	order   []string // hoisted names as declared
	// declared are all names that the cell declares at package level, but
	// for imports.
	declared map[string]bool
	pieces   []*piece
	program  bool // the cell is a program: main runs
	body     bool // the cell has statements
}

// planCell decides what is hoisted. live reports whether a name lives from an
// earlier cell.
func planCell(s *split, n int, live func(string) bool) *plan {
	p := &plan{split: s, imps: s.imports(), vars: map[int][]*vars{}, hoisted: map[string]*vars{}, declared: map[string]bool{}}
	hasMain := false
	for i, c := range s.chunks {
		switch c.kind {
		case stmtChunk:
			p.body = true
		case funcChunk:
			name := s.name(c.first + 1)
			hasMain = hasMain || name == "main"
			if name != "init" {
				p.declared[name] = true
			}
		case packageChunk:
			if i > 0 {
				s.fail(s.toks[c.first].off, "", "syntax error: the package clause must come first")
			}
			if s.at(c.first+1) != token.IDENT || c.last != c.first+1 {
				s.fail(s.toks[c.first].off, "", "syntax error: package clause must be followed by a name")
			}
		}
	}
	p.program = hasMain && !p.body
	if !p.program && !p.body {
		// A cell of declarations is an ordinary file, whose variables are
		// initialized in the order of their dependencies; unless one is made
		// from its own earlier value.
		p.body = s.refersToItself(live)
	}
	for i, c := range s.chunks {
		switch {
		case c.kind == typeChunk || c.kind == constChunk || c.kind == varChunk && !p.body:
			for _, name := range p.declaredBy(c) {
				p.declared[name] = true
			}
		case c.kind == varChunk:
			for _, v := range s.specs(c) {
				p.hoist(i, v)
			}
		case c.kind == stmtChunk:
			if v := s.defines(c); v != nil {
				p.hoist(i, v)
			}
		}
	}
	p.pieces = p.cutPieces(n)
	p.refuseOurs()
	return p
}

// refuseOurs reports names at the top level that the text gives things itself.
func (p *plan) refuseOurs() {
	for i, t := range p.toks {
		if t.tok != token.IDENT || !strings.HasPrefix(p.name(i), "cell__") || !p.declared[p.name(i)] {
			continue
		}
		if rest := p.name(i)[len("cell__"):]; rest != "" && '0' <= rest[0] && rest[0] <= '9' {
			p.fail(t.off, "choose another name", "%s is a name that the notebook gives itself", shorten(p.name(i), 30))
			return
		}
	}
}

// refersToItself reports whether a var chunk names a live variable that it
// declares again.
func (s *split) refersToItself(live func(string) bool) bool {
	for _, c := range s.chunks {
		if c.kind != varChunk {
			continue
		}
		for _, v := range s.specs(c) {
			for _, n := range v.names {
				name := s.name(n)
				for _, val := range v.values {
					for i := val.first; i <= val.last; i++ {
						if s.at(i) == token.IDENT && s.name(i) == name && s.at(i-1) != token.PERIOD && live(name) {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// declaredBy lists the names of a type, const or var chunk.
func (p *split) declaredBy(c chunk) []string {
	var names []string
	i := c.first + 1
	grouped := p.at(i) == token.LPAREN
	if grouped {
		i++
	}
	depth := 0
	for start := true; i <= c.last; i++ {
		switch t := p.at(i); {
		case start && t == token.IDENT:
			names = append(names, p.name(i))
			start = c.kind != typeChunk && p.at(i+1) == token.COMMA
			if start {
				i++
			}
		case t == token.LPAREN || t == token.LBRACK || t == token.LBRACE:
			depth++
		case t == token.RPAREN || t == token.RBRACK || t == token.RBRACE:
			depth--
		case t == token.SEMICOLON && depth == 0:
			start = grouped
		}
	}
	return names
}

// hoist takes the names of v, of chunk i, for the package.
func (p *plan) hoist(i int, v *vars) {
	p.vars[i] = append(p.vars[i], v)
	fresh := false
	seen := map[string]bool{}
	for k, n := range v.names {
		name := p.name(n)
		if name == "_" {
			continue
		}
		if seen[name] {
			what := "%s repeated on left side of :="
			if v.define == 0 {
				what = "%s redeclared in this block"
			}
			p.fail(p.toks[n].off, "", what, name)
			continue
		}
		seen[name] = true
		if first := p.hoisted[name]; first != nil {
			v.reused[k] = true
			if v.define == 0 {
				line, _ := p.position(p.toks[first.start].off)
				p.fail(p.toks[n].off, "it is declared on line "+itoa(line)+"; assign with =", "%s redeclared in this block", name)
			}
			continue
		}
		fresh = true
		p.hoisted[name] = v
		p.order = append(p.order, name)
		p.declared[name] = true
	}
	if v.define != 0 && !fresh {
		p.fail(p.toks[v.define].off, "assign with =", "no new variables on left side of :=")
	}
}
