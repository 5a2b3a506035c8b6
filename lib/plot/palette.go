package plot

import (
	"fmt"
	"image/color"
	"math"
)

// Okabe and Ito's colours, which readers with any colour vision can tell
// apart (Color Universal Design, 2008).
var (
	skyBlue    = color.NRGBA{R: 86, G: 180, B: 233, A: 255}
	blue       = color.NRGBA{G: 114, B: 178, A: 255}
	vermillion = color.NRGBA{R: 213, G: 94, A: 255}
)

// The colours of static pictures, which lie on white: of text, of text that
// matters less, and of lines.
var (
	white = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	ink   = color.NRGBA{R: 33, G: 33, B: 33, A: 255}
	grey  = color.NRGBA{R: 90, G: 90, B: 90, A: 255}
	faint = color.NRGBA{R: 225, G: 225, B: 225, A: 255}
)

// A ramp gives the colours behind text, between its first, which is not there,
// and its second, the strongest. They are see-through: the page's own text
// lies on them, dark on a light page and light on a dark one, and contrast is
// kept on both (the strongest is far from opaque for that). Lightness changes
// in one direction all along, so the order is read without seeing hue.
type ramp [2]color.NRGBA

var (
	warm = ramp{{R: 230, G: 159}, {R: 252, G: 56, A: 145}}
	cool = ramp{{G: 130, B: 200}, {G: 110, B: 190, A: 140}}
)

// levels is how many colours a ramp is shown with.
const levels = 12

// at returns the colour at t in [0, 1], in steps of 1/levels.
func (r ramp) at(t float64) color.NRGBA {
	t = math.Round(min(max(t, 0), 1)*levels) / levels
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*t)) }
	a, b := r[0], r[1]
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: mix(a.A, b.A)}
}

// css writes c for a style attribute.
func css(c color.NRGBA) string {
	if c.A == 255 {
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	return fmt.Sprintf("rgba(%d,%d,%d,%.2f)", c.R, c.G, c.B, float64(c.A)/255)
}

// over returns c laid on an opaque page colour.
func over(c, page color.NRGBA) color.NRGBA {
	a := float64(c.A) / 255
	mix := func(c, p uint8) uint8 { return uint8(math.Round(a*float64(c) + (1-a)*float64(p))) }
	return color.NRGBA{R: mix(c.R, page.R), G: mix(c.G, page.G), B: mix(c.B, page.B), A: 255}
}
