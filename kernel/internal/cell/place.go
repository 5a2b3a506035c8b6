package cell

import (
	"go/token"
)

// Where a token stands, for messages that say so: in which brackets, in which
// statement's header.

// tokenAt returns the index of the token at off, or of the first behind it.
func (s *split) tokenAt(off int) int {
	lo, hi := 0, len(s.toks)
	for lo < hi {
		if mid := (lo + hi) / 2; s.toks[mid].off < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// newline reports whether token i is a semicolon that the end of a line is.
func (s *split) newline(i int) bool {
	return i < len(s.toks) && s.toks[i].tok == token.SEMICOLON && s.toks[i].off == s.toks[i].end
}

// around tells the innermost bracket around token i: STRUCT and INTERFACE for
// their types' braces, SWITCH and SELECT for theirs, FUNC for other blocks,
// the keyword of a grouped declaration, RPAREN for other parentheses, RBRACE
// for those of literals, RBRACK; EOF outside of all.
func (s *split) around(i int) token.Token {
	depth := 0
	for k := min(i, len(s.toks)) - 1; k >= 0; k-- {
		switch t := s.toks[k].tok; t {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth--; depth >= 0 {
				continue
			}
			before := s.at(k - 1)
			switch {
			case t == token.LBRACK:
				return token.RBRACK
			case t == token.LPAREN:
				switch before {
				case token.VAR, token.CONST, token.TYPE, token.IMPORT:
					return before
				}
				return token.RPAREN
			case before == token.STRUCT || before == token.INTERFACE:
				return before
			}
			switch h := s.header(k); h {
			case token.SWITCH, token.SELECT:
				return h
			case token.ILLEGAL:
				if before == token.IDENT && s.at(k-2) != token.RPAREN && s.at(k-2) != token.PERIOD || before == token.RBRACK || before == token.RBRACE {
					return token.RBRACE
				}
			}
			return token.FUNC
		}
	}
	return token.EOF
}

// opening returns the index of the bracket around token i, -1 if there is none.
func (s *split) opening(i int) int {
	depth := 0
	for k := min(i, len(s.toks)) - 1; k >= 0; k-- {
		switch s.toks[k].tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth--; depth < 0 {
				return k
			}
		}
	}
	return -1
}

// indexes reports whether the bracket around token i is that of an index, and
// not of an array type.
func (s *split) indexes(i int) bool {
	switch s.at(s.opening(i) - 1) {
	case token.IDENT, token.RPAREN, token.RBRACK, token.RBRACE, token.STRING:
		return true
	}
	return false
}

// header returns the keyword of the statement in whose header, before its
// block, token i stands, or ILLEGAL.
func (s *split) header(i int) token.Token {
	depth := 0
	for k := min(i, len(s.toks)) - 1; k >= 0; k-- {
		switch t := s.toks[k].tok; t {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth--; depth < 0 {
				return token.ILLEGAL
			}
			if t == token.LBRACE && depth == 0 && !s.literal(k) {
				return token.ILLEGAL
			}
		case token.FOR, token.IF, token.SWITCH, token.SELECT:
			if depth == 0 {
				return t
			}
		case token.SEMICOLON:
			if depth == 0 && s.newline(k) {
				return token.ILLEGAL
			}
		}
	}
	return token.ILLEGAL
}

// complete is clauses of a header that lacks nothing but its block.
const complete = 2

// clauses counts the semicolons in the header that token i stands in, up to
// complete.
func (s *split) clauses(i int) int {
	depth, semis := 0, 0
	for k := min(i, len(s.toks)) - 1; k >= 0; k-- {
		switch t := s.toks[k].tok; t {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				semis++
			}
		case token.RANGE:
			if depth == 0 {
				return complete
			}
		case token.FOR:
			if depth == 0 {
				return min(semis, complete)
			}
		case token.IF, token.SWITCH:
			if depth == 0 {
				return min(complete*semis, complete)
			}
		}
	}
	return 0
}

// chunkStart returns the first token of the chunk in which token i stands.
func (s *split) chunkStart(i int) int {
	first, depth := 0, 0
	for k := 0; k < min(i, len(s.toks)); k++ {
		switch s.toks[k].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				first = k + 1
			}
		}
	}
	return first
}

// hasStatements reports whether something outside of all brackets begins like
// a statement.
func (s *split) hasStatements() bool {
	depth, start := 0, true
	for _, t := range s.toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.PACKAGE, token.IMPORT, token.TYPE, token.CONST, token.VAR, token.FUNC:
			start = false
		case token.SEMICOLON:
			start = depth == 0
			continue
		}
		if start {
			return true
		}
	}
	return false
}
