package kernel

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
)

// The logo, in a square of side 64: a text that runs on from the left and
// branches into three continuations, one of which is chosen.
var logo = struct {
	ground, branch, chosen color.RGBA
	corner, width, dot     float64
	root, fork             [2]float64
	tips                   [][2]float64 // the first is the chosen one
}{
	ground: color.RGBA{0x1f, 0x2a, 0x44, 0xff},
	branch: color.RGBA{0x8f, 0xa3, 0xc7, 0xff},
	chosen: color.RGBA{0x3d, 0xd6, 0xc4, 0xff},
	corner: 12, width: 5, dot: 5.5,
	root: [2]float64{11, 32}, fork: [2]float64{28, 32},
	tips: [][2]float64{{51, 20}, {51, 32}, {51, 46}},
}

func logoSVG() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="%g" fill="%s"/>`, logo.corner, hex(logo.ground))
	line := func(from, to [2]float64, c color.RGBA) {
		fmt.Fprintf(&b, `<path d="M%g %gL%g %g" stroke="%s" stroke-width="%g" stroke-linecap="round"/>`, from[0], from[1], to[0], to[1], hex(c), logo.width)
	}
	for i := len(logo.tips) - 1; i >= 0; i-- {
		c := logoColor(i)
		line(logo.fork, logo.tips[i], c)
		fmt.Fprintf(&b, `<circle cx="%g" cy="%g" r="%g" fill="%s"/>`, logo.tips[i][0], logo.tips[i][1], logo.dot, hex(c))
	}
	line(logo.root, logo.fork, logo.chosen)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func logoColor(tip int) color.RGBA {
	if tip == 0 {
		return logo.chosen
	}
	return logo.branch
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// logoPNG draws the logo, each pixel the mean of 4×4 points.
func logoPNG(size int) ([]byte, error) {
	const points = 4
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			var sum [4]int
			for i := range points * points {
				px := (float64(x) + (float64(i%points)+0.5)/points) * 64 / float64(size)
				py := (float64(y) + (float64(i/points)+0.5)/points) * 64 / float64(size)
				c := logoAt(px, py)
				for j, v := range [4]uint8{c.R, c.G, c.B, c.A} {
					sum[j] += int(v)
				}
			}
			n := points * points
			img.SetRGBA(x, y, color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), uint8(sum[3] / n)})
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// logoAt is the logo's colour at a point of the square of side 64.
func logoAt(x, y float64) color.RGBA {
	near := func(from, to [2]float64, r float64) bool {
		dx, dy := to[0]-from[0], to[1]-from[1]
		t := 0.0
		if length := dx*dx + dy*dy; length > 0 {
			t = min(max(((x-from[0])*dx+(y-from[1])*dy)/length, 0), 1)
		}
		return math.Hypot(x-from[0]-t*dx, y-from[1]-t*dy) <= r
	}
	if near(logo.root, logo.fork, logo.width/2) {
		return logo.chosen
	}
	for i, tip := range logo.tips {
		if near(logo.fork, tip, logo.width/2) || near(tip, tip, logo.dot) {
			return logoColor(i)
		}
	}
	inside := min(x, 64-x, logo.corner)
	above := min(y, 64-y, logo.corner)
	if math.Hypot(logo.corner-inside, logo.corner-above) > logo.corner {
		return color.RGBA{}
	}
	return logo.ground
}
