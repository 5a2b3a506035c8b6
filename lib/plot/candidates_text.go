package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
)

// details says in HTML all that is known of a candidate. Its braces are
// written so that ECharts finds no template in them.
func (r candidateRow) details(names [3]string) string {
	title := fmt.Sprintf("%s · id %d", r.full, r.Token)
	if r.chosen {
		title += " · chosen"
	}
	var lines []string
	for i, x := range r.values() {
		line := names[i] + " = " + number(x)
		if i == 2 && r.ProbSE != 0 {
			line += " ± " + number(r.ProbSE)
		}
		lines = append(lines, line)
	}
	lines = append(lines, "log p of the model = "+number(r.LogProb), "log ζ = "+number(r.LogZeta)+" · ESS "+number(r.ESS))
	text := `<b style="unicode-bidi:isolate">` + html.EscapeString(title) + "</b>"
	for _, line := range lines {
		text += "<br>" + html.EscapeString(line)
	}
	return strings.NewReplacer("{", "&#123;", "}", "&#125;").Replace(text)
}

func (v candidateView) table() table {
	t := table{columns: []string{"token", "piece", "chosen", "end", "log_prob", "p", "p_alpha", "p_alpha_zeta", "p_alpha_zeta_se", "log_zeta", "ess"}}
	for _, c := range v.step.Candidates {
		t.rows = append(t.rows, []any{int(c.Token), quote(c.Piece, c.Token, c.End, math.MaxInt32), c.Token == v.step.Token, c.End,
			c.LogProb, c.Base, c.Power, c.Prob, c.ProbSE, c.LogZeta, c.ESS})
	}
	return t
}

// text draws the figure with characters.
func (v candidateView) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", v.title, v.subtitle)
	if len(v.rows) > 0 {
		fmt.Fprintf(&b, "  %-22s %9s %9s %9s %9s\n", "token", v.names[0], v.names[1], v.names[2], "±")
	}
	for _, r := range v.rows {
		mark := " "
		if r.chosen {
			mark = ">"
		}
		pad := strings.Repeat(" ", max(0, 22-utf8.RuneCountInString(r.label)))
		se := ""
		if r.ProbSE != 0 {
			se = number(r.ProbSE)
		}
		fmt.Fprintf(&b, "%s %s%s %9s %9s %9s %9s %s\n", mark, r.label, pad, number(r.Base), number(r.Power), number(r.Prob), se, v.textBar(r.Prob))
	}
	for _, n := range v.notes {
		fmt.Fprintf(&b, "(%s)\n", n)
	}
	return b.String()
}

// textBar draws x with up to 20 blocks.
func (v candidateView) textBar(x float64) string {
	if !finite(x) {
		return ""
	}
	return strings.Repeat("█", int(math.Round(20*v.clip(x)/v.end)))
}
