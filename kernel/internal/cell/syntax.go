package cell

import (
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
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
		for depth := 0; i < len(s.toks) && (depth > 0 || s.at(i) != token.SEMICOLON); i++ {
			switch s.at(i) {
			case token.LPAREN, token.LBRACK, token.LBRACE:
				depth++
			case token.RPAREN, token.RBRACK, token.RBRACE:
				depth--
			}
		}
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
		return off, words + found + ", expected }"
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
		return ", expected name"
	case "}":
		switch s.around(i) {
		case token.STRUCT:
			return ", expected field name or embedded type"
		case token.SWITCH, token.SELECT:
			return ", expected case or default or }"
		}
	case "{":
		if h := s.header(i); s.newline(i) {
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
	return ", expected " + want
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

// newline reports whether token i is a semicolon that the end of a line is.
func (s *split) newline(i int) bool {
	return i < len(s.toks) && s.toks[i].tok == token.SEMICOLON && s.toks[i].off == s.toks[i].end
}

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
	case h == token.FOR && s.at(i) == token.LBRACE:
		return ", expected semicolon or newline"
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
	}
	return s.afterStatement(i)
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

// noCondition reports the assignment from token i on that stands where the
// header of a statement wants a value.
func (s *split) noCondition(i, off int, msg string) (at int, words string) {
	op := i
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

// brokenBefore reports the fault that a parser finds before off in the chunk
// of off, from which on brackets do not match: the one cause of both. end is
// how far the parser may read.
func (s *split) brokenBefore(off, end int) bool {
	first := s.toks[s.lastChunk(off)].off
	at, msg := -1, ""
	for _, decl := range []bool{true, false} {
		if o, m := parseFault(s.src[first:end], decl); o > at || o < 0 {
			at, msg = o, m
		}
		if at < 0 {
			return false
		}
	}
	if first+at >= off {
		return false
	}
	s.failSyntax(first+at, msg)
	return true
}

// parseFault returns where and what the first fault of a declaration or a
// statement is; the offset is negative if there is none.
func parseFault(text string, decl bool) (off int, msg string) {
	before, after := "package p;func _(){", "\n}"
	if decl {
		before, after = "package p;", "\n"
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", before+text+after, parser.SkipObjectResolution)
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return -1, ""
	}
	return list[0].Pos.Offset - len(before), list[0].Msg
}

// chunkFaults reports the first fault of each chunk. Those behind it in the
// same chunk are seldom more than its consequences.
func (s *split) chunkFaults() {
	told := 0 // up to this line
	for i, c := range s.chunks {
		start := s.toks[c.first].off
		if line, _ := s.position(start); line <= told {
			continue
		}
		if len(s.diags) >= maxDiagnostics {
			return
		}
		end := s.toks[c.last].end
		if i+1 < len(s.chunks) {
			end = s.toks[s.chunks[i+1].last].end // where the block may be that a header needs
		}
		off, msg := parseFault(s.src[start:end], c.kind != stmtChunk)
		if off < 0 || i+1 < len(s.chunks) && s.chunks[i+1].kind != c.kind && start+off >= s.toks[s.chunks[i+1].first].off {
			continue
		}
		s.failSyntax(start+off, msg)
		told, _ = s.position(start + off)
	}
}

// failSyntax reports what the parser reports at off.
func (s *split) failSyntax(off int, msg string) {
	at, words := s.syntaxFault(off, msg)
	s.fail(at, s.syntaxHint(msg, off), "%s", words)
}

// lastChunk returns the first token of the last chunk that begins before end,
// whether or not its brackets match.
func (s *split) lastChunk(end int) int {
	first, depth := 0, 0
	for i, t := range s.toks {
		if t.off >= end {
			break
		}
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 && t.end == t.off && i+1 < len(s.toks) && s.toks[i+1].off < end {
				first = i + 1
			}
		}
	}
	return first
}

// lexicalFault returns where the compiler reports what the scanner reports at
// offset off, and its words.
func (s *split) lexicalFault(off int, msg string) (at int, words string) {
	lineEnd := off + strings.IndexByte(s.src[off:]+"\n", '\n')
	switch {
	case msg == "illegal character NUL":
		return off, "invalid NUL character"
	case msg == "illegal UTF-8 encoding":
		return off, "invalid UTF-8 encoding"
	case msg == "illegal byte order mark":
		return off, "invalid BOM in the middle of the file"
	case strings.HasPrefix(msg, "illegal character") && strings.HasSuffix(msg, "in escape sequence"):
		c, _ := utf8.DecodeRuneInString(s.src[off:])
		kind := "octal"
		if i := strings.LastIndexByte(s.src[:off], '\\'); i >= 0 && strings.IndexByte("xuU", s.src[i+1]) >= 0 {
			kind = "hexadecimal"
		}
		return off, fmt.Sprintf("invalid character %q in %s escape", c, kind)
	case strings.HasPrefix(msg, "illegal character"), strings.HasPrefix(msg, "curly quotation mark"):
		c, _ := utf8.DecodeRuneInString(s.src[off:])
		words = fmt.Sprintf("invalid character %#U", c)
		if c >= utf8.RuneSelf {
			words += " in identifier"
		}
		return off, words
	case msg == "string literal not terminated":
		return lineEnd, "newline in string"
	case msg == "rune literal not terminated":
		return lineEnd, "newline in rune literal"
	case msg == "raw string literal not terminated":
		return off, "string not terminated"
	case msg == "illegal rune literal" && strings.HasPrefix(s.src[off:], "''"):
		return off + 1, "empty rune literal or unescaped '"
	case msg == "illegal rune literal":
		return off, "more than one character in rune literal"
	case msg == "unknown escape sequence":
		return off, "unknown escape"
	case msg == "escape sequence is invalid Unicode code point":
		return s.badEscape(off)
	}
	return off, msg
}

// badEscape reports the escape whose value is out of range; off is that of its
// letter or first digit.
func (s *split) badEscape(off int) (at int, words string) {
	n, base := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s.src[off]], 16
	if n == 0 {
		n, base = 2, 8
		off--
	}
	end := min(off+1+n+(16-base)/8, len(s.src))
	v, _ := strconv.ParseUint(s.src[off+1:end], base, 32)
	if base == 8 {
		return end, fmt.Sprintf("octal escape value %d > 255", v)
	}
	return end, fmt.Sprintf("escape is invalid Unicode code point %#U", rune(v))
}
