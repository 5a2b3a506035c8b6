package plot

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot/vg/draw"
)

// The geometry of the candidate bars, in CSS pixels, shared by the picture and
// the live chart so that one can take the other's place.
const (
	barsTop    = 84  // title, summary and legend
	barsBottom = 46  // tick labels and the axis name
	barsLeft   = 172 // token labels
	barsRight  = 64  // numbers beyond the longest bar
	rowHeight  = 44
	barHeight  = 10
	barPitch   = 11 // from one bar of a row to the next
	noteHeight = 18
)

func (v candidateView) height() int {
	return barsTop + max(len(v.rows), 1)*rowHeight + barsBottom + noteHeight*len(v.notes)
}

// barCentre returns where the middle of bar j of row i lies, in rows from the
// top.
func barCentre(i, j int) float64 {
	return float64(i) + 0.5 + float64((j-1)*barPitch)/rowHeight
}

// barColours are light before, dark after, and a hue of its own for what the
// sampler drew from.
var barColours = [3]color.NRGBA{skyBlue, blue, vermillion}

// chosenShade lies behind the row of the chosen candidate, on any page.
var chosenShade = color.NRGBA{R: 127, G: 127, B: 127, A: 36}

// draw draws the picture.
func (v candidateView) draw(c draw.Canvas) {
	s := sketch{c, v.height()}
	s.text(16, 24, v.fit(v.title, 14), sans, 14, ink, draw.XLeft)
	s.text(16, 44, v.fit(v.subtitle, 11), sans, 11, grey, draw.XLeft)
	x := 16
	for j, name := range v.series {
		s.box(x, 58, x+14, 68, barColours[j])
		x += 20
		s.text(float64(x), 67, name, sans, 11, ink, draw.XLeft)
		w, _ := layout(name, textFont(sans, 11))
		x += int(w/px(1)) + 22
	}

	bottom := barsTop + max(len(v.rows), 1)*rowHeight
	for i, r := range v.rows {
		if r.chosen {
			s.box(0, barsTop+i*rowHeight, v.width, barsTop+(i+1)*rowHeight, chosenShade)
		}
	}
	for k := 0; float64(k)*v.tick <= v.end*(1+1e-9); k++ {
		t := float64(k) * v.tick
		s.line(v.x(t), barsTop, v.x(t), float64(bottom), faint)
		s.text(v.x(t), float64(bottom+16), strconv.FormatFloat(t, 'g', 3, 64), sans, 10, grey, draw.XCenter)
	}
	s.text(float64(barsLeft+v.width-barsRight)/2, float64(bottom+34), "probability among the candidates", sans, 11, grey, draw.XCenter)
	for i, r := range v.rows {
		v.drawRow(s, i, r)
	}
	if len(v.rows) == 0 {
		s.text(barsLeft+10, barsTop+26, "no candidates to draw", sans, 12, grey, draw.XLeft)
	}
	s.line(barsLeft, barsTop, barsLeft, float64(bottom), grey)
	for i, n := range v.notes {
		s.text(16, float64(bottom+barsBottom+i*noteHeight+4), v.fit(n, 11), sans, 11, grey, draw.XLeft)
	}
}

func (v candidateView) drawRow(s sketch, i int, r candidateRow) {
	middle := barsTop + i*rowHeight + rowHeight/2
	label := r.label
	if r.chosen {
		label = "▸ " + label
	}
	s.text(barsLeft-10, float64(middle+4), label, mono, 12, ink, draw.XRight)
	for j, x := range r.values() {
		y := barsTop + barCentre(i, j)*rowHeight
		end := 0.0
		if w, ok := v.bar(x); ok {
			s.box(barsLeft, int(y)-barHeight/2, int(v.x(w)+0.5), int(y)+barHeight/2, barColours[j])
			end = w
		}
		if lo, hi, ok := v.whisker(r); ok && j == 2 {
			s.line(v.x(lo), y, v.x(hi), y, ink)
			s.line(v.x(lo), y-3, v.x(lo), y+3, ink)
			s.line(v.x(hi), y-3, v.x(hi), y+3, ink)
			end = max(end, hi)
		}
		s.text(v.x(end)+5, y+3.5, number(x), sans, 10, ink, draw.XLeft)
	}
}

// x returns where a probability lies across the picture, in CSS pixels.
func (v candidateView) x(p float64) float64 {
	return barsLeft + p/v.end*float64(v.width-barsLeft-barsRight)
}

// fit shortens a line of text to the width of the picture.
func (v candidateView) fit(line string, size int) string { return fit(line, sans, size, v.width-32) }
