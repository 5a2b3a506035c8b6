package plot

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// rendered returns a page's elements after its scripts ran in a browser.
func rendered(t *testing.T, body string) []*html.Node {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no chromium to run the live charts in")
		}
		t.Skip("no chromium to run the live charts in")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte(`<!doctype html><meta charset="utf-8"><body>`+body), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--virtual-time-budget=20000", "--dump-dom", "file://"+path)
	var dom, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &dom, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	doc, err := html.Parse(&dom)
	if err != nil {
		t.Fatal(err)
	}
	return []*html.Node{doc}
}

// split cuts a chart's HTML into its element, its queue entry and its library.
func split(t *testing.T, f Figure) (element, queue, lib string) {
	t.Helper()
	text := f.html()
	at := strings.Index(text, "<script>")
	lib = library()
	if at < 0 || !strings.HasSuffix(text, lib) {
		t.Fatal("a chart has no library at its end")
	}
	return text[:at], strings.TrimSuffix(text[at:], lib), lib
}

func TestChartsComeAliveInABrowser(t *testing.T) {
	one, other := figures(t)["candidates of an answer"], figures(t)["a few awkward candidates"]
	element, queue, lib := split(t, one)
	element2, queue2, _ := split(t, other)
	for name, c := range map[string]struct {
		body  string
		live  int // charts
		still int // pictures left to see
	}{
		"two figures":                    {one.html() + other.html(), 2, 0},
		"one figure shown twice":         {one.html() + one.html(), 2, 0},
		"the library comes last":         {element + queue + element2 + queue2 + lib, 2, 0},
		"the library comes first":        {lib + element + queue + lib, 1, 0},
		"a module loader is on the page": {`<script>window.define=function(){document.title="registered"};define.amd={};window.exports={};window.module={exports:{}}</script>` + one.html(), 1, 0},
		"a page that is hidden":          {`<div style="display:none">` + one.html() + `</div>`, 1, 0},
		"the browser cannot decompress":  {`<script>delete window.DecompressionStream</script>` + one.html(), 0, 1},
		"the library was cleared":        {element + queue, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			live, still := 0, 0
			walk(rendered(t, c.body), func(n *html.Node) {
				switch n.Data {
				case "canvas":
					live++
					if w := attribute(n, "width"); w != strconv.Itoa(one.width) {
						t.Errorf("the canvas is %s wide, want %d", w, one.width)
					}
				case "img":
					if !strings.Contains(attribute(n, "style"), "display: none") {
						still++
					}
				case "title":
					t.Error("the library registered itself with the page's module loader")
				}
			})
			if live != c.live || still != c.still {
				t.Errorf("%d live and %d still, want %d and %d", live, still, c.live, c.still)
			}
		})
	}
}
