package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The geometry of the token picture, in CSS pixels.
const (
	tokensTop    = 92 // title, summary and legend
	tokensLine   = 24
	tokensSize   = 13 // of the text
	tokensMargin = 16
	tokensLines  = 80 // at most; what is left is counted below
)

// A box is a stretch of a token on one line of the picture.
type box struct {
	text   string
	mark   bool
	x0, x1 vg.Length // from the left margin
	cell   int
}

// wrap lays the tokens out in lines, and returns how many tokens there is no
// room for. A line breaks before the token that would cross the margin; a
// token longer than a line is broken inside.
func (v tokenView) wrap() (lines [][]box, more int) {
	width := px(v.width - 2*tokensMargin)
	face := textFont(mono, tokensSize)
	var line []box
	x := vg.Length(0)
	feed := func() {
		lines = append(lines, line)
		line, x = nil, 0
	}
	for i, cell := range v.cells {
		if len(lines) >= tokensLines {
			more = len(v.cells) - i
			break
		}
		if w := cell.width(); x > 0 && x+w > width {
			feed()
		}
		for _, r := range cell.runs {
			if r.text == newline {
				feed()
				continue
			}
			for _, part := range breakText(drawable(r.text), width-x, width) {
				w, _ := layout(part, face)
				if x > 0 && x+w > width {
					feed()
				}
				line = append(line, box{text: part, mark: r.mark, x0: x, x1: x + w, cell: i})
				x += w
			}
		}
	}
	if len(line) > 0 || len(lines) == 0 {
		feed()
	}
	if len(lines) > tokensLines {
		// The last token did not fit: it counts as one that is not shown.
		lines = lines[:tokensLines]
		more++
	}
	return lines, more + v.more
}

// width returns the width of the token's first line.
func (c tokenCell) width() vg.Length {
	total := vg.Length(0)
	for _, r := range c.runs {
		if r.text == newline {
			break
		}
		w, _ := layout(r.text, textFont(mono, tokensSize))
		total += w
	}
	return total
}

// breakText cuts s into parts of at most first and then rest.
func breakText(s string, first, rest vg.Length) []string {
	face := textFont(mono, tokensSize)
	if w, _ := layout(s, face); w <= first || w <= rest {
		return []string{s}
	}
	var parts []string
	var part []rune
	room, used := first, vg.Length(0)
	for _, r := range s {
		w, _ := layout(string(r), face)
		if used+w > room && len(part) > 0 {
			parts = append(parts, string(part))
			part, room, used = nil, rest, 0
		}
		part, used = append(part, r), used+w
	}
	return append(parts, string(part))
}

func (v tokenView) height(lines, more int) int {
	h := tokensTop + lines*tokensLine + 12
	if more > 0 {
		h += 22
	}
	return h
}

// draw returns what draws the picture.
func (v tokenView) draw(height int, lines [][]box, more int) func(draw.Canvas) {
	return func(c draw.Canvas) {
		s := sketch{c, height}
		s.text(tokensMargin, 24, fit(v.title, sans, 14, v.width-32), sans, 14, ink, draw.XLeft)
		s.text(tokensMargin, 44, fit(v.summary, sans, 11, v.width-32), sans, 11, grey, draw.XLeft)
		v.drawLegend(s)
		for k, line := range lines {
			y := float64(tokensTop + k*tokensLine)
			for _, b := range line {
				v.drawBox(s, b, y)
			}
		}
		if len(v.cells) == 0 {
			s.text(tokensMargin, tokensTop+16, "no tokens to show", sans, 12, grey, draw.XLeft)
		}
		if more > 0 {
			s.text(tokensMargin, float64(tokensTop+len(lines)*tokensLine+18), "and "+plural(more, "token")+" more, not shown", sans, 11, grey, draw.XLeft)
		}
	}
}

func (v tokenView) drawLegend(s sketch) {
	x := tokensMargin
	for i, t := range v.scale.ticks {
		label := v.scale.tickLabel(i)
		w, _ := layout(label, textFont(sans, 11))
		end := x + int(w/px(1)) + 18
		c, _ := v.scale.colour(t)
		s.frame(float64(x), 56, float64(end), 74, over(c, white), faint)
		s.text(float64(x+9), 69, label, sans, 11, ink, draw.XLeft)
		x = end
	}
	s.text(float64(x+8), 69, v.scale.name, sans, 11, ink, draw.XLeft)
}

func (v tokenView) drawBox(s sketch, b box, y float64) {
	x0, x1 := tokensMargin+float64(b.x0/px(1)), tokensMargin+float64(b.x1/px(1))
	fill, ok := v.scale.colour(v.cells[b.cell].value)
	edge := faint
	if !ok {
		edge = ink
	}
	s.frame(x0, y+2, x1, y+tokensLine-2, over(fill, white), edge)
	s.text(x0, y+16, b.text, mono, tokensSize, ink, draw.XLeft)
	if b.mark {
		s.line(x0+1, y+19, x1-1, y+19, grey)
	}
}
