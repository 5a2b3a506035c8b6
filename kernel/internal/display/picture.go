package display

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"reflect"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// The size of a plot, in points of 1/72 inch: gonum's unit of length.
const plotWidth, plotHeight = 432, 288

// picture draws what is a picture or can draw itself, as a PNG; data is nil
// for all else.
func picture(value engine.Value) (data []byte, text string) {
	var buf bytes.Buffer
	draw := func() error { return nil }
	if m, ok := methodImage(value); ok {
		text = plain(value)
		draw = func() error { return png.Encode(&buf, m) }
	} else {
		switch v := value.Any.(type) {
		case nil:
			return nil, ""
		case image.Image:
			text = fmt.Sprintf("%T", v)
			draw = func() error {
				text += fmt.Sprint(" ", v.Bounds())
				if v.Bounds().Empty() {
					return nil
				}
				return png.Encode(&buf, v)
			}
		default:
			write, ok := plotter(v)
			if !ok {
				return nil, ""
			}
			text = fmt.Sprintf("%T", v)
			draw = func() error { return write(&buf) }
		}
	}
	var err error
	if !protect(func() { err = draw() }) || err != nil || buf.Len() == 0 {
		return nil, ""
	}
	return buf.Bytes(), text
}

// interpreted is a picture of a type whose methods an engine runs.
type interpreted struct {
	model  func() color.Model
	bounds func() image.Rectangle
	at     func(x, y int) color.Color
}

func (p interpreted) ColorModel() color.Model { return p.model() }
func (p interpreted) Bounds() image.Rectangle { return p.bounds() }
func (p interpreted) At(x, y int) color.Color { return p.at(x, y) }

// methodImage finds the methods of a picture.
func methodImage(v engine.Value) (p interpreted, ok bool) {
	if _, compiled := v.Any.(image.Image); compiled || v.Method == nil {
		return p, false
	}
	for name, f := range map[string]any{"ColorModel": &p.model, "Bounds": &p.bounds, "At": &p.at} {
		m, to := v.Method(name), reflect.ValueOf(f).Elem()
		if !m.IsValid() || !m.Type().AssignableTo(to.Type()) {
			return p, false
		}
		to.Set(m)
	}
	return p, true
}

// plotter finds the method by which gonum's plots write themselves,
//
//	WriterTo(width, height vg.Length, format string) (io.WriterTo, error)
//
// by reflection: displays know no plotting package.
func plotter(v any) (write func(io.Writer) error, ok bool) {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Pointer || r.IsNil() {
		return nil, false
	}
	m := r.MethodByName("WriterTo")
	if !m.IsValid() {
		return nil, false
	}
	t := m.Type()
	if t.NumIn() != 3 || t.In(0).Kind() != reflect.Float64 || t.In(1).Kind() != reflect.Float64 || t.In(2).Kind() != reflect.String ||
		t.NumOut() != 2 || t.Out(0) != reflect.TypeFor[io.WriterTo]() || t.Out(1) != reflect.TypeFor[error]() {
		return nil, false
	}
	return func(w io.Writer) error {
		out := m.Call([]reflect.Value{
			reflect.ValueOf(float64(plotWidth)).Convert(t.In(0)),
			reflect.ValueOf(float64(plotHeight)).Convert(t.In(1)),
			reflect.ValueOf("png").Convert(t.In(2)),
		})
		if err, _ := out[1].Interface().(error); err != nil {
			return err
		}
		_, err := out[0].Interface().(io.WriterTo).WriteTo(w)
		return err
	}, true
}
