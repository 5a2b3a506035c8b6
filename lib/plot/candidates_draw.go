package plot

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
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
	s.text(16, 24, v.fit(v.title, 14), sans, 14, ink, 0)
	s.text(16, 44, v.fit(v.subtitle, 11), sans, 11, grey, 0)
	x := 16
	for j, name := range v.series {
		s.box(x, 58, x+14, 68, barColours[j])
		x += 20
		s.text(float64(x), 67, name, sans, 11, ink, 0)
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
		s.text(v.x(t), float64(bottom+16), strconv.FormatFloat(t, 'g', 3, 64), sans, 10, grey, text.XCenter)
	}
	s.text(float64(barsLeft+v.width-barsRight)/2, float64(bottom+34), "probability among the candidates", sans, 11, grey, text.XCenter)
	for i, r := range v.rows {
		v.drawRow(s, i, r)
	}
	if len(v.rows) == 0 {
		s.text(barsLeft+10, barsTop+26, "no candidates to draw", sans, 12, grey, 0)
	}
	s.line(barsLeft, barsTop, barsLeft, float64(bottom), grey)
	for i, n := range v.notes {
		s.text(16, float64(bottom+barsBottom+i*noteHeight+4), v.fit(n, 11), sans, 11, grey, 0)
	}
}

func (v candidateView) drawRow(s sketch, i int, r candidateRow) {
	middle := barsTop + i*rowHeight + rowHeight/2
	label := r.label
	if r.chosen {
		label = "▸ " + label
	}
	s.text(barsLeft-10, float64(middle+4), label, mono, 12, ink, text.XRight)
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
		s.text(v.x(end)+5, y+3.5, number(x), sans, 10, ink, 0)
	}
}

// x returns where a probability lies across the picture, in CSS pixels.
func (v candidateView) x(p float64) float64 {
	return barsLeft + p/v.end*float64(v.width-barsLeft-barsRight)
}

// fit shortens a line of text to the width of the picture.
func (v candidateView) fit(line string, size int) string { return fit(line, sans, size, v.width-32) }

var (
	grey  = color.NRGBA{R: 90, G: 90, B: 90, A: 255}
	faint = color.NRGBA{R: 225, G: 225, B: 225, A: 255}
)

// A sketch draws in CSS pixels counted from the top left corner.
type sketch struct {
	c      draw.Canvas
	height int
}

func (s sketch) y(y float64) vg.Length { return px(1) * vg.Length(float64(s.height)-y) }

func (s sketch) box(x0, y0, x1, y1 int, fill color.Color) {
	if x1 > x0 {
		s.c.FillPolygon(fill, rectangle(px(x0), s.y(float64(y0)), px(x1), s.y(float64(y1))))
	}
}

func (s sketch) line(x0, y0, x1, y1 float64, stroke color.Color) {
	s.c.StrokeLine2(draw.LineStyle{Color: stroke, Width: px(1)}, px(1)*vg.Length(x0), s.y(y0), px(1)*vg.Length(x1), s.y(y1))
}

// frame is a filled box with an edge inside it.
func (s sketch) frame(x0, y0, x1, y1 float64, fill, edge color.Color) {
	at := func(x float64) vg.Length { return px(1) * vg.Length(x) }
	s.c.FillPolygon(fill, rectangle(at(x0), s.y(y0), at(x1), s.y(y1)))
	corners := rectangle(at(x0+.5), s.y(y0+.5), at(x1-.5), s.y(y1-.5))
	s.c.StrokeLines(draw.LineStyle{Color: edge, Width: px(1)}, append(corners, corners[0], corners[1]))
}

// text draws one line with its baseline at y.
func (s sketch) text(x, y float64, line string, face font.Typeface, size int, fill color.Color, align text.XAlignment) {
	sty := text.Style{Color: fill, Font: textFont(face, size), XAlign: align, Handler: outlines{}}
	outlines{}.baseline(s.c, line, sty, vg.Point{X: px(1) * vg.Length(x), Y: s.y(y)})
}

// fit shortens a line to a width in CSS pixels, by an ellipsis at its end.
func fit(line string, face font.Typeface, size, width int) string {
	w, _ := layout(line, textFont(face, size))
	if w <= px(width) {
		return line
	}
	rs := []rune(line)
	for len(rs) > 0 && w > px(width) {
		rs = rs[:len(rs)-1]
		w, _ = layout(string(rs)+"…", textFont(face, size))
	}
	return string(rs) + "…"
}
