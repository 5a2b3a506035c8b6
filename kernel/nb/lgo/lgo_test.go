package lgo

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/nb"
)

// listener is a notebook that keeps what it is told.
type listener struct {
	nb.Host // of what it has not

	events []string
	ctx    context.Context
}

func (l *listener) Show(v any, id string, update bool) {
	l.events = append(l.events, fmt.Sprintf("%v id=%v update=%v", v, id != "", update))
}

func (l *listener) Bundle(v any) map[string]any { return nil }
func (l *listener) Clear(bool)                  {}
func (l *listener) Context() context.Context    { return l.ctx }

func TestDisplay(t *testing.T) {
	l := &listener{ctx: context.Background()}
	nb.Attach(l)
	c := NewContext()
	var id string
	c.Display.HTML("<b>", nil)
	c.Display.Text("1", &id)
	first := id
	c.Display.Text("2", &id)
	c.Display.PNG([]byte("p"), nil)
	if first == "" || id != first {
		t.Errorf("the name is %q and then %q", first, id)
	}
	want := "map[text/html:<b> text/plain:(text/html)] id=false update=false|map[text/plain:1] id=true update=false|map[text/plain:2] id=true update=true|map[image/png:[112] text/plain:(image/png)] id=false update=false"
	if got := strings.Join(l.events, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestContextEndsWithTheCell(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	nb.Attach(&listener{ctx: ctx})
	c := NewContext()
	if c.Err() != nil {
		t.Error("over before it began")
	}
	cancel()
	<-c.Done()
}
