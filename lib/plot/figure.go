package plot

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// MIMEType names the data of a figure in a notebook: a JSON object with the
// members version (1), kind ("tokens", ...), title, alt (text/plain), width
// and height (CSS pixels), table (the numbers, see [Figure.Save]) and, for a
// chart, option (an ECharts option without functions). A figure without an
// option is its own text/html.
const MIMEType = "application/vnd.branchbook.figure.v1+json"

// bundleRows is how many rows of a figure's table go into a notebook; files
// get them all.
const bundleRows = 2000

// A Figure is a finished drawing with its numbers. It is a value: copying it
// is cheap and changes nothing. The zero Figure is empty and says so.
type Figure struct {
	kind          string
	title         string
	width, height int // CSS pixels

	markup string         // HTML body; empty for a chart
	option map[string]any // ECharts option; nil if there is no live chart
	text   string         // text/plain
	table  table
	static func(draw.Canvas) // nothing outside width × height
	png    []byte            // of static, two pixels to a CSS pixel
}

// finish draws the picture of f.
func (f Figure) finish() (Figure, error) {
	var err error
	if f.png, err = render(f.width, f.height, f.static); err != nil {
		return Figure{}, fmt.Errorf("plot: draw %s: %w", f.kind, err)
	}
	return f, nil
}

// MIMEBundle returns the figure for a notebook, by MIME type. image/png is
// base64 text, as Jupyter's messages carry it; text/html and text/plain are
// text; [MIMEType] is plain JSON data (maps, slices, strings, numbers). Every
// value can be put into a message as it is.
//
// There is no image/svg+xml: beside a PNG it makes nbconvert's LaTeX export
// ask for inkscape.
func (f Figure) MIMEBundle() map[string]any {
	if f.kind == "" {
		return map[string]any{"text/plain": f.String()}
	}
	return map[string]any{
		MIMEType:     f.data(bundleRows),
		"text/html":  f.html(),
		"image/png":  base64.StdEncoding.EncodeToString(f.png),
		"text/plain": f.text,
	}
}

// String returns the figure as text, without colours or control characters.
func (f Figure) String() string {
	if f.kind == "" {
		return "(an empty figure)"
	}
	return f.text
}

// PNG returns the static picture, drawn at two pixels to a CSS pixel.
func (f Figure) PNG() []byte { return bytes.Clone(f.png) }

// Save writes the figure to path in the format that its extension names:
//
//	.html  a page that needs no network, live where scripts run
//	.png   the picture, two pixels to a CSS pixel
//	.svg   the picture with its text as outlines
//	.json  what the notebook's MIMEType holds, with every row of the table
//	.csv   the table: one header line, full precision
//	.txt   text
//
// An existing file is replaced.
func (f Figure) Save(path string) error {
	data, err := f.encode(strings.ToLower(filepath.Ext(path)))
	if err != nil {
		return fmt.Errorf("plot: save %q: %w", path, err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return fmt.Errorf("plot: save figure: %w", err)
	}
	return nil
}

func (f Figure) encode(ext string) ([]byte, error) {
	if f.kind == "" {
		return nil, errors.New("the figure is empty")
	}
	var b bytes.Buffer
	switch ext {
	case ".html":
		return []byte(f.page()), nil
	case ".png":
		return f.png, nil
	case ".svg":
		c := vgsvg.New(px(f.width), px(f.height))
		dc := draw.New(c)
		dc.FillPolygon(white, rectangle(0, 0, px(f.width), px(f.height)))
		f.static(dc)
		_, err := c.WriteTo(&b)
		return b.Bytes(), err
	case ".json":
		e := json.NewEncoder(&b)
		e.SetIndent("", " ")
		err := e.Encode(f.data(len(f.table.rows)))
		return b.Bytes(), err
	case ".csv":
		err := f.table.writeCSV(&b)
		return b.Bytes(), err
	case ".txt":
		return []byte(f.text), nil
	}
	return nil, fmt.Errorf("extension %q is none of .html .png .svg .json .csv .txt", ext)
}

// data returns the value of MIMEType with at most rows rows of the table.
func (f Figure) data(rows int) map[string]any {
	d := map[string]any{
		"version": 1,
		"kind":    f.kind,
		"title":   f.title,
		"alt":     f.text,
		"width":   f.width,
		"height":  f.height,
		"table":   f.table.data(rows),
	}
	if f.option != nil {
		d["option"] = f.option
	}
	return d
}
