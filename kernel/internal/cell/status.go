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
		return "incomplete", strings.Repeat("\t", max(len(s.open), 0))
	}
	k := &check{plan: planCell(s, func(string) bool { return false }), Scope: NewScope(nil, Prelude{})}
	k.imps = k.plan.imps
	w := newWriter(k.plan, 1, nil)
	w.file("cell__1", k.imps)
	k.parse(w.Bytes())
	if len(k.errs) > 0 || len(s.diags) > 0 {
		return "invalid", ""
	}
	return "complete", ""
}
