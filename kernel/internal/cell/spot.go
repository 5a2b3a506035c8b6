package cell

import (
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

// A Spot is a place in a cell where no name of Go's stands: in a string, or
// behind the name of a magic.
type Spot struct {
	// Start is where Text begins, in runes; Text goes to the cursor. Of a
	// magic it is the last word.
	Start int
	Text  string

	Import bool   // the string is an import path
	Call   string // the function that gets the string, as written: "os.Open"
	Magic  string // the magic's name; "" in a string
}

// SpotAt returns the spot of the cursor, which counts runes. A string with a
// backslash in it before the cursor is none.
func SpotAt(source string, cursor int) (Spot, bool) {
	off := byteOffset(source, cursor)
	cursor = utf8.RuneCountInString(source[:off])
	text, at, magics := completeScript(source, off)
	var spot Spot
	ok := false
	if magics != nil {
		spot, ok = magicSpot(source[:off])
	} else {
		spot, ok = stringSpot(text[:at])
	}
	spot.Start = cursor - utf8.RuneCountInString(spot.Text)
	return spot, ok
}

// magicSpot looks at the magic that source ends in.
func magicSpot(source string) (Spot, bool) {
	r := newScriptReader(source)
	r.read()
	known := findMagic(r.last.name, r.last.whole)
	if known == nil {
		return Spot{}, false
	}
	inBody := r.last.end < len(source)
	if inBody && (known.Runs != InWorker || !known.Whole || known.Name == "writefile") {
		return Spot{}, false // the body of a file is anything
	}
	if !inBody && r.last.argOff >= len(source) && known.Name != Shell && !strings.HasSuffix(source, " ") {
		return Spot{}, false // in its name
	}
	text := source[max(r.last.argOff, 0):]
	if i := strings.LastIndexAny(text, " \t\n=\"';|&<>("); i >= 0 {
		text = text[i+1:]
	}
	return Spot{Text: text, Magic: known.Name}, true
}

// stringSpot looks at the string that source ends in.
func stringSpot(source string) (Spot, bool) {
	file := token.NewFileSet().AddFile("", -1, len(source))
	open := -1 // where a string begins that does not end
	var sc scanner.Scanner
	sc.Init(file, []byte(source), func(at token.Position, msg string) {
		if strings.HasSuffix(msg, "string literal not terminated") {
			open = at.Offset
		}
	}, 0)
	type group struct {
		call    string // what stands before the parenthesis
		imports bool
	}
	var groups []group
	var last []tok // of the statement
	for {
		pos, t, lit := sc.Scan()
		off := file.Offset(pos)
		switch {
		case t == token.STRING && open == off:
			if strings.ContainsAny(source[open+1:], "\n") && source[open] == '"' {
				open = -1 // of an earlier line
				continue
			}
			s := Spot{Text: source[open+1:], Import: imported(last)}
			if n := len(groups); n > 0 {
				s.Call, s.Import = groups[n-1].call, s.Import || groups[n-1].imports
			}
			return s, source[open] == '`' || !strings.Contains(s.Text, `\`)
		case t == token.EOF:
			return Spot{}, false
		case t == token.LPAREN:
			groups = append(groups, group{callee(source, last), len(last) > 0 && last[len(last)-1].tok == token.IMPORT})
			last = nil
			continue
		case t == token.LBRACE || t == token.LBRACK:
			groups = append(groups, group{})
			last = nil
			continue
		case t == token.RPAREN || t == token.RBRACE || t == token.RBRACK:
			if len(groups) > 0 {
				groups = groups[:len(groups)-1]
			}
			last = nil
			continue
		case t == token.SEMICOLON || t == token.COMMA:
			last = nil
			continue
		}
		last = append(last, tok{t, off, off + len(lit)})
	}
}

// imported reports whether a string behind the tokens is an import path.
func imported(last []tok) bool {
	return len(last) > 0 && last[0].tok == token.IMPORT && len(last) <= 2
}

// callee returns the names, with periods between them, that tokens end in.
func callee(source string, last []tok) string {
	i := len(last)
	for i > 0 && last[i-1].tok == token.IDENT {
		if i--; i < 1 || last[i-1].tok != token.PERIOD {
			break
		}
		i--
	}
	if i == len(last) {
		return ""
	}
	first, end := last[i], last[len(last)-1]
	return strings.TrimLeft(source[first.off:end.end], ".")
}
