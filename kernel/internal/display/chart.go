package display

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// pageWriter is a chart or a page of charts of go-echarts.
type pageWriter interface{ Render(io.Writer) error }

// echartsNotice stands at the end of a chart's page.
const echartsNotice = `<script>if (!window.echarts) document.body.textContent = "The chart's script could not be loaded. It comes from the web; figures of lib/plot bring their own."</script>`

// chartPage frames the HTML page that a chart of go-echarts writes; it is empty
// for all else. The page loads ECharts from where go-echarts says, as it does
// outside a notebook.
func chartPage(v any) string {
	c, ok := v.(pageWriter)
	if !ok {
		return ""
	}
	var b strings.Builder
	var err error
	if !protect(func() { err = c.Render(&b) }) || err != nil || !strings.Contains(b.String(), "<html") {
		return ""
	}
	page := strings.Replace(b.String(), "</body>", echartsNotice+"</body>", 1)
	return fmt.Sprintf(`<iframe style="width:100%%;height:%dpx;border:0" srcdoc="%s"></iframe>`, pageHeight(page), html.EscapeString(page))
}

var itemHeight = regexp.MustCompile(`class="item"[^>]*height: ?(\d+)px`)

// pageHeight is the height of the charts of a page one below the other, with
// the room between them that go-echarts leaves.
func pageHeight(page string) int {
	const between = 50
	height := 0
	for _, m := range itemHeight.FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		height += n + between
	}
	if height == 0 {
		height = 500 + between // go-echarts' own
	}
	return height
}
