package cell

import (
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
		case len(s.open) == 0:
			return "incomplete", "\t"
		}
		return "incomplete", strings.Repeat("\t", len(s.open))
	}
	if s.at(len(s.toks)-1) == token.COLON {
		return "incomplete", "" // a label, before its statement
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
