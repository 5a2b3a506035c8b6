package cell

import (
	"strings"
)

// Status says whether the source could be run as it is: "complete",
// "incomplete", then with the indent of the line that would follow, or
// "invalid", where more lines cannot help.
func Status(source string) (status, indent string) {
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
	k := NewScope(nil, Prelude{}).newCheck(1)
	k.plan = planCell(s, 1, k.lives)
	k.imps = k.plan.imps
	k.parse(k.compose().file("cell__1"))
	if len(k.errs) > 0 || len(s.diags) > 0 {
		return "invalid", ""
	}
	return "complete", ""
}
