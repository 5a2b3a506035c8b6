package display

import (
	"bytes"
	"errors"
	"image"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forms writes what is shown, sorted by MIME type.
func forms(d Data) string {
	var parts []string
	for _, mime := range slices.Sorted(maps.Keys(d.Data)) {
		switch x := d.Data[mime].(type) {
		case []byte:
			parts = append(parts, mime+"=bytes:"+string(x))
		case string:
			parts = append(parts, mime+"="+x)
		default:
			parts = append(parts, mime)
		}
	}
	return strings.Join(parts, " ")
}

func TestForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.svg")
	if err := os.WriteFile(file, []byte("<svg/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		d    Data
		want string
	}{
		{"HTML", HTML("<b>x</b>"), "text/html=<b>x</b> text/plain=<b>x</b>"},
		{"a script", JavaScript("f()"), "application/javascript=f() text/plain=f()"},
		{"JSON", JSON(map[string]any{"a": 1}), "application/json text/plain=map[a:1]"},
		{"Markdown", Markdown("# x"), "text/markdown=# x text/plain=# x"},
		{"TeX in the text", Latex("$x$"), "text/latex=$x$ text/plain=$x$"},
		{"TeX without its signs", Latex("x"), "text/latex=$x$ text/plain=x"},
		{"a formula", Math("x"), "text/latex=$$x$$ text/plain=x"},
		{"PNG", PNG([]byte("p")), "image/png=bytes:p text/plain=image/png, 1 bytes"},
		{"JPEG", JPEG([]byte("p")), "image/jpeg=bytes:p text/plain=image/jpeg, 1 bytes"},
		{"PDF", PDF([]byte("p")), "application/pdf=bytes:p text/plain=application/pdf, 1 bytes"},
		{"SVG", SVG("<svg/>"), "image/svg+xml=<svg/> text/plain=<svg/>"},
		{"a file", File(MIMETypeSVG, file), "image/svg+xml=bytes:<svg/> text/plain=image/svg+xml, 6 bytes"},
		{"a string of a type", Any(MIMETypeHTML, "x"), "text/html=x text/plain=x"},
		{"a string of no type", Auto("<b>"), "text/plain=<b>"},
		{"bytes that tell their type", Auto([]byte("%PDF-1.4")), "application/pdf=bytes:%PDF-1.4 text/plain=application/pdf, 8 bytes"},
		{"bytes that are a page", Auto([]byte("<!DOCTYPE html><p>x")), "text/html=<!DOCTYPE html><p>x text/plain=<!DOCTYPE html><p>x"},
		{"a reader", Any(MIMETypeHTML, strings.NewReader("r")), "text/html=r text/plain=r"},
		{"what writes itself", Any(MIMETypeMarkdown, writer{}), "text/markdown=w text/plain=w"},
		{"another value", Auto(12), "text/plain=12"},
		{"data already", Auto(HTML("x")), "text/html=x text/plain=x"},
		{"several forms", MIME(MIMEMap{"a/b": "c"}, nil), "a/b=c"},
		{"a text of one's own", MakeData3("a/b", "t", "c"), "a/b=c text/plain=t"},
	} {
		if got := forms(test.d); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// writer is an io.WriterTo that is no reader.
type writer struct{}

func (writer) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write([]byte("w"))
	return int64(n), err
}

func TestAPictureTellsItsSize(t *testing.T) {
	d := Image(image.NewGray(image.Rect(0, 0, 3, 2)))
	config, format, err := image.DecodeConfig(bytes.NewReader(d.Data[MIMETypePNG].([]byte)))
	if err != nil || format != "png" || config.Width != 3 || config.Height != 2 {
		t.Errorf("%v %s %v", config, format, err)
	}
	size, _ := d.MIMEMetadata()[MIMETypePNG].(MIMEMap)
	if size["width"] != 3 || size["height"] != 2 {
		t.Errorf("metadata %v", d.Metadata)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no more") }

func TestWhatCannotBeReadPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"a file that is not there": func() { File(MIMETypePNG, filepath.Join(t.TempDir(), "x")) },
		"a broken reader":          func() { Auto(broken{}) },
		"an empty picture":         func() { Image(image.NewGray(image.Rectangle{})) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.HasPrefix(err.Error(), "display: ") {
					t.Errorf("%s: %v", name, err)
				}
			}()
			f()
		}()
	}
}
