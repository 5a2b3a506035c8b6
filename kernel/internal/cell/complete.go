package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Completion is what may stand at a cursor. Start and End are the part of the
// source, in runes, that a match replaces; End is the cursor.
type Completion struct {
	Start, End int
	Matches    []Match // never nil
}

// Match is one completion.
type Match struct {
	Text string
	// Kind is "function", "class" (a type), "instance" (a variable or a
	// constant), "property" (a field), "module" (a package), "keyword" or
	// "magic": what Jupyter clients draw icons for.
	Kind   string
	Detail string // its type as Go source, a package's path, a magic's help, or empty
}

// cursorCell is the execution count of a cell that is not run.
const cursorCell = 1 << 30

// maxChecked is how long a source may be, in bytes, to be checked for what
// stands at the cursor: an answer must come while the user types. In a longer
// one only the names of cells complete.
const maxChecked = 100_000

// cursorName stands in the checked text where the cursor is.
const cursorName = "cell__cursor"

// Complete lists what may stand at the cursor, counted in runes, in a source
// that need not be complete. Inside strings, comments and numbers that is
// nothing.
func (s *Scope) Complete(source string, cursor int) Completion {
	s.checking.Lock()
	defer s.checking.Unlock()
	c, m := s.matchAt(source, cursor)
	if m != nil {
		c.Matches = m.best()
	}
	return c
}

// matchAt collects what may stand at the cursor. The matcher is nil where
// that is no name of Go's; the completion then is whole.
func (s *Scope) matchAt(source string, cursor int) (Completion, *matcher) {
	off := byteOffset(source, cursor)
	cursor = utf8.RuneCountInString(source[:off])
	start := wordStart(source, off)
	word := source[start:off]
	c := Completion{Start: cursor - utf8.RuneCountInString(word), End: cursor, Matches: []Match{}}
	if text, at, magics := completeScript(source, off); magics != nil {
		c.Matches = magics
		return c, nil
	} else if text != source {
		source, start, off = text, at-len(word), at
	}
	member, ok := lookBack(source, start, off)
	if !ok {
		return c, nil
	}
	k, id, path := s.newCheck(cursorCell), (*ast.Ident)(nil), []ast.Node(nil)
	if len(source) <= maxChecked {
		k, id, path = s.checkAt(source, start, off)
	}
	m := &matcher{check: k, word: word, seen: map[string]bool{}, objects: map[string]types.Object{}}
	if member {
		m.members(path)
	} else {
		if id != nil {
			m.fieldKeys(path)
			m.locals(id.Pos())
		}
		m.packageNames()
		m.universe()
	}
	return c, m
}

// completeScript looks at the magics of a cell in which the cursor is at off.
// If the cursor is in one, magics are the names that fit, not nil. If not, text
// is the cell's Go, in which the cursor is at.
func completeScript(source string, off int) (text string, at int, magics []Match) {
	r := newScriptReader(source)
	if !r.read() {
		return source, off, nil
	}
	if magics = magicNames(source, off); magics != nil {
		return source, off, magics
	}
	spans := slices.Concat(r.kept, r.loops)
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	if slices.ContainsFunc(spans, func(p span) bool { return p.first <= off && off <= p.last && off > p.first }) {
		line, col := r.position(off)
		text = r.text(spans...)
		s := newSplit(text)
		if line <= len(s.lines) && s.lines[line-1]+col-1 <= len(text) {
			return text, s.lines[line-1] + col - 1, nil
		}
	}
	return source, off, []Match{}
}

// magicNames lists the magics whose name begins with what stands before off;
// it is nil if no name can stand there.
func magicNames(source string, off int) []Match {
	r := newScriptReader(source[:off])
	r.read()
	name := strings.TrimLeft(source[r.last.off:off], "%")
	whole := strings.HasPrefix(source[r.last.off:], "%%")
	if r.last.end != off || len(name) == off-r.last.off || strings.ContainsAny(name, " \t") {
		return nil
	}
	list := []Match{}
	for _, m := range Magics {
		if m.Name != Shell && strings.HasPrefix(m.Name, name) && (whole && m.Whole || !whole && m.Line) {
			list = append(list, Match{m.Name, "magic", m.Help})
		}
	}
	return list
}

// byteOffset returns the offset of the n-th rune, inside the source whatever
// n is.
func byteOffset(source string, n int) int {
	for i := range source {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(source)
}

// wordStart returns where the identifier that ends at off begins.
func wordStart(source string, off int) int {
	for off > 0 {
		r, n := utf8.DecodeLastRuneInString(source[:off])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		off -= n
	}
	return off
}

// lookBack looks at the tokens before the word from start to off: member is
// set after a period, ok unset where no name can stand.
func lookBack(source string, start, off int) (member, ok bool) {
	s := splitCell(source[:off])
	if len(s.toks) == 0 && len(s.diags) > 0 && !s.diags[0].Incomplete {
		return false, false // a magic
	}
	// What the prefix does not close is open at the cursor, whatever follows.
	for _, d := range s.diags {
		if strings.HasSuffix(d.Msg, "not terminated") || strings.HasPrefix(d.Msg, "newline in ") {
			return false, false
		}
	}
	for _, c := range s.comments {
		if c.off < off && off <= c.end && (source[c.off+1] == '/' || off < c.end) {
			return false, false
		}
	}
	for i, t := range slices.Backward(s.toks) {
		switch {
		case t.off >= start:
		case t.end > start && t.tok != token.SEMICOLON:
			return false, false // 12ab, 0x1f
		case t.tok == token.SEMICOLON && t.off == t.end:
			// inserted by the end of a line
			return false, true
		case (t.tok == token.INT || t.tok == token.FLOAT) && t.end == start:
			return false, false
		default:
			return t.tok == token.PERIOD && s.at(i-1) != token.EOF, true
		}
	}
	return false, true
}
