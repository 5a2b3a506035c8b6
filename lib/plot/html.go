package plot

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"sync"
)

//go:embed echarts/echarts.common.min.js.gz
var echartsGzip []byte

//go:embed live.js
var liveJS string

// html returns the figure for a notebook's text/html. A chart is its picture,
// which is all that is left where scripts are removed, and scripts that draw
// the live chart over it.
func (f Figure) html() string {
	if f.option == nil {
		return f.markup
	}
	option, err := json.Marshal(f.option) // escapes <, > and &: no token can end the script
	if err != nil {
		return f.picture("") // only an option with NaN would, and tests hold that none is made
	}
	id := f.id(option)
	return f.picture(id) + fmt.Sprintf(
		`<script>(function(w){var b=w.__branchbook=w.__branchbook||{};(b.queue=b.queue||[]).push({"id":%q,"width":%d,"height":%d,"option":%s})})(window)</script>`,
		id, f.width, f.height, option) + library()
}

// picture returns the static picture as an element named id.
func (f Figure) picture(id string) string {
	return fmt.Sprintf(`<div id="%s" style="width:%dpx;height:%dpx"><img alt="%s" style="width:%dpx;height:%dpx;max-width:none;border-radius:6px" src="data:image/png;base64,%s"></div>`,
		id, f.width, f.height, html.EscapeString(f.title), f.width, f.height, base64.StdEncoding.EncodeToString(f.png))
}

// id names the element of a chart by what it shows, so that running a cell
// again leaves the saved notebook as it was.
func (f Figure) id(option []byte) string {
	h := sha256.New()
	h.Write(option)
	h.Write(f.png)
	return "branchbook-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// library returns the script that makes queued charts live, with all of
// ECharts in it: 320 kB. Every chart carries it, so that none depends on
// another cell's output being kept.
var library = sync.OnceValue(func() string {
	return "<script>" + strings.TrimSpace(liveJS) + `(window,"` + base64.StdEncoding.EncodeToString(echartsGzip) + `")</script>`
})

// page returns the figure as a whole HTML document.
func (f Figure) page() string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>` + html.EscapeString(f.title) + `</title>
<style>
:root{color-scheme:light dark}
body{margin:2rem auto;max-width:60rem;padding:0 1rem;font-family:system-ui,sans-serif;background:Canvas;color:CanvasText}
table{border-collapse:collapse}td,th{padding:.1rem .6rem;text-align:right}
</style></head><body>
` + f.html() + `
</body></html>
`
}
