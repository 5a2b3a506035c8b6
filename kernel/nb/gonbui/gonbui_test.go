package gonbui

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/nb"
)

// listener is a notebook that keeps what it is told.
type listener struct {
	nb.Host // of what it has not

	events []string
}

func (l *listener) Show(v any, id string, update bool) {
	text := ""
	for mime, x := range v.(nb.Bundle) {
		if mime != "text/plain" {
			text += fmt.Sprintf("%s %s", mime, x)
		}
	}
	l.events = append(l.events, fmt.Sprintf("%s %q %v", text, id, update))
}

func (l *listener) Bundle(v any) map[string]any { return v.(nb.Bundle) }
func (l *listener) Clear(bool)                  {}
func (l *listener) Context() context.Context    { return context.Background() }

func TestShowing(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func()
		want string
	}{
		{"HTML", func() { DisplayHTML("a"); DisplayHtml("b") }, `text/html a "" false|text/html b "" false`},
		{"HTML by a format", func() { DisplayHTMLF("%d", 1); DisplayHtmlf("%d%%", 2) }, `text/html 1 "" false|text/html 2% "" false`},
		{"Markdown", func() { DisplayMarkdown("# a") }, `text/markdown # a "" false`},
		{"PNG", func() { DisplayPNG([]byte("p")); DisplayPng([]byte("q")) }, `image/png p "" false|image/png q "" false`},
		{"SVG", func() { DisplaySVG("<svg/>"); DisplaySvg("s") }, `text/html <div><svg/></div> "" false|text/html <div>s</div> "" false`},
		{"a script", func() { ScriptJavascript("f()") }, `text/html <script>f()</script> "" false`},
		{"in its place", func() { UpdateHTML("i", "1"); UpdateHtml("i", "2"); UpdateMarkdown("k", "3") },
			`text/html 1 "i" false|text/html 2 "i" true|text/markdown 3 "k" false`},
	} {
		l := &listener{}
		nb.Attach(l)
		test.do()
		if got := strings.Join(l.events, "|"); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestPictures(t *testing.T) {
	l := &listener{}
	nb.Attach(l)
	img := image.NewGray(image.Rect(0, 0, 2, 3))
	if err := DisplayImage(img); err != nil || !strings.HasPrefix(l.events[0], "image/png \x89PNG") {
		t.Errorf("%v %q", err, l.events)
	}
	src, err := EmbedImageAsPNGSrc(img)
	data, ok := strings.CutPrefix(src, "data:image/png;base64,")
	got, err2 := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil || !ok || err2 != nil || got.Bounds() != img.Bounds() {
		t.Errorf("%s: %v %v", src, err, err2)
	}
	if err := DisplayImage(image.NewGray(image.Rectangle{})); err == nil || len(l.events) != 1 {
		t.Errorf("an empty picture: %v, %q", err, l.events)
	}
}

func TestIDsDiffer(t *testing.T) {
	if a, b := UniqueId(), UniqueID(); a == b || a == "" {
		t.Errorf("%q and %q", a, b)
	}
}

// asker is a notebook whose user types a line.
type asker struct {
	nb.Host
	asked []string
	fed   string
	err   error
}

func (a *asker) Input(prompt string, password bool) (string, error) {
	a.asked = append(a.asked, fmt.Sprint(prompt, password))
	return "typed", a.err
}

func (a *asker) Feed(text string) error {
	a.fed += text
	return nil
}

func TestRequestedInputIsForTheStandardInput(t *testing.T) {
	a := &asker{}
	nb.Attach(a)
	RequestInput("x: ", false)
	RequestInput("key: ", true)
	if got := strings.Join(a.asked, "|"); got != "x: false|key: true" || a.fed != "typed\ntyped\n" {
		t.Errorf("asked %q, fed %q", got, a.fed)
	}
}

func TestInputThatNobodyGives(t *testing.T) {
	nb.Attach(&asker{err: errors.New("nobody is here")})
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "nobody is here") {
			t.Errorf("%v", err)
		}
	}()
	RequestInput("x", false)
}
