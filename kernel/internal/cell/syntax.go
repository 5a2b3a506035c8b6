package cell

import (
	"go/token"
	"regexp"
	"strings"
)

// The parser and the scanner of the standard library describe faults in other
// words than the Go compiler, and some at other places. People know the
// compiler's, and search for them: here they are turned into those.

// syntaxFault returns where the compiler reports what the parser reports at
// offset off, and its words.
func (s *split) syntaxFault(off int, msg string) (at int, words string) {
	i := s.tokenAt(off)
	found := "unexpected " + s.found(i)
	words = "syntax error: "
	switch {
	case strings.HasPrefix(msg, "missing ','"):
		_, list, _ := strings.Cut(msg, " in ")
		return off, words + found + s.inList(list)
	case strings.HasPrefix(msg, "expected ';'"):
		return off, words + found + s.afterStatement(i)
	case strings.HasPrefix(msg, "expected '=='"):
		return off, words + found + s.afterExpression(i)
	case strings.HasPrefix(msg, "expected 1 expression"):
		i = s.endOfList(i)
		if i < len(s.toks) {
			off = s.toks[i].off
		}
		return off, words + "unexpected " + s.found(i) + ", expected := or = or comma"
	case strings.HasPrefix(msg, "expected operand"):
		switch {
		case s.at(i) == token.VAR && s.at(i-1).IsKeyword() && i+1 < len(s.toks):
			return s.toks[i+1].off, words + "var declaration not allowed in " + s.name(i-1) + " initializer"
		case s.at(i) == token.RBRACK && s.at(i-1) == token.LBRACK:
			return off, words + found + ", expected operand"
		}
		return off, words + found + ", expected expression"
	case strings.HasPrefix(msg, "expected type argument list"):
		return off, words + found + ", " + msg
	case strings.HasPrefix(msg, "expected type"):
		switch {
		case s.at(i) == token.DEFINE:
			return off, words + found + ", expected ="
		case s.at(i-2) == token.TYPE:
			return off, words + found + " in type declaration"
		}
		return off, words + found + ", expected type"
	case strings.HasPrefix(msg, "expected statement"):
		return off, words + found + s.expected(i, "}")
	case strings.HasPrefix(msg, "expected declaration"):
		if s.kind(s.chunkStart(i), i) == stmtChunk && i < len(s.toks) {
			return off, words + found + ", expected }"
		}
		return off, words + "non-declaration statement outside function body"
	case strings.HasPrefix(msg, "expected if statement or block"):
		return off, words + "else must be followed by if or statement block"
	case strings.HasPrefix(msg, "expected selector"):
		return off, words + found + ", expected name or ("
	case strings.Contains(msg, "expression, found "):
		return s.noCondition(i, off, msg)
	case strings.HasPrefix(msg, "expression in "):
		for i > 0 && s.at(i) != token.DEFER && s.at(i) != token.GO {
			i--
		}
		if i+1 >= len(s.toks) {
			return off, msg
		}
		return s.toks[i+1].off, msg
	case msg == "import path must be a string" && s.at(i) == token.IDENT:
		return off, words + "missing import path"
	case msg == "middle index required in 3-index slice", msg == "final index required in 3-index slice":
		return off + 1, msg
	case msg == "can only use ... with final parameter":
		return off, msg
	}
	if m := expectedToken.FindStringSubmatch(msg); m != nil {
		return off, words + found + s.expected(i, m[1])
	}
	return off, words + strings.Replace(msg, "expecting", "expected", 1)
}

var expectedToken = regexp.MustCompile(`^expected '(.+?)'(, found .*)?$`)

// expected says what a token like want, which the parser wanted in the place of
// token i, is called.
func (s *split) expected(i int, want string) string {
	switch want {
	case "IDENT":
		if s.at(i-1) == token.FUNC {
			return ", expected name or ("
		}
		return ", expected name"
	case "(":
		if s.at(i-1) == token.FUNC && s.around(i) == token.EOF {
			return ", expected name or ("
		}
	case "}":
		if t := s.at(i); t == token.RPAREN || t == token.RBRACK {
			switch s.at(i - 1) {
			case token.SEMICOLON, token.LBRACE, token.COLON:
			default:
				return s.afterStatement(i)
			}
		}
		switch s.around(i) {
		case token.STRUCT:
			return ", expected field name or embedded type"
		case token.SWITCH, token.SELECT:
			if s.at(i-1) == token.LBRACE {
				return ", expected case or default or }"
			}
		}
	case "]":
		if s.around(i) == token.RBRACK && s.indexes(i) {
			return ", expected comma, : or ]"
		}
	case "{":
		if s.at(i-1) == token.STRUCT || s.at(i-1) == token.INTERFACE {
			break
		}
		if h := s.header(i); h != token.ILLEGAL && s.clauses(i) == complete {
			return ", expected { after " + h.String() + " clause"
		} else if s.newline(i) {
			for k := i - 1; h == token.ILLEGAL && k >= 0 && s.at(k) != token.LBRACE; k-- {
				if s.newline(k) {
					h = s.header(k) // the line before has the header
				}
			}
			if h != token.ILLEGAL {
				return ", expected { after " + h.String() + " clause"
			}
		}
	}
	if token.IsKeyword(want) {
		want = "keyword " + want
	}
	return ", expected " + want
}

// endOfList returns the first token behind the list of expressions that begins
// with token i.
func (s *split) endOfList(i int) int {
	operand := false // the token before ends one
	for depth := 0; i < len(s.toks) && (depth > 0 || s.at(i) != token.SEMICOLON); i++ {
		t := s.at(i)
		if t.IsLiteral() && operand && depth == 0 {
			break
		}
		operand = t.IsLiteral()
		switch t {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth < 0 {
				return i
			}
			operand = true
		}
	}
	return i
}

// found names token i as the compiler does.
func (s *split) found(i int) string {
	if i >= len(s.toks) {
		return "newline"
	}
	switch t := s.toks[i]; {
	case s.newline(i):
		return "newline"
	case t.tok == token.SEMICOLON:
		return "semicolon"
	case t.tok == token.COMMA:
		return "comma"
	case t.tok == token.IDENT:
		return "name " + shorten(s.name(i), 100)
	case t.tok.IsLiteral():
		return "literal " + shorten(s.name(i), 100)
	case t.tok.IsKeyword():
		return "keyword " + s.name(i)
	}
	return s.name(i)
}

func (s *split) inList(list string) string {
	end := ")"
	switch list {
	case "composite literal":
		end = "}"
	case "type argument list":
		end = "]"
	}
	return " in " + list + "; possibly missing comma or " + end
}

// afterStatement says where token i stands, which should be a semicolon.
func (s *split) afterStatement(i int) string {
	switch s.around(i) {
	case token.STRUCT:
		return " in struct type; possibly missing semicolon or newline or }"
	case token.INTERFACE:
		return " in interface type; possibly missing semicolon or newline or }"
	case token.VAR, token.CONST, token.TYPE, token.IMPORT:
		return " in grouped declaration; possibly missing semicolon or newline or )"
	}
	switch h := s.header(i); {
	case h == token.FOR && s.clauses(i) == 1:
		return ", expected semicolon or newline"
	case h != token.ILLEGAL && s.clauses(i) == complete:
		return ", expected { after " + h.String() + " clause"
	case h != token.ILLEGAL:
		return ", expected {"
	}
	kind := s.kind(s.chunkStart(i), i)
	if kind == stmtChunk || s.around(i) != token.EOF || kind == varChunk && s.hasStatements() {
		return " at end of statement"
	}
	return " after top level declaration"
}

// afterExpression says where token i stands, an = behind an expression.
func (s *split) afterExpression(i int) string {
	switch s.around(i) {
	case token.RPAREN:
		return s.inList("argument list")
	case token.RBRACE:
		return s.inList("composite literal")
	case token.RBRACK:
		if s.indexes(i) {
			return ", expected comma, : or ]"
		}
	}
	return s.afterStatement(i)
}

// noCondition reports the assignment from token i on that stands where the
// header of a statement wants a value.
func (s *split) noCondition(i, off int, msg string) (at int, words string) {
	op := i
	if k := s.tokenAt(off); s.at(k+1) == token.INC || s.at(k+1) == token.DEC {
		return s.toks[k+1].off, "syntax error: cannot use " + s.name(k) + s.name(k+1) + " as value"
	}
	for op < len(s.toks) && s.at(op) != token.ASSIGN && s.at(op) != token.DEFINE && s.at(op) != token.SEMICOLON && s.at(op) != token.LBRACE {
		op++
	}
	if s.at(op) != token.ASSIGN && s.at(op) != token.DEFINE || op == i || op+1 == len(s.toks) {
		return off, "syntax error: " + msg
	}
	end := op + 1
	for end+1 < len(s.toks) && s.at(end+1) != token.SEMICOLON && s.at(end+1) != token.LBRACE {
		end++
	}
	what := shorten(s.text(i, end), 100)
	if s.at(op) == token.ASSIGN {
		emphasized := func(first, last int) string {
			if first == last {
				return s.name(first)
			}
			return "(" + s.text(first, last) + ")"
		}
		what = "assignment " + shorten(emphasized(i, op-1)+" = "+emphasized(op+1, end), 100)
	}
	return s.toks[op].off, "syntax error: cannot use " + what + " as value"
}
