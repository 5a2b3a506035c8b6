package cell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
