package plot

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"

	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// render draws a picture of width × height CSS pixels as a PNG with two pixels
// to each.
func render(width, height int, static func(vgdraw.Canvas)) ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(px(width), px(height)), vgimg.UseDPI(192), vgimg.UseBackgroundColor(white))
	static(vgdraw.New(c))
	full := image.NewRGBA(c.Image().Bounds())
	draw.Draw(full, full.Bounds(), c.Image(), full.Bounds().Min, draw.Src)
	var b bytes.Buffer
	err := png.Encode(&b, indexed(full))
	return b.Bytes(), err
}

// indexed reduces a picture to 256 colours, which makes its PNG three to four
// times smaller. The most frequent colours, which are those of areas, stay as
// they are; the rest, which are edges of letters, take the nearest of them.
func indexed(full *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	for i := 0; i < len(full.Pix); i += 4 {
		count[pixel(full, i)]++
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	palette := make(color.Palette, min(len(colours), 256))
	index := make(map[color.RGBA]uint8, len(colours))
	for i, c := range colours {
		if i < len(palette) {
			palette[i], index[c] = c, uint8(i)
		} else {
			index[c] = uint8(palette.Index(c))
		}
	}
	p := image.NewPaletted(full.Bounds(), palette)
	for i := range p.Pix {
		p.Pix[i] = index[pixel(full, 4*i)]
	}
	return p
}

func pixel(m *image.RGBA, i int) color.RGBA {
	return color.RGBA{R: m.Pix[i], G: m.Pix[i+1], B: m.Pix[i+2], A: m.Pix[i+3]}
}
