package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textTokens is how many tokens text/plain lists.
const textTokens = 40

// text writes the generation, and its first tokens one to a line with a bar
// for the quantity that colours them.
func (v tokenView) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", v.title, v.summary)
	if len(v.cells) == 0 {
		return b.String()
	}
	b.WriteByte('\n')
	for _, cell := range v.cells {
		for _, r := range cell.runs {
			b.WriteString(r.text)
		}
	}
	fmt.Fprintf(&b, "\n\n%4s  %-22s %9s %9s %9s %9s  %s\n", "step", "token", "p", "q", "entropy", "ESS", v.scale.name)
	for i, cell := range v.cells[:min(len(v.cells), textTokens)] {
		s := v.rec.Steps[i]
		label := quote(s.Piece, s.Token, isEnd(v.rec, i), 20)
		pad := strings.Repeat(" ", max(0, 22-utf8.RuneCountInString(label)))
		ess := ""
		if s.ESS != 0 {
			ess = number(s.ESS)
		}
		bar := ""
		if t := v.scale.strength(cell.value); !math.IsNaN(t) {
			bar = strings.Repeat("█", int(math.Round(10*math.Abs(t))))
		}
		fmt.Fprintf(&b, "%4d  %s%s %9s %9s %9s %9s  %s %s\n", i, label, pad, number(math.Exp(s.LogProb)), number(s.Prob), number(s.Entropy), ess, number(cell.value), bar)
	}
	if n := len(v.rec.Steps) - textTokens; n > 0 {
		fmt.Fprintf(&b, "and %s more\n", plural(n, "token"))
	}
	b.WriteString("(p is the model's probability, q what the sampler drew the token with)\n")
	return b.String()
}

// table holds every step of the record.
func (v tokenView) table() table {
	t := table{columns: []string{"step", "token", "piece", "end", "log_prob", "prob", "entropy", "rank", "log_ratio", "ess", "clamped", "truncated"}}
	for i, s := range v.rec.Steps {
		t.rows = append(t.rows, []any{i, int(s.Token), quote(s.Piece, s.Token, isEnd(v.rec, i), math.MaxInt32), isEnd(v.rec, i),
			s.LogProb, s.Prob, s.Entropy, rank(s), logRatio(s), s.ESS, s.Clamped, s.Truncated})
	}
	return t
}

// escapeControls makes control and format characters and stray bytes of a text
// visible, and keeps its line breaks.
func escapeControls(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		s = s[n:]
	}
	return b.String()
}

// oneLine makes a text fit for a title.
func oneLine(s string) string { return escapeControls(strings.ReplaceAll(s, "\n", " ")) }

// short writes a number of the legend.
func short(x float64) string {
	if x < 0 {
		return "−" + short(-x)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
