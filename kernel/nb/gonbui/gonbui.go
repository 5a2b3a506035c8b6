// Package gonbui has those functions of GoNB's package of that name that show
// something, so that notebooks written for it run. New cells use package nb.
//
// Cells import it by GoNB's path, github.com/janpfeifer/gonb/gonbui. What
// needs GoNB's script in the page (dom, widgets, comms) and WebAssembly are not
// to be had.
package gonbui

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"sync"

	"github.com/branchbook/branchbook/kernel/nb"
)

// IsNotebook reports whether a notebook runs the program.
var IsNotebook bool

// Debug does nothing here.
var Debug bool

// Open returns nil: what is shown travels with the cell's output.
func Open() error { return nil }

// Sync returns at once: what is shown is under way when the call that shows it
// returns.
func Sync() {}

// Error returns nil.
func Error() error { return nil }

// Logf prints, where Debug is set.
func Logf(format string, args ...any) {
	if Debug {
		fmt.Printf(format+"\n", args...)
	}
}

// UniqueId returns a random name, as for UpdateHTML.
func UniqueId() string { return nb.NewID() }

// UniqueID is UniqueId.
func UniqueID() string { return nb.NewID() }

// DisplayHTML shows HTML.
func DisplayHTML(html string) { nb.HTML(html) }

// DisplayHtml is DisplayHTML.
func DisplayHtml(html string) { nb.HTML(html) }

// DisplayHTMLF shows HTML that fmt.Sprintf writes.
func DisplayHTMLF(htmlFormat string, args ...any) { nb.HTML(fmt.Sprintf(htmlFormat, args...)) }

// DisplayHtmlf is DisplayHTMLF.
func DisplayHtmlf(htmlFormat string, args ...any) { nb.HTML(fmt.Sprintf(htmlFormat, args...)) }

// DisplayMarkdown shows Markdown, with $TeX$.
func DisplayMarkdown(markdown string) { nb.Markdown(markdown) }

// DisplayPNG shows an encoded PNG picture.
func DisplayPNG(png []byte) { nb.PNG(png) }

// DisplayPng is DisplayPNG.
func DisplayPng(png []byte) { nb.PNG(png) }

// DisplaySVG shows an SVG picture: as HTML, which exports keep.
func DisplaySVG(svg string) {
	nb.Display(nb.Bundle{"text/html": "<div>" + svg + "</div>", "text/plain": "SVG picture"})
}

// DisplaySvg is DisplaySVG.
func DisplaySvg(svg string) { DisplaySVG(svg) }

// DisplayImage shows a picture.
func DisplayImage(image image.Image) error {
	data, err := encode(image)
	if err == nil {
		nb.PNG(data)
	}
	return err
}

// EmbedImageAsPNGSrc returns the picture as the src of an <img>.
func EmbedImageAsPNGSrc(img image.Image) (string, error) {
	data, err := encode(img)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data), err
}

func encode(img image.Image) ([]byte, error) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, fmt.Errorf("gonbui: encode picture: %w", err)
	}
	return buf.Bytes(), nil
}

// UpdateHTML shows HTML under the name id, in the place of what it has shown
// there before.
func UpdateHTML(id, html string) {
	update(id, nb.Bundle{"text/html": html, "text/plain": html})
}

// UpdateHtml is UpdateHTML.
func UpdateHtml(id, html string) { UpdateHTML(id, html) }

// UpdateMarkdown is UpdateHTML for Markdown.
func UpdateMarkdown(id, markdown string) {
	update(id, nb.Bundle{"text/markdown": markdown, "text/plain": markdown})
}

var (
	mu    sync.Mutex
	shown = map[string]bool{}
)

func update(id string, b nb.Bundle) {
	mu.Lock()
	again := shown[id]
	shown[id] = true
	mu.Unlock()
	if again {
		nb.Update(id, b)
		return
	}
	nb.DisplayID(id, b)
}

// ScriptJavascript runs a script in the page, where the front end allows it.
func ScriptJavascript(js string) {
	nb.Display(nb.Bundle{"text/html": "<script>" + js + "</script>", "text/plain": "script"})
}

// RequestInput asks the user for a line, which the standard input then holds,
// for fmt.Scan and others. Where nobody can be asked it panics.
func RequestInput(prompt string, password bool) {
	ask := nb.Input
	if password {
		ask = nb.Password
	}
	line, err := ask(prompt)
	if err == nil {
		err = nb.Feed(line + "\n")
	}
	if err != nil {
		panic(fmt.Errorf("gonbui: RequestInput: %w", err))
	}
}
