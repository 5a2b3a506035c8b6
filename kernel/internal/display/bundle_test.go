package display

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

type shown map[string]any

func (s shown) MIMEBundle() map[string]any { return s }

type panics struct{}

func (panics) MIMEBundle() map[string]any { panic("in MIMEBundle") }
func (panics) String() string             { panic("in String") }

func value(v any, typ string) engine.Value { return engine.Value{Any: v, Type: typ} }

func TestResult(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []engine.Value
		want   string // text/plain; "-" for nothing shown
	}{
		{"nothing", nil, "-"},
		{"one", []engine.Value{value(1, "int")}, "1"},
		{"several, joined by spaces", []engine.Value{value(1, "int"), value("b", "string")}, "1 b"},
		{"a nil error behind", []engine.Value{value(1, "int"), value(nil, "error")}, "1"},
		{"only a nil error", []engine.Value{value(nil, "error")}, "-"},
		{"an error that is not the last", []engine.Value{value(errors.New("e"), "error"), value(1, "int")}, "e 1"},
		{"nil of another interface", []engine.Value{value(nil, "any")}, "nil"},
	} {
		b := Result(test.values)
		if test.want == "-" {
			if b != nil {
				t.Errorf("%s: %v, want nothing", test.name, b)
			}
		} else if b["text/plain"] != test.want {
			t.Errorf("%s: %v, want %q", test.name, b, test.want)
		}
	}
}

func TestFailure(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []engine.Value
		want   string // empty for none
	}{
		{"an error", []engine.Value{value(1, "int"), value(errors.New("e"), "error")}, "e"},
		{"a nil error", []engine.Value{value(nil, "error")}, ""},
		{"a value that is an error, but not by its type", []engine.Value{value(errors.New("e"), "any")}, ""},
		{"an interpreted error", []engine.Value{{Any: struct{}{}, Type: "error", Error: func() string { return "mine" }}}, "mine"},
		{"one whose method panics", []engine.Value{{Any: struct{}{}, Type: "error", Error: func() string { panic(1) }}}, "struct{}"},
		{"nothing", nil, ""},
	} {
		got, failed := Failure(test.values)
		if got != test.want || failed != (test.want != "") {
			t.Errorf("%s: %q %v, want %q", test.name, got, failed, test.want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		name string
		v    any
		want map[string]any
	}{
		{"a bundle", shown{"text/html": "<b>", "text/plain": "b"}, map[string]any{"text/html": "<b>", "text/plain": "b"}},
		{"a bundle of bytes that are text", shown{"image/svg+xml": []byte("<svg/>"), "text/plain": "p"}, map[string]any{"image/svg+xml": "<svg/>", "text/plain": "p"}},
		{"an error", errors.New("wrong"), map[string]any{"text/plain": "wrong"}},
		{"a Stringer", time.Second, map[string]any{"text/plain": "1s"}},
		{"methods that panic", panics{}, map[string]any{"text/plain": "panics{}"}},
	} {
		got, _ := json.Marshal(Of(test.v))
		want, _ := json.Marshal(test.want)
		if want := strings.Replace(string(want), "panics{}", "display.panics{}", 1); string(got) != want {
			t.Errorf("%s: %s, want %s", test.name, got, want)
		}
	}
}

func TestABundleIsNotChanged(t *testing.T) {
	s := shown{"image/svg+xml": []byte("<svg/>")}
	Of(s)
	if _, ok := s["image/svg+xml"].([]byte); !ok || len(s) != 1 {
		t.Errorf("the user's map became %v", s)
	}
}

func TestAPictureIsAPNG(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 5, 4))
	data, ok := Of(img)["image/png"].([]byte)
	if !ok {
		t.Fatal("no image/png")
	}
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil || got.Bounds() != img.Bounds() {
		t.Errorf("%v, %v", got, err)
	}
	if _, ok := Of(image.NewGray(image.Rectangle{}))["image/png"]; ok {
		t.Error("a picture without pixels has a PNG")
	}
}

func TestText(t *testing.T) {
	type point struct{ X, y int }
	type tree struct {
		Name string
		Kids []*tree
	}
	three := 3
	loop := &tree{Name: "loop"}
	loop.Kids = []*tree{loop}
	long := make([]int, 1000)
	for _, test := range []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, "nil"},
		{"a string is itself", "a\nb", "a\nb"},
		{"bytes that are no text", "a\xffb", "a\uFFFDb"},
		{"a float", 0.1, "0.1"},
		{"a float32", float32(0.1), "0.1"},
		{"not a number", math.NaN(), "NaN"},
		{"a big float", 1e21, "1e+21"},
		{"a rune is a number", 'x', "120"},
		{"a slice", []float64{1, 2.5}, "[]float64{1, 2.5}"},
		{"a nil slice", []int(nil), "nil"},
		{"an empty slice", []int{}, "[]int{}"},
		{"strings in quotes", []string{"a b", `c"d`}, "[]string{\"a b\", `c\"d`}"},
		{"a struct", point{1, 2}, "display.point{X: 1, y: 2}"},
		{"a pointer to one", &point{1, 2}, "&display.point{X: 1, y: 2}"},
		{"a nil pointer", (*point)(nil), "nil"},
		{"any in a slice", []any{1, "a", nil}, `[]any{1, "a", nil}`},
		{"a map by its keys", map[string]int{"b": 2, "a": 1}, `map[string]int{"a": 1, "b": 2}`},
		{"a map by its numbers", map[int]bool{10: true, 9: false}, "map[int]bool{9: false, 10: true}"},
		{"Stringers inside", []time.Duration{time.Second}, "[]time.Duration{1s}"},
		{"a matrix", [][]int{{1, 2}, {3, 4}}, "[][]int{{1, 2}, {3, 4}}"},
		{"a function", strings.ToUpper, "func(string) string"},
		{"a struct without a name", struct{ A int }{1}, "struct{A: 1}"},
		{"bools", []bool{true}, "[]bool{true}"},
		{"a complex number", 1 + 2i, "(1+2i)"},
		{"bytes that are text", []byte("{\"a\": 1}\n"), "[]byte(\"{\\\"a\\\": 1}\\n\")"},
		{"bytes that are not", []byte{0, 255}, "[]byte{0, 255}"},
		{"no bytes", []byte{}, "[]byte{}"},
		{"bytes inside", struct{ B []byte }{[]byte("ab")}, `struct{B: []byte("ab")}`},
		{"a named type of bytes", json.RawMessage("1"), `json.RawMessage("1")`},
		{"an array of bytes", [2]byte{1, 2}, "[2]byte{1, 2}"},
		{"a duration inside", struct{ D time.Duration }{time.Second}, "struct{D: 1s}"},
		{"a time inside", []time.Time{time.Unix(0, 0).UTC()}, "[]time.Time{1970-01-01 00:00:00 +0000 UTC}"},
		{"errors inside", []error{errors.New("e"), nil}, "[]error{e, nil}"},
		{"pointers to structs", []*point{{1, 2}, nil}, "[]*display.point{&display.point{X: 1, y: 2}, nil}"},
		{"a nil map", map[string]int(nil), "nil"},
		{"not numbers inside", []float64{math.NaN(), math.Inf(-1)}, "[]float64{NaN, -Inf}"},
		{"a lock", &sync.Mutex{}, "&sync.Mutex{…}"},
		{"a lock inside", struct{ N, M any }{1, &sync.Mutex{}}, "struct{N: 1, M: &sync.Mutex{…}}"},
		{"long ones are cut", long, "[]int{" + strings.Repeat("0, ", 100) + "… 900 more}"},
	} {
		if got := Text(test.v); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	if got := Text(&three); !strings.HasPrefix(got, "(*int)(0x") {
		t.Errorf("a pointer to a number: %s", got)
	}
	if got := Text(loop); !strings.Contains(got, "…") || len(got) > maxText {
		t.Errorf("a loop: %d bytes", len(got))
	}
}

// page shows itself as HTML and as a picture, card as a bundle, note as a map.
type page struct{ text string }

func (p page) HTML() string { return p.text }
func (p page) PNG() []byte  { return []byte(p.text) }

type card struct{}

func (card) Render() nbData { return nbData{} }

type nbData struct{}

func (nbData) MIMEBundle() map[string]any { return map[string]any{"text/latex": "x"} }

type note struct{}

func (note) SimpleRender() map[string]any {
	return map[string]any{"text/latex": "y", "text/plain": "z"}
}

// odd has methods of these names that are something else.
type odd struct{}

func (odd) HTML() int            { return 1 }
func (odd) SVG(scale int) string { return "" }
func (odd) Render() int          { return 0 }

type wild struct{}

func (wild) HTML() string { panic("wild") }

func TestMethodsOfRenderers(t *testing.T) {
	method := func(f any) func(string) reflect.Value {
		return func(name string) reflect.Value {
			if name != "Markdown" {
				return reflect.Value{}
			}
			return reflect.ValueOf(f)
		}
	}
	for _, test := range []struct {
		name string
		v    any
		want string
	}{
		{"HTML and a picture", page{"p"}, "map[image/png:[112] text/html:p text/plain:display.page{…}]"},
		{"by a pointer", &page{"p"}, "map[image/png:[112] text/html:p text/plain:&display.page{…}]"},
		{"a bundle", card{}, "map[text/latex:x text/plain:display.card{}]"},
		{"a map", note{}, "map[text/latex:y text/plain:z]"},
		{"methods of another shape", odd{}, "map[text/plain:display.odd{}]"},
		{"one that panics", wild{}, "map[text/plain:display.wild{}]"},
		{"a nil pointer", (*page)(nil), "map[text/plain:nil]"},
		{"an interpreted method", engine.Value{Any: 1, Method: method(func() string { return "# x" })}, "map[text/markdown:# x text/plain:1]"},
		{"an interpreted method of another type", engine.Value{Any: 1, Method: method(func() int { return 2 })}, "map[text/plain:1]"},
	} {
		if got := fmt.Sprint(Of(test.v)); strings.ReplaceAll(got, `"`, "") != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// An interpreter's values have types whose names only the notebook knows.
func TestStaticTypesNameValues(t *testing.T) {
	for _, test := range []struct {
		v            any
		static, want string
	}{
		{struct{ Xw int }{1}, "box", "box{w: 1}"},
		{&struct{ W int }{1}, "*box", "&box{W: 1}"},
		{[]float64{1}, "[]temp", "[]temp{1}"},
		{[]float64{1}, "temps", "temps{1}"},
		{map[string]int{"a": 1}, "any", `map[string]int{"a": 1}`},
		{image.Point{1, 2}, "any", "image.Point{X: 1, Y: 2}"},
		{[]struct{ A int }{{1}}, "[]box", "[]box{{A: 1}}"},
	} {
		if got := text(engine.Value{Any: test.v, Type: test.static}); got != test.want {
			t.Errorf("%s: %s, want %s", test.static, got, test.want)
		}
	}
}

// length and chart have the methods of gonum's vg.Length and plot.Plot.
type length float64

type chart struct{ fails bool }

func (c *chart) WriterTo(w, h length, format string) (io.WriterTo, error) {
	if c.fails || format != "png" {
		return nil, errors.New("no")
	}
	var buf bytes.Buffer
	png.Encode(&buf, image.NewGray(image.Rect(0, 0, int(w), int(h))))
	return &buf, nil
}

func TestPlotsDrawThemselves(t *testing.T) {
	data, ok := Of(&chart{})["image/png"].([]byte)
	if !ok {
		t.Fatal("no image/png")
	}
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil || got.Bounds().Dx() != plotWidth || got.Bounds().Dy() != plotHeight {
		t.Errorf("%v, %v", got.Bounds(), err)
	}
	for name, v := range map[string]any{"one that fails": &chart{fails: true}, "nil": (*chart)(nil), "a nil picture": (*image.Gray)(nil)} {
		b := Of(v)
		if _, ok := b["image/png"]; ok || b["text/plain"] == "" {
			t.Errorf("%s: %v", name, b)
		}
	}
}

// Inside a value the engine says what its own representations stand for.
func TestRevealedValues(t *testing.T) {
	type wrapped struct{ Of int } // what the engine makes of a box
	reveal := func(x any) (engine.Value, bool) {
		switch x := x.(type) {
		case wrapped:
			return engine.Value{Any: struct{ N int }{x.Of}, Type: "box"}, true
		case float32:
			return engine.Value{Any: x, Type: "cel", String: func() string { return "hot" }}, true
		}
		return engine.Value{}, false
	}
	for _, test := range []struct {
		v    any
		want string
	}{
		{[]any{wrapped{1}, float32(2), 3}, "[]any{box{N: 1}, hot, 3}"},
		{map[string]any{"a": []any{wrapped{1}}}, `map[string]any{"a": {box{N: 1}}}`},
		{struct{ A any }{wrapped{1}}, "struct{A: box{N: 1}}"},
		{[]any{nil, any(nil)}, "[]any{nil, nil}"},
	} {
		if got := Of(engine.Value{Any: test.v, Reveal: reveal})["text/plain"]; got != test.want {
			t.Errorf("%v: %v, want %s", test.v, got, test.want)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	wide := make([][]string, 1000)
	for i := range wide {
		wide[i] = make([]string, 1000)
		for j := range wide[i] {
			wide[i][j] = strings.Repeat("y", 100)
		}
	}
	for name, v := range map[string]any{"a long string": strings.Repeat("y", 50_000_000), "a wide table": wide, "many bytes": make([]byte, 50_000_000)} {
		began := time.Now()
		if got := Text(v); len(got) > 2*maxText {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
