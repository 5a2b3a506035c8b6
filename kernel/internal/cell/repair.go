package cell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkAt checks the source with a name of ours in place of the word from
// start to off, and returns what was found out about it: the identifier and
// the syntax around it, innermost first, or nil.
func (s *Scope) checkAt(source string, start, off int) (*check, *ast.Ident, []ast.Node) {
	end := off
	for end < len(source) {
		r, n := utf8.DecodeRuneInString(source[end:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		end += n
	}
	var k *check
	// The whole cell tells most; where it is too broken, what is before the
	// cursor, with its brackets closed; then without statements that are
	// wrong in themselves, at which the parser would skip the rest.
	for _, text := range []string{
		source[:start] + cursorName + source[end:],
		repair(source[:start] + cursorName),
		blank(repair(source[:start] + cursorName)),
	} {
		k = s.checkLoosely(text)
		if k.cell == nil || k.cell.File == nil {
			continue
		}
		if path := pathTo(k.cell.File, cursorName); path != nil {
			return k, path[0].(*ast.Ident), path
		}
	}
	return k, nil, nil
}

// checkLoosely checks as far as the text allows.
func (s *Scope) checkLoosely(text string) *check {
	k := s.newCheck(cursorCell)
	sp := splitCell(text)
	k.plan = &plan{split: sp}
	if len(sp.diags) > 0 {
		return k
	}
	k.plan = planCell(sp, cursorCell, k.lives)
	k.loose = true
	k.cell = k.rounds()
	defer k.forget()
	return k
}

// repair closes what the text leaves open, so that it is a cell.
func repair(text string) string {
	s := splitCell(text)
	// headers[d] is set while the statement at depth d still lacks its block.
	headers := []bool{false}
	var closing []string
	for _, t := range s.toks {
		d := len(closing)
		switch t.tok {
		case token.IF, token.FOR, token.SWITCH, token.SELECT:
			headers[d] = true
		case token.SEMICOLON:
			if t.off == t.end { // one of the user's parts the header
				headers[d] = false
			}
		case token.LBRACE:
			headers[d] = false
			fallthrough
		case token.LPAREN, token.LBRACK:
			closing = append(closing, closers[t.tok].String())
			headers = append(headers, false)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if d == 0 {
				return text
			}
			closing, headers = closing[:d-1], headers[:d]
		}
	}
	var b strings.Builder
	b.WriteString(text)
	for d := len(closing); d >= 0; d-- {
		if headers[d] {
			b.WriteString(" {}")
		}
		if d > 0 {
			b.WriteString(closing[d-1])
		}
	}
	return b.String()
}

// blank overwrites the statements that do not parse, but for that of the
// cursor, with spaces.
func blank(text string) string {
	s := splitCell(text)
	b := []byte(text)
	for _, c := range s.chunks {
		src := s.text(c.first, c.last)
		if c.kind != stmtChunk || strings.Contains(src, cursorName) {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p;func _(){"+src+"\n}", parser.SkipObjectResolution); err != nil {
			for i := s.toks[c.first].off; i < s.toks[c.last].end; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
		}
	}
	return string(b)
}

// pathTo returns the identifier of the given name and the nodes around it,
// innermost first; nil if there is none.
func pathTo(f *ast.File, name string) []ast.Node {
	var stack, path []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		if path != nil {
			return false
		}
		stack = append(stack, n)
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			path = slices.Clone(stack)
			slices.Reverse(path)
		}
		return true
	})
	return path
}
