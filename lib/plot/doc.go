// Package plot draws what a sampler did: the tokens of a generation, coloured
// by what the model thought of them, and the candidates of one step as they
// were weighed.
//
// # Figures
//
// Every function returns a [Figure], a value that is complete when it is
// made: it holds its numbers, its static picture and, for a chart, the option
// of a live one. A notebook shows it because it has a MIMEBundle method, with
// no import of a kernel; [Figure.Save] writes it to a file.
//
//	rec, err := samplers.Generate(ctx, model, prompt, sampler, samplers.Options{})
//	fig, err := plot.Tokens(rec, plot.TokensOptions{Color: plot.ByEntropy})
//	err = fig.Save("tokens.html") // or .png, .svg, .json, .csv, .txt
//
// Data that cannot be drawn as asked is still shown: NaN and infinities are
// named in their place, an empty record says that it is empty, a character
// without a glyph is drawn as its escape. An error is returned only for a
// request that has no answer, such as a step outside the record.
//
// # Where a figure can be seen
//
// Front ends remove scripts, style elements and inline SVG from notebooks
// that they do not trust, so the HTML of a figure needs none of them: the
// token view is plain elements with inline styles, and a chart is its picture
// until a script, where one may run, puts the live chart in its place. Colours
// come from palettes that colour-blind readers can tell apart, and text keeps
// a contrast of 4.5 on light and on dark pages.
//
// Static pictures draw their text as outlines of DejaVu Sans Mono and DejaVu
// Sans, which have Latin, Greek, Cyrillic, Hebrew, Arabic (unjoined), symbols
// and some emoji, but no Chinese, Japanese, Korean or Indic letters.
//
// The package never runs a model, and reads nothing but its arguments.
package plot

//go:generate go run generate.go
