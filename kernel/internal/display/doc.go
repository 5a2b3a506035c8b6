// Package display turns the values of a cell into what a notebook shows: a
// MIME bundle with at least a text/plain.
//
// It looks at a value's methods first (MIMEBundle, those of gophernotes'
// renderers, Error, String, Format), then at what it is (a picture, a plot that
// can draw itself, a chart of go-echarts, a matrix), then prints it as a Go
// reader would like to see it, within limits. It knows no package of these: it
// goes by their methods.
package display
