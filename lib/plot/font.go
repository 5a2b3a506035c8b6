package plot

import (
	"fmt"
	"image/color"
	"strings"
	"sync"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	mono font.Typeface = "DejaVu Sans Mono"
	sans font.Typeface = "DejaVu Sans"
)

// fonts parses the embedded fonts once.
var fonts = sync.OnceValue(func() *font.Cache {
	parse := func(ttf []byte) *opentype.Font {
		f, err := opentype.Parse(ttf)
		if err != nil {
			panic("plot: parse an embedded font: " + err.Error())
		}
		return f
	}
	return font.NewCache(font.Collection{
		{Font: font.Font{Typeface: mono}, Face: parse(dejavusansmono.TTF)},
		{Font: font.Font{Typeface: sans}, Face: parse(dejavusans.TTF)},
	})
})

// textFont returns a font of n CSS pixels.
func textFont(face font.Typeface, n int) font.Font {
	return font.Font{Typeface: face, Size: px(n)}
}

// drawLine draws a line of text as filled outlines, so that a picture looks
// the same in every format and needs no font where it is read. The baseline
// goes through pt, which lies at the line's start, middle or end by align. A
// character that the font lacks is taken from DejaVu Sans, or drawn as its
// escape: never as an empty box. Letters are placed one by one, in the order
// in which they are seen, without joining those of Arabic.
func drawLine(c vg.Canvas, line string, f font.Font, fill color.Color, align draw.XAlignment, pt vg.Point) {
	width, glyphs := layout(line, f)
	pt.X += vg.Length(align) * width
	var path vg.Path
	for _, g := range glyphs {
		path = g.appendTo(path, pt.X, pt.Y)
	}
	if len(path) > 0 {
		c.SetColor(fill)
		c.Fill(path)
	}
}

// A glyph is a character's outline at its place on the line.
type glyph struct {
	segments sfnt.Segments
	x        vg.Length
	scale    vg.Length // length of a unit of segments
}

// layout places the glyphs of one line.
func layout(s string, f font.Font) (width vg.Length, glyphs []glyph) {
	var buf sfnt.Buffer
	for _, r := range visual(drawable(s)) {
		face, index := lookup(&buf, f, r)
		units := face.UnitsPerEm()
		ppem := fixed.I(int(units))
		scale := f.Size / vg.Length(units) / 64 // segments are in 1/64 unit
		if segments, err := face.LoadGlyph(&buf, index, ppem, nil); err == nil && len(segments) > 0 {
			glyphs = append(glyphs, glyph{append(sfnt.Segments(nil), segments...), width, scale})
		}
		if advance, err := face.GlyphAdvance(&buf, index, ppem, xfont.HintingNone); err == nil {
			width += vg.Length(advance) * scale
		}
	}
	return width, glyphs
}

// lookup finds a font with a glyph for r: f, or else DejaVu Sans.
func lookup(buf *sfnt.Buffer, f font.Font, r rune) (*opentype.Font, sfnt.GlyphIndex) {
	face := fonts().Lookup(f, f.Size).Face
	index, err := face.GlyphIndex(buf, r)
	if err != nil || index == 0 {
		face = fonts().Lookup(font.Font{Typeface: sans}, f.Size).Face
		index, _ = face.GlyphIndex(buf, r) // an error gives 0, no glyph
	}
	return face, index
}

// drawable returns s with an escape for each character that has no glyph.
// Accents are joined to their letters where Unicode has the two as one.
func drawable(s string) string {
	var buf sfnt.Buffer
	var b strings.Builder
	for _, r := range norm.NFC.String(s) {
		if _, index := lookup(&buf, font.Font{Typeface: mono}, r); index == 0 {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// appendTo appends the outline with its origin at (x, y) on the line.
func (g glyph) appendTo(p vg.Path, x, y vg.Length) vg.Path {
	at := func(q fixed.Point26_6) vg.Point { // fonts count y downwards
		return vg.Point{X: x + g.x + vg.Length(q.X)*g.scale, Y: y - vg.Length(q.Y)*g.scale}
	}
	for i, s := range g.segments {
		a := s.Args
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				p.Close()
			}
			p.Move(at(a[0]))
		case sfnt.SegmentOpLineTo:
			p.Line(at(a[0]))
		case sfnt.SegmentOpQuadTo:
			p.QuadTo(at(a[0]), at(a[1]))
		case sfnt.SegmentOpCubeTo:
			p.CubeTo(at(a[0]), at(a[1]), at(a[2]))
		}
	}
	p.Close()
	return p
}
