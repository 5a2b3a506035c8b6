package display

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/branchbook/branchbook/kernel/nb"
)

// The MIME types that front ends know.
const (
	MIMETypeHTML       = "text/html"
	MIMETypeJavaScript = "application/javascript"
	MIMETypeJPEG       = "image/jpeg"
	MIMETypeJSON       = "application/json"
	MIMETypeLatex      = "text/latex"
	MIMETypeMarkdown   = "text/markdown"
	MIMETypePNG        = "image/png"
	MIMETypePDF        = "application/pdf"
	MIMETypeSVG        = "image/svg+xml"
	MIMETypeText       = "text/plain"
)

// MIMEMap is one thing in several forms, by MIME type.
type MIMEMap = map[string]any

// Data is what a front end shows.
type Data struct {
	Data      MIMEMap
	Metadata  MIMEMap // by MIME type, as "width" and "height" of a picture
	Transient MIMEMap // not used here
}

// MIMEBundle returns the forms; nil where there are none.
func (d Data) MIMEBundle() map[string]any { return d.Data }

// MIMEMetadata returns what the front end is to know of them.
func (d Data) MIMEMetadata() map[string]any { return d.Metadata }

// HTML shows HTML.
func HTML(html string) Data { return MakeData(MIMETypeHTML, html) }

// JavaScript runs a script in the page, where the front end allows it.
func JavaScript(javascript string) Data { return MakeData(MIMETypeJavaScript, javascript) }

// JPEG shows an encoded JPEG picture.
func JPEG(jpeg []byte) Data { return MakeData(MIMETypeJPEG, jpeg) }

// JSON shows a tree to fold.
func JSON(json map[string]any) Data { return MakeData(MIMETypeJSON, json) }

// Latex shows TeX that stands in the text.
func Latex(latex string) Data { return tex(latex, "$") }

// Math shows a TeX formula, set off from the text.
func Math(latex string) Data { return tex(latex, "$$") }

func tex(latex, sign string) Data {
	return MakeData3(MIMETypeLatex, latex, sign+strings.Trim(latex, "$")+sign)
}

// Markdown shows Markdown.
func Markdown(markdown string) Data { return MakeData(MIMETypeMarkdown, markdown) }

// PDF shows a PDF document.
func PDF(pdf []byte) Data { return MakeData(MIMETypePDF, pdf) }

// PNG shows an encoded PNG picture.
func PNG(png []byte) Data { return MakeData(MIMETypePNG, png) }

// SVG shows an SVG picture.
func SVG(svg string) Data { return MakeData(MIMETypeSVG, svg) }

// Image shows a picture. It panics if the picture cannot be encoded, as an
// empty one.
func Image(img image.Image) Data {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		panic(fmt.Errorf("display: encode picture: %w", err))
	}
	d := PNG(buf.Bytes())
	d.Metadata = MIMEMap{MIMETypePNG: MIMEMap{"width": img.Bounds().Dx(), "height": img.Bounds().Dy()}}
	return d
}

// File shows the file at path, as Any does its contents. It panics if the file
// cannot be read.
func File(mimeType, path string) Data {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(fmt.Errorf("display: %w", err))
	}
	return Any(mimeType, data)
}

// Auto is Any with a MIME type that the data tells.
func Auto(data any) Data { return Any("", data) }

// Any shows data: a string, bytes, a reader or an [io.WriterTo] as what
// mimeType says, anything else as a cell's last value. An empty mimeType is
// found out from the bytes, and is plain text for a string.
func Any(mimeType string, data any) Data {
	var raw []byte
	switch x := data.(type) {
	case string:
		return MakeData(or(mimeType, MIMETypeText), x)
	case []byte:
		raw = x
	case interface{ MIMEBundle() map[string]any }, image.Image:
		return Data{Data: nb.BundleOf(x)}
	case io.Reader:
		var err error
		if raw, err = io.ReadAll(x); err != nil {
			panic(fmt.Errorf("display: read: %w", err))
		}
	case io.WriterTo:
		var buf bytes.Buffer
		if _, err := x.WriteTo(&buf); err != nil {
			panic(fmt.Errorf("display: write: %w", err))
		}
		raw = buf.Bytes()
	default:
		return Data{Data: nb.BundleOf(x)}
	}
	mimeType = or(mimeType, http.DetectContentType(raw))
	if strings.HasPrefix(mimeType, "text/") {
		mime, _, _ := strings.Cut(mimeType, ";") // the charset
		return MakeData(mime, string(raw))
	}
	return MakeData(mimeType, raw)
}

func or(s, instead string) string {
	if s != "" {
		return s
	}
	return instead
}

// MakeData shows data of a MIME type: a string, bytes, or what encoding/json
// can encode.
func MakeData(mimeType string, data any) Data {
	text := ""
	switch x := data.(type) {
	case []byte:
		text = fmt.Sprintf("%s, %d bytes", mimeType, len(x))
	default:
		text = fmt.Sprint(x)
	}
	return MakeData3(mimeType, text, data)
}

// MakeData3 is MakeData with the text that stands in for it.
func MakeData3(mimeType, plaintext string, data any) Data {
	return Data{Data: MIMEMap{MIMETypeText: plaintext, mimeType: data}}
}

// MIME shows several forms of one thing.
func MIME(data, metadata MIMEMap) Data { return Data{Data: data, Metadata: metadata} }
