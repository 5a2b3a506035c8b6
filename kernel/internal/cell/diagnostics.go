package cell

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiagnostics is how many things wrong one cell reports, as the compiler.
const maxDiagnostics = 10

// Error lists the diagnostics, one a line.
func (d Diagnostics) Error() string {
	var b strings.Builder
	for i, g := range d {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d:%d: %s", g.Line, g.Col, g.Msg)
		if g.Hint != "" {
			fmt.Fprintf(&b, " (%s)", g.Hint)
		}
	}
	return b.String()
}

// tidy sorts diagnostics, drops all but the first at each place, keeps them
// inside the source and cuts the list to maxDiagnostics.
func (d Diagnostics) tidy(s *split) Diagnostics {
	for i := range d {
		if d[i].Line < 1 || d[i].Line > len(s.lines) {
			d[i].Line, d[i].Col = s.position(len(strings.TrimRight(s.src, " \t\r\n")))
		}
		end := len(s.src)
		if d[i].Line < len(s.lines) {
			end = s.lines[d[i].Line] - 1
		}
		d[i].Col = max(1, min(d[i].Col, end-s.lines[d[i].Line-1]+1))
	}
	slices.SortStableFunc(d, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	told := d[:0]
	for _, g := range d {
		// As the compiler does, say the same of one line only once.
		if n := len(told); n > 0 && g.Line == told[n-1].Line && (g.Col == told[n-1].Col || g.Msg == told[n-1].Msg) {
			continue
		}
		told = append(told, g)
	}
	return told[:min(len(told), maxDiagnostics)]
}

// unqualify takes the package that all cells share off the names in a
// message.
func unqualify(msg string) string {
	var b strings.Builder
	for {
		i := strings.Index(msg, "main.")
		if i < 0 {
			b.WriteString(msg)
			return b.String()
		}
		b.WriteString(msg[:i])
		if i > 0 && (isWord(msg[i-1]) || msg[i-1] == '.') {
			b.WriteString("main.")
		}
		msg = msg[i+len("main."):]
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}
