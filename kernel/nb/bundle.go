package nb

import "strings"

// Bundle is one thing in several forms, by MIME type; a front end shows the
// richest that it can. Text is a string, a picture a []byte. A cell that ends
// in a Bundle shows it.
type Bundle map[string]any

// MIMEBundle returns the forms, with a text/plain among them.
func (b Bundle) MIMEBundle() map[string]any {
	if _, ok := b["text/plain"]; ok {
		return b
	}
	out := map[string]any{"text/plain": ""}
	for mime, data := range b {
		out[mime] = data
	}
	return out
}

// HTML shows HTML. A script in it runs only in a trusted notebook.
func HTML(html string) { Display(Bundle{"text/html": html, "text/plain": strip(html)}) }

// Markdown shows Markdown, with $TeX$.
func Markdown(text string) { Display(Bundle{"text/markdown": text, "text/plain": text}) }

// Math shows a TeX formula, set off from the text.
func Math(tex string) {
	Display(Bundle{"text/latex": "$$" + tex + "$$", "text/plain": tex})
}

// PNG shows an encoded PNG picture.
func PNG(data []byte) { Display(Bundle{"image/png": data, "text/plain": "PNG picture"}) }

// JPEG shows an encoded JPEG picture.
func JPEG(data []byte) { Display(Bundle{"image/jpeg": data, "text/plain": "JPEG picture"}) }

// SVG shows an SVG picture. Untrusted notebooks and PDF exports leave it out.
func SVG(svg string) { Display(Bundle{"image/svg+xml": svg, "text/plain": "SVG picture"}) }

// JSON shows a value that encoding/json can encode as a tree to fold.
func JSON(v any) { Display(Bundle{"application/json": v, "text/plain": plain(v)}) }

// strip leaves out tags: good enough for a text that stands in for HTML.
func strip(html string) string {
	var b strings.Builder
	in := false
	for _, r := range html {
		switch {
		case r == '<':
			in = true
		case r == '>' && in:
			in = false
		case !in:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
