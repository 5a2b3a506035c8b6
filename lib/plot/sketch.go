package plot

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
func (s sketch) text(x, y float64, line string, face font.Typeface, size int, fill color.Color, align draw.XAlignment) {
	drawLine(s.c, line, textFont(face, size), fill, align, vg.Point{X: px(1) * vg.Length(x), Y: s.y(y)})
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

// px returns a length of n CSS pixels, of which an inch has 96.
func px(n int) vg.Length { return vg.Length(n) * vg.Inch / 96 }

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}
