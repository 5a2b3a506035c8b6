// Package lgo is the context that the kernel lgo gave its cells, so that
// notebooks written for it run: cells have it as _ctx.
//
//	http.DefaultClient.Do(req.WithContext(_ctx))
//	_ctx.Display.PNG(data, nil)
package lgo

import (
	"context"

	"github.com/branchbook/branchbook/kernel/nb"
)

// Context ends when the running cell is interrupted.
type Context struct {
	context.Context
	Display Display
}

// NewContext returns the context of whichever cell runs.
func NewContext() Context { return Context{Context: nb.Context()} }

// Display shows data. Where id is not nil, what is shown has the name *id, by
// which a later call replaces it; an empty one is given a name.
type Display struct{}

func (Display) JavaScript(s string, id *string) { show("application/javascript", s, id) }
func (Display) HTML(s string, id *string)       { show("text/html", s, id) }
func (Display) Markdown(s string, id *string)   { show("text/markdown", s, id) }
func (Display) Latex(s string, id *string)      { show("text/latex", s, id) }
func (Display) SVG(s string, id *string)        { show("image/svg+xml", s, id) }
func (Display) PNG(b []byte, id *string)        { show("image/png", b, id) }
func (Display) JPEG(b []byte, id *string)       { show("image/jpeg", b, id) }
func (Display) GIF(b []byte, id *string)        { show("image/gif", b, id) }
func (Display) PDF(b []byte, id *string)        { show("application/pdf", b, id) }
func (Display) Text(s string, id *string)       { show("text/plain", s, id) }

func show(mime string, data any, id *string) {
	b := nb.Bundle{"text/plain": "(" + mime + ")", mime: data}
	switch {
	case id == nil:
		nb.Display(b)
	case *id == "":
		*id = nb.NewID()
		nb.DisplayID(*id, b)
	default:
		nb.Update(*id, b)
	}
}
