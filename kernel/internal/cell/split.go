package cell

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// maxDepth bounds how deep brackets may nest, and maxTree how deep a syntax
// tree may be: the sum of so many terms, say. Parser and type checker recurse,
// and a goroutine that runs out of stack cannot be recovered; and they ask for
// the end of a node at each level, which takes its depth in steps.
const (
	maxDepth = 1000
	maxTree  = 3000
)

// A tok is a token of a cell: bytes off to end of the source. A semicolon
// that the scanner inserted is empty.
type tok struct {
	tok      token.Token
	off, end int
}

// A chunk is one top-level piece of a cell, tokens first to last, without
// the semicolon that ends it.
type chunk struct {
	kind        kind
	first, last int
	semi        bool // the user wrote the semicolon
}

type kind int

const (
	stmtChunk kind = iota
	packageChunk
	importChunk
	typeChunk
	constChunk
	varChunk
	funcChunk
	methodChunk
)

// A split is a cell cut into its top-level chunks.
type split struct {
	src    string
	toks   []tok
	chunks []chunk
	lines  []int // offsets at which lines start
	// directives are the offsets of the l of comments that look like line
	// directives; the text must not have any but ours.
	directives []int
	comments   []tok
	open       []int // brackets that nothing closes, as token indexes
	diags      Diagnostics
}

// text returns the source of tokens first to last.
func (s *split) text(first, last int) string {
	return s.src[s.toks[first].off:s.toks[last].end]
}

// name returns the source of token i.
func (s *split) name(i int) string { return s.src[s.toks[i].off:s.toks[i].end] }

// at returns the kind of token i, EOF where there is none.
func (s *split) at(i int) token.Token {
	if i < 0 || i >= len(s.toks) {
		return token.EOF
	}
	return s.toks[i].tok
}

// fail adds a diagnostic at a byte offset.
func (s *split) fail(off int, hint, format string, args ...any) *Diagnostic {
	line, col := s.position(off)
	s.diags = append(s.diags, Diagnostic{Line: line, Col: col, Msg: fmt.Sprintf(format, args...), Hint: hint})
	return &s.diags[len(s.diags)-1]
}

// newSplit returns a split that knows where lines are.
func newSplit(src string) *split {
	s := &split{src: src, lines: []int{0}}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// splitCell scans the source and cuts it. What it finds wrong is in diags;
// then the chunks cover the source up to the fault.
func splitCell(src string) *split {
	s := newSplit(src)
	s.scan()
	if len(s.diags) == 0 {
		s.balance()
	}
	if len(s.diags) == 0 {
		s.cut()
	}
	return s
}

// refuseMagic reports the magic or shell command at off, which stands where
// ReadScript leaves it alone.
func (s *split) refuseMagic(off int) {
	word := s.src[off:]
	if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
		word = word[:i]
	}
	what := "a magic"
	if word[0] == '!' {
		what = "a shell command"
	}
	s.fail(off, "outside of them it may have a line of its own", "%s: %s cannot stand inside brackets or a function", shorten(word, 30), what)
}

// scan fills toks, and ends each chunk's worth of tokens by a semicolon.
func (s *split) scan() {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(s.src))
	var sc scanner.Scanner
	sc.Init(file, []byte(s.src), func(pos token.Position, msg string) {
		if strings.HasPrefix(msg, "illegal character U+FFFD") && !strings.HasPrefix(s.src[pos.Offset:], "\uFFFD") {
			return // it is no character, which has been said
		}
		at, words := s.lexicalFault(pos.Offset, msg)
		d := s.fail(at, s.syntaxHint(msg, pos.Offset), "%s", words)
		d.Incomplete = strings.HasSuffix(words, "not terminated")
	}, scanner.ScanComments)
	for {
		pos, t, lit := sc.Scan()
		off := file.Offset(pos)
		switch {
		case t == token.EOF || len(s.diags) >= maxDiagnostics:
			return
		case (t == token.REM || t == token.NOT) && s.startsStatement(off):
			// The rest of a magic's line need not be Go: say it before the
			// scanner finds fault there.
			s.diags = nil
			s.refuseMagic(off)
			return
		case t == token.COMMENT:
			s.comments = append(s.comments, tok{t, off, min(off+len(lit), len(s.src))})
			if strings.HasPrefix(lit, "//go:embed ") {
				s.fail(off, "read the file with os.ReadFile", "cells cannot embed files")
			}
			if strings.HasPrefix(lit[2:], "line ") {
				s.directives = append(s.directives, off+2)
			}
			continue
		case t == token.SEMICOLON && lit == "\n":
			s.toks = append(s.toks, tok{t, off, off})
			continue
		case t == token.STRING && s.src[off] == '`':
			// lit lacks the carriage returns of the source
			if i := strings.IndexByte(s.src[off+1:], '`'); i >= 0 {
				s.toks = append(s.toks, tok{t, off, off + 1 + i + 1})
				continue
			}
		}
		if lit == "" {
			lit = t.String()
		}
		s.toks = append(s.toks, tok{t, off, min(off+len(lit), len(s.src))})
	}
}

var closers = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

// balance checks that brackets pair up: a chunk put into a function must not
// be able to end it.
func (s *split) balance() {
	for i, t := range s.toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			s.open = append(s.open, i)
			if len(s.open) > maxDepth {
				s.fail(t.off, "", "brackets nested more than %d deep", maxDepth)
				return
			}
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(s.open) == 0 {
				where := s.afterStatement(i)
				if i == 0 || s.at(i-1) == token.SEMICOLON {
					where = ""
				}
				const hint = "no bracket is open here"
				limit := t.end
				if where == "" {
					limit = t.off
				}
				if !s.brokenBefore(i, limit) {
					s.fail(t.off, hint, "syntax error: unexpected %s%s", t.tok, where)
				} else if d := &s.diags[0]; d.Hint == "" {
					d.Hint = hint
				}
				return
			}
			o := s.toks[s.open[len(s.open)-1]]
			if closers[o.tok] != t.tok {
				line, col := s.position(o.off)
				hint := fmt.Sprintf("the %s at line %d, column %d is still open", o.tok, line, col)
				if !s.brokenBefore(i, t.end) {
					s.fail(t.off, hint, "syntax error: unexpected %s, expected %s", t.tok, closers[o.tok])
				} else if d := &s.diags[0]; d.Hint == "" {
					d.Hint = hint
				}
				return
			}
			s.open = s.open[:len(s.open)-1]
		}
	}
	if len(s.open) > 0 && !s.brokenBefore(len(s.toks), len(strings.TrimRight(s.src, " \t\r\n"))) {
		o := s.toks[s.open[len(s.open)-1]]
		line, col := s.position(o.off)
		d := s.fail(len(strings.TrimRight(s.src, " \t\r\n")), fmt.Sprintf("the %s at line %d, column %d is not closed", o.tok, line, col),
			"syntax error: unexpected end of cell, expected %s", closers[o.tok])
		d.Incomplete = true
	}
}

// cut finds the chunks.
func (s *split) cut() {
	first := s.cutWhole()
	if last := len(s.toks) - 1; first == last-1 && s.at(last) == token.COLON && s.at(first) == token.IDENT {
		s.chunks = append(s.chunks, chunk{kind: stmtChunk, first: first, last: last}) // a label ends a block
	} else if first < len(s.toks) && !s.brokenBefore(len(s.toks), len(strings.TrimRight(s.src, " \t\r\n"))) {
		// The last token is one that no line of Go ends with.
		d := s.fail(s.toks[len(s.toks)-1].off, "", "syntax error: unexpected end of cell after %s", s.name(len(s.toks)-1))
		d.Incomplete = true
	}
}

// cutWhole finds the chunks that have an end, and returns the token behind
// them. They end at semicolons outside all brackets, but for those in the
// header of a for, if or switch.
func (s *split) cutWhole() (first int) {
	depth := 0
	header := false
	for i, t := range s.toks {
		switch t.tok {
		case token.FOR, token.IF, token.SWITCH:
			header = header || depth == 0
		case token.LBRACE:
			header = header && (depth > 0 || s.literal(i))
			depth++
		case token.LPAREN, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth > 0 || header && t.end > t.off {
				continue
			}
			header = false
			if first < i {
				s.chunks = append(s.chunks, chunk{kind: s.kind(first, i), first: first, last: i - 1, semi: t.end > t.off})
			} else if t.end > t.off && len(s.chunks) > 0 {
				// x;; and, on the next line, a lone ;
				s.chunks[len(s.chunks)-1].semi = true
			}
			first = i + 1
		}
	}
	return first
}

// literal reports whether the brace at token i, in the header of a statement,
// is not that of its block but of a literal: of []T or map[K]T, for one of a
// type name needs parentheses there.
func (s *split) literal(i int) bool {
	i--
	if s.at(i) == token.IDENT && s.at(i-1) == token.PERIOD && s.at(i-2) == token.IDENT {
		i -= 2
	}
	if s.at(i) != token.IDENT {
		return s.at(i) == token.STRUCT || s.at(i) == token.INTERFACE
	}
	for i--; s.at(i) == token.MUL; i-- {
	}
	return s.at(i) == token.RBRACK
}

// startsStatement reports whether off is the first in its line, and the line
// before it is complete.
func (s *split) startsStatement(off int) bool {
	line, _ := s.position(off)
	if strings.TrimLeft(s.src[s.lines[line-1]:off], " \t") != "" {
		return false
	}
	return len(s.toks) == 0 || s.at(len(s.toks)-1) == token.SEMICOLON
}

// kind says what the chunk of tokens first to end-1 is.
func (s *split) kind(first, end int) kind {
	switch s.at(first) {
	case token.PACKAGE:
		return packageChunk
	case token.IMPORT:
		return importChunk
	case token.TYPE:
		return typeChunk
	case token.CONST:
		return constChunk
	case token.VAR:
		return varChunk
	case token.FUNC:
		switch s.at(first + 1) {
		case token.IDENT:
			return funcChunk
		case token.LPAREN:
			// A method has a name and parameters after the receiver; a
			// function literal has a result, if anything.
			i := s.match(first + 1)
			if s.at(i+1) == token.IDENT && i+2 < end {
				if s.at(i+2) == token.LPAREN || s.at(i+2) == token.LBRACK && s.at(s.match(i+2)+1) == token.LPAREN {
					return methodChunk // with type parameters, which Go refuses
				}
			}
		}
	}
	return stmtChunk
}

// match returns the index of the bracket that closes the one at i. Brackets
// are balanced by now.
func (s *split) match(i int) int {
	depth := 0
	for ; i < len(s.toks); i++ {
		switch s.toks[i].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// position returns the line and column, in bytes, both from 1, of an offset.
func (s *split) position(off int) (line, col int) {
	lo, hi := 0, len(s.lines)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; s.lines[mid] <= off {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1, off - s.lines[lo] + 1
}

// shorten cuts text to n bytes for a message.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
