package cell

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// Status says whether the source could be run as it is: "complete",
// "incomplete", then with the indent of the line that would follow, or
// "invalid", where more lines cannot help.
//
// As in IPython, a magic that takes the rest of the cell takes lines until one
// is empty.
func Status(source string) (status, indent string) {
	script, err := ReadScript(source)
	if err != nil {
		return "invalid", ""
	}
	for _, step := range script.Steps {
		if m := findMagic(step.Magic, true); m != nil && m.Runs != AroundGo && !strings.HasSuffix(step.Body, "\n") {
			return "incomplete", ""
		}
		if status, indent := goStatus(step.Go); status != "complete" {
			return status, indent
		}
	}
	return "complete", ""
}

// goStatus is Status of Go without magics.
func goStatus(source string) (status, indent string) {
	s := splitCell(source)
	if len(s.diags) > 0 {
		for _, d := range s.diags {
			if !d.Incomplete {
				return "invalid", ""
			}
		}
		switch {
		case strings.HasSuffix(s.diags[0].Msg, "not terminated"):
			return "incomplete", "" // the text of strings and comments is not ours to indent
		case !s.begins():
			return "invalid", ""
		case len(s.open) == 0:
			return "incomplete", "\t"
		}
		return "incomplete", strings.Repeat("\t", len(s.open))
	}
	k := NewScope(nil, Prelude{}).newCheck(1)
	k.plan = planCell(s, 1, k.lives)
	k.imps = k.plan.imps
	k.parse(k.compose().file("cell__1"))
	if len(k.errs) > 0 || len(s.diags) > 0 {
		return "invalid", ""
	}
	return "complete", ""
}

// begins reports whether the last chunk, which is not at its end, is the
// beginning of a declaration or a statement: whether a parser finds no fault
// before the end.
func (s *split) begins() bool {
	first, depth := 0, 0
	for i, t := range s.toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 && t.end == t.off {
				first = i + 1
			}
		}
	}
	if first >= len(s.toks) {
		return true
	}
	text := s.text(first, len(s.toks)-1)
	for _, before := range []string{"package p\n", "package p\nfunc _() {\n"} {
		_, err := parser.ParseFile(token.NewFileSet(), "", before+text, parser.SkipObjectResolution)
		if list, ok := err.(scanner.ErrorList); !ok || list[0].Pos.Offset >= len(before+text) {
			return true
		}
	}
	return false
}
