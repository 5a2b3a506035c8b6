package plot

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/branchbook/branchbook/lib/llm"
)

// What JupyterLab keeps of an untrusted notebook's HTML, as far as figures use
// it. An img may only have a data URI.
var (
	keptElements   = []string{"div", "span", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "img"}
	keptAttributes = []string{"style", "title", "src", "alt", "id"}
)

// fragment parses the content of an output as a browser does.
func fragment(t *testing.T, text string) []*html.Node {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(text), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// walk calls f for every node, in order.
func walk(nodes []*html.Node, f func(*html.Node)) {
	for _, n := range nodes {
		f(n)
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk([]*html.Node{c}, f)
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// checkInert reports elements and attributes that run, load or are removed.
func checkInert(t *testing.T, nodes []*html.Node, elements []string) {
	t.Helper()
	walk(nodes, func(n *html.Node) {
		switch n.Type {
		case html.ElementNode:
			if !slices.Contains(elements, n.Data) {
				t.Errorf("element %q", n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(keptAttributes, a.Key) {
					t.Errorf("attribute %q of %q", a.Key, n.Data)
				}
				if a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/png;base64,") {
					t.Errorf("image from %.40q", a.Val)
				}
				if a.Key == "style" && strings.Contains(a.Val, "url") {
					t.Errorf("style %q loads something", a.Val)
				}
			}
		case html.CommentNode, html.DoctypeNode:
			t.Errorf("a comment or doctype: %.40q", n.Data)
		}
	})
}

func TestTokenViewHasNothingToRunOrRemove(t *testing.T) {
	for name, f := range figures(t) {
		if f.kind == "tokens" {
			t.Run(name, func(t *testing.T) { checkInert(t, fragment(t, f.html()), keptElements) })
		}
	}
}

// shownText joins the text of the token spans.
func shownText(nodes []*html.Node) string {
	var b strings.Builder
	walk(nodes, func(n *html.Node) {
		if n.Type != html.ElementNode || !strings.Contains(attribute(n, "style"), "line-height:1.6") {
			return
		}
		walk([]*html.Node{n}, func(n *html.Node) {
			if n.Type == html.TextNode {
				b.WriteString(n.Data)
			}
		})
	})
	return b.String()
}

func TestTokenViewShowsEveryTokenLiterally(t *testing.T) {
	rec := awkwardRecord()
	f, err := Tokens(rec, TokensOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, runs := range readable(rec) {
		for _, r := range runs {
			want.WriteString(r.text)
		}
	}
	nodes := fragment(t, f.html())
	if got := shownText(nodes); got != want.String() {
		t.Errorf("shows %q,\nwant  %q", got, want.String())
	}
	for _, piece := range []string{"</script>", "<b>", "<!--", "]]>", "a`b", "&lt;", "שלום", "你好", `\x00`, `\u202e`} {
		if !strings.Contains(shownText(nodes), piece) {
			t.Errorf("%q is not shown", piece)
		}
	}
	titles := 0
	walk(nodes, func(n *html.Node) {
		if title := attribute(n, "title"); title != "" {
			titles++
			if !strings.Contains(title, "p → p^α → p^α·ζ") {
				t.Errorf("tooltip without candidates: %q", title)
			}
		}
	})
	if titles < len(awkward) {
		t.Errorf("%d tooltips for %d tokens", titles, len(awkward))
	}
}

func TestTokenTooltipTellsWhatTheSamplerSaw(t *testing.T) {
	rec := answer()
	v, err := newTokenView(rec, TokensOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// p 0.29 of 0.85 over the candidates; α = 4.
	want := `1: " capital", id 101
log p −1.24, p 0.290, rank 2
drawn with 0.818, entropy 1.38, ESS 8.00

p → p^α → p^α·ζ
  " city"  0.365 → 0.559 → 0.173 ± 0.0357
▸ " capital"  0.341 → 0.428 → 0.818 ± 0.0446
  " answer"  0.141 → 0.0125 → 0.0085 ± 0.0034
  " largest"  0.0706 → 7.8e-04 → 4.0e-04 ± 1.2e-04
  " French"  0.0471 → 1.5e-04 → 9.6e-05 ± 4.8e-05
  " name"  0.0353 → 4.9e-05 → 2.8e-05 ± 1.1e-05`
	if got := v.tooltip(1); got != want {
		t.Errorf("tooltip is\n%s\nwant\n%s", got, want)
	}
}

func TestChartIsItsPictureFirstAndRunsOnlyItsTwoScripts(t *testing.T) {
	for name, f := range figures(t) {
		if f.option == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			nodes := fragment(t, f.html())
			checkInert(t, nodes, []string{"div", "img", "script"})
			var order []string
			var scripts []string
			walk(nodes, func(n *html.Node) {
				if n.Type != html.ElementNode {
					return
				}
				order = append(order, n.Data)
				if n.Data == "script" {
					scripts = append(scripts, n.FirstChild.Data)
				}
			})
			if want := []string{"div", "img", "script", "script"}; !slices.Equal(order, want) {
				t.Fatalf("elements are %q, want %q", order, want)
			}
			if "<script>"+scripts[1]+"</script>" != library() {
				t.Error("the second script is not the library")
			}
			checkQueued(t, f, scripts[0])
		})
	}
}

// checkQueued holds that a chart's script is the fixed text around one JSON
// value, its figure: then nothing in a token can be code.
func checkQueued(t *testing.T, f Figure, script string) {
	t.Helper()
	const before, after = `(function(w){var b=w.__branchbook=w.__branchbook||{};(b.queue=b.queue||[]).push(`, `)})(window)`
	value, ok := strings.CutPrefix(script, before)
	value, ok2 := strings.CutSuffix(value, after)
	if !ok || !ok2 {
		t.Fatalf("script is %.120q...", script)
	}
	var queued struct {
		ID            string
		Width, Height int
		Option        map[string]any
	}
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&queued); err != nil {
		t.Fatalf("what is queued is not one JSON value: %v", err)
	}
	if d.More() {
		t.Error("more than one value is queued")
	}
	if queued.Width != f.width || queued.Height != f.height {
		t.Errorf("size is %d×%d, want %d×%d", queued.Width, queued.Height, f.width, f.height)
	}
	if again, want := plainData(t, queued.Option), plainData(t, f.option); !reflect.DeepEqual(again, want) {
		t.Error("the option is not the figure's")
	}
}

// plainData passes a value through JSON, so that numbers have one type.
func plainData(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// tooltips returns the HTML that a chart may show.
func tooltips(v any) []string {
	var found []string
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if k == "formatter" {
				found = append(found, fmt.Sprint(x))
			}
			found = append(found, tooltips(x)...)
		}
	case []any:
		for _, x := range v {
			found = append(found, tooltips(x)...)
		}
	}
	return found
}

func TestChartTooltipsAreInertAndHaveNoTemplates(t *testing.T) {
	f := figures(t)["awkward candidates 0"]
	seen := map[string]bool{}
	for _, tip := range tooltips(plainData(t, f.option)) {
		if tip == "{b}" { // the numbers beside bars, drawn on the canvas
			continue
		}
		if strings.ContainsAny(tip, "{}") {
			t.Errorf("tooltip %q has a template", tip)
		}
		nodes := fragment(t, tip)
		checkInert(t, nodes, []string{"b", "br"})
		label, _, _ := strings.Cut(nodes[0].FirstChild.Data, " · id ")
		seen[label] = true
	}
	for i, piece := range awkward {
		if want := quote([]byte(piece), llm.Token(i), i%7 == 0, 200); !seen[want] {
			t.Errorf("no tooltip begins with %s", want)
		}
	}
}

// FuzzTokenView looks for a piece that breaks out of the view's markup.
func FuzzTokenView(f *testing.F) {
	for _, piece := range awkward {
		f.Add([]byte(piece), []byte("x"))
	}
	f.Add([]byte("\xe2\x82"), []byte("\xac</div>"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		rec := llm.Record{Steps: []llm.StepRecord{{Token: 1, Piece: a}, {Token: 2, Piece: b, Candidates: []llm.Candidate{{Token: 2, Piece: a}}}}}
		v, err := newTokenView(rec, TokensOptions{})
		if err != nil {
			t.Fatal(err)
		}
		nodes := fragment(t, v.html())
		if len(nodes) != 1 {
			t.Fatalf("%d nodes at the top, want 1", len(nodes))
		}
		checkInert(t, nodes, keptElements)
		var want strings.Builder
		for i, runs := range readable(rec) {
			if len(runs) == 0 {
				t.Fatalf("token %d is not shown", i)
			}
			for _, r := range runs {
				want.WriteString(r.text)
			}
		}
		if got := shownText(nodes); got != want.String() {
			t.Fatalf("shows %q, want %q", got, want.String())
		}
	})
}
