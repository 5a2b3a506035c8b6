package session

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

const (
	// longLine is how many bytes of a line are shown, and lead how many of
	// them before the column that it is about.
	longLine = 240
	lead     = 100
	// tab stands for a tab: a front end's tab stops count the line's number too.
	tab = "    "
)

// excerpt is a line of source with a caret under byte col, from 1; without the
// caret when col is 0, and nothing when there is no such line. Of a long line
// it is what stands around the column.
func excerpt(source string, line, col int) []string {
	text, ok := lineOf(source, line)
	if !ok {
		return nil
	}
	at := col - 1
	marked := at >= 0 && at <= len(text) && (at == len(text) || utf8.RuneStart(text[at]))
	before, after := "", ""
	if len(text) > longLine {
		from := 0
		if at > lead && at <= len(text) {
			from = at - lead
		}
		to := min(len(text), from+longLine)
		for ; from > 0 && from < len(text) && !utf8.RuneStart(text[from]); from-- {
		}
		for ; to < len(text) && !utf8.RuneStart(text[to]); to++ {
		}
		if from > 0 {
			before = "…"
		}
		if to < len(text) {
			after = "…"
		}
		at -= from
		text = text[from:to]
	}
	out := []string{fmt.Sprintf("%s%4d |%s %s%s%s", faint, line, reset, before, visible(text), after)}
	if marked && at <= len(text) {
		out = append(out, "     | "+blank(before+text[:at])+red+"^"+reset)
	}
	return out
}

// lineOf returns a line of source, from 1.
func lineOf(source string, line int) (string, bool) {
	for ; line > 1; line-- {
		_, rest, ok := strings.Cut(source, "\n")
		if !ok {
			return "", false
		}
		source = rest
	}
	text, _, _ := strings.Cut(source, "\n")
	return strings.TrimRight(text, "\r"), line == 1
}

// visible is text with signs in place of what a terminal does not show.
func visible(text string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\u200d': // which joins emoji
			return r
		case r < ' ':
			return '␀' + r
		case r == 0x7f || unicode.In(r, unicode.Cc, unicode.Cf):
			return utf8.RuneError
		}
		return r
	}, text), "\t", tab)
}

// blank is as wide as visible text, without ink.
func blank(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteString(tab)
		case unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200d':
		default:
			b.WriteByte(' ')
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}
