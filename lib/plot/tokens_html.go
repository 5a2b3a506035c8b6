package plot

import (
	"fmt"
	"html"
	"image/color"
	"math"
	"strings"

	"github.com/branchbook/branchbook/lib/llm"
)

// The HTML of a generation is bounded: 10,000 tokens with all their
// candidates would be more than a notebook can carry.
const (
	titledTokens = 2000 // tokens whose tooltip lists candidates; later ones have their numbers
	listedTokens = 500  // rows of the table of tokens
	foldedTokens = 200  // tables of candidates
)

// colour returns what lies behind a token, and false where its value is NaN.
func (s scale) colour(x float64) (color.NRGBA, bool) {
	t := s.strength(x)
	switch {
	case math.IsNaN(t):
		return color.NRGBA{}, false
	case t < 0:
		return warm.at(-t), true
	case s.signed:
		return cool.at(t), true
	}
	return warm.at(t), true
}

// html returns the view as plain elements with inline styles, which untrusted
// notebooks keep.
func (v tokenView) html() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div style="max-width:%dpx;line-height:1.5">`, v.width)
	fmt.Fprintf(&b, `<div style="font-weight:600">%s</div><div style="font-size:85%%">%s</div>`, html.EscapeString(v.title), html.EscapeString(v.summary))
	v.writeLegend(&b)
	if p := v.rec.Prompt; p != "" {
		size := ""
		if n := len(v.rec.PromptTokens); n > 0 {
			size = ", " + plural(n, "token")
		}
		fmt.Fprintf(&b, `<details style="font-size:85%%;margin:4px 0"><summary>prompt%s</summary><div style="white-space:pre-wrap;overflow-wrap:break-word;%s">%s</div></details>`,
			size, codeFont, html.EscapeString(escapeControls(p)))
	}
	direction := ""
	if rightToLeft(v.rec) {
		direction = "direction:rtl;"
	}
	b.WriteString(`<div style="white-space:pre-wrap;overflow-wrap:break-word;line-height:1.6;margin:6px 0;` + direction + codeFont + `">`)
	for i := range v.cells {
		v.writeToken(&b, i)
	}
	if len(v.cells) == 0 {
		b.WriteString(`<span style="font-style:italic">no tokens to show</span>`)
	}
	b.WriteString("</div>")
	if v.more > 0 {
		fmt.Fprintf(&b, `<div style="font-size:85%%">and %s more, not shown</div>`, plural(v.more, "token"))
	}
	v.writeTables(&b)
	b.WriteString("</div>")
	return b.String()
}

// codeFont names fonts twice: JupyterLab drops the second, with its variable,
// from untrusted notebooks, and keeps the first.
const codeFont = `font-family:Menlo,Consolas,monospace;font-family:var(--jp-code-font-family,monospace);font-size:14px`

// outline separates tokens that have no colour.
const outline = "box-shadow:inset 0 0 0 1px rgba(127,127,127,.28)"

func (v tokenView) writeLegend(b *strings.Builder) {
	b.WriteString(`<div style="font-size:85%;margin:4px 0">`)
	for i, t := range v.scale.ticks {
		c, _ := v.scale.colour(t)
		fmt.Fprintf(b, `<span style="padding:1px 9px;%s;background:%s">%s</span>`, outline, css(c), html.EscapeString(v.scale.tickLabel(i)))
	}
	fmt.Fprintf(b, `<span style="margin-left:8px">%s</span></div>`, html.EscapeString(v.scale.name))
}

// tickLabel writes a tick of the legend; the outer ones stand for all beyond.
func (s scale) tickLabel(i int) string {
	t := s.ticks[i]
	label := short(t)
	switch {
	case s.bounded:
	case i == len(s.ticks)-1:
		label = "≥ " + label
	case i == 0 && s.signed:
		label = "≤ " + label
	}
	return label
}

func (v tokenView) writeToken(b *strings.Builder, i int) {
	cell := v.cells[i]
	style := outline
	if c, ok := v.scale.colour(cell.value); !ok {
		style = "outline:1px dashed"
	} else if c.A > 0 {
		style += ";background:" + css(c)
	}
	open := fmt.Sprintf(`<span style="display:inline-block;max-width:100%%;line-height:1.5;margin:2px 1px 2px 0;border-radius:3px;%s" title="%s">`, style, html.EscapeString(v.tooltip(i)))
	b.WriteString(open)
	closed := false
	for _, r := range cell.runs {
		switch {
		case r.text == newline:
			// The break stands after the token, so that its box ends here.
			b.WriteString("</span>\n")
			closed = true
			continue
		case closed:
			b.WriteString(open)
			closed = false
		}
		if r.mark {
			fmt.Fprintf(b, `<span style="border-bottom:1px dotted">%s</span>`, html.EscapeString(r.text))
		} else {
			b.WriteString(html.EscapeString(r.text))
		}
	}
	if !closed {
		b.WriteString("</span>")
	}
}

// tooltip describes token i in plain text, on several lines.
func (v tokenView) tooltip(i int) string {
	s := v.rec.Steps[i]
	var b strings.Builder
	fmt.Fprintf(&b, "%d: %s, id %d\n", i, quote(s.Piece, s.Token, isEnd(v.rec, i), 60), s.Token)
	fmt.Fprintf(&b, "log p %s, p %s", number(s.LogProb), number(math.Exp(s.LogProb)))
	if r := v.cells[i].rank; r > 0 {
		fmt.Fprintf(&b, ", rank %d", r)
	}
	fmt.Fprintf(&b, "\ndrawn with %s, entropy %s", number(s.Prob), number(s.Entropy))
	if s.ESS != 0 {
		fmt.Fprintf(&b, ", ESS %s", number(s.ESS))
	}
	if i >= titledTokens || len(s.Candidates) == 0 {
		return b.String()
	}
	names := weightNames(s)
	b.WriteString("\n\n" + strings.Join(names[:], " → "))
	for _, c := range v.best(s) {
		mark := " "
		if c.Token == s.Token {
			mark = "▸"
		}
		fmt.Fprintf(&b, "\n%s %s  %s → %s → %s", mark, quote(c.Piece, c.Token, c.End, 24), number(c.Base), number(c.Power), number(c.Prob))
		if c.ProbSE != 0 {
			fmt.Fprintf(&b, " ± %s", number(c.ProbSE))
		}
	}
	return b.String()
}

// best returns the first candidates of a step, and the chosen one wherever it
// stands.
func (v tokenView) best(s llm.StepRecord) []llm.Candidate {
	var cs []llm.Candidate
	for i, c := range s.Candidates {
		if i < v.candidates || c.Token == s.Token {
			cs = append(cs, c)
		}
	}
	return cs
}

// writeTables writes a table of tokens and a folded table of candidates for
// each token.
func (v tokenView) writeTables(b *strings.Builder) {
	if len(v.cells) == 0 {
		return
	}
	b.WriteString(`<details style="font-size:85%"><summary>table of tokens</summary><table><thead><tr><th>step</th><th>token</th><th>id</th><th>log p</th><th>p</th><th>drawn with</th><th>rank</th><th>entropy</th><th>ESS</th></tr></thead><tbody>`)
	for i := range v.cells[:min(len(v.cells), listedTokens)] {
		s := v.rec.Steps[i]
		rank := "–"
		if r := v.cells[i].rank; r > 0 {
			rank = fmt.Sprint(r)
		}
		writeRow(b, fmt.Sprint(i), quote(s.Piece, s.Token, isEnd(v.rec, i), 60), fmt.Sprint(s.Token), number(s.LogProb),
			number(math.Exp(s.LogProb)), number(s.Prob), rank, number(s.Entropy), number(s.ESS))
	}
	b.WriteString("</tbody></table>")
	writeRest(b, len(v.rec.Steps)-listedTokens)
	b.WriteString(`</details><details style="font-size:85%"><summary>candidates of each token</summary>`)
	for i := range v.cells[:min(len(v.cells), foldedTokens)] {
		s := v.rec.Steps[i]
		fmt.Fprintf(b, `<details style="margin-left:1em"><summary>%d: <span style="display:inline-block">%s</span></summary>`,
			i, html.EscapeString(quote(s.Piece, s.Token, isEnd(v.rec, i), 60)))
		if len(s.Candidates) == 0 {
			b.WriteString("the record holds none</details>")
			continue
		}
		names := weightNames(s)
		b.WriteString(`<table><thead><tr><th>candidate</th><th>id</th><th>log p</th><th>` + strings.Join(names[:], "</th><th>") + `</th><th>±</th><th>log ζ</th><th>ESS</th></tr></thead><tbody>`)
		for _, c := range v.best(s) {
			label := quote(c.Piece, c.Token, c.End, 60)
			if c.Token == s.Token {
				label = "▸ " + label
			}
			writeRow(b, label, fmt.Sprint(c.Token), number(c.LogProb), number(c.Base), number(c.Power), number(c.Prob),
				number(c.ProbSE), number(c.LogZeta), number(c.ESS))
		}
		b.WriteString("</tbody></table></details>")
	}
	writeRest(b, len(v.rec.Steps)-foldedTokens)
	b.WriteString("</details>")
}

func writeRow(b *strings.Builder, cells ...string) {
	b.WriteString("<tr>")
	for _, c := range cells {
		b.WriteString("<td>" + html.EscapeString(c) + "</td>")
	}
	b.WriteString("</tr>")
}

// writeRest says that n tokens were left out of a table.
func writeRest(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "<div>and %s more; a saved .csv or .json has them all</div>", plural(n, "token"))
	}
}
