package nb

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// listener is a notebook that keeps what it is told.
type listener struct {
	Host // of what it has not

	mu     sync.Mutex
	events []string
	ctx    context.Context
}

func (l *listener) Show(v any, id string, update bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		v = m.MIMEBundle()
	}
	l.events = append(l.events, fmt.Sprintf("%v id=%v update=%v", v, id != "", update))
}

func (l *listener) Bundle(v any) map[string]any {
	return map[string]any{"text/plain": fmt.Sprint(v)}
}

func (l *listener) Clear(wait bool)          { l.events = append(l.events, fmt.Sprint("clear ", wait)) }
func (l *listener) Context() context.Context { return l.ctx }

func attach(t *testing.T) *listener {
	t.Helper()
	l := &listener{ctx: context.Background()}
	Attach(l)
	t.Cleanup(func() { host.Store(nil) })
	return l
}

func TestShowing(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func()
		want string
	}{
		{"a value", func() { Display(3) }, "3 id=false update=false"},
		{"under a name", func() { DisplayID("a", 3) }, "3 id=true update=false"},
		{"in its place", func() { Update("a", 4) }, "4 id=true update=true"},
		{"HTML, with its text", func() { HTML("<b>x</b> y") }, "map[text/html:<b>x</b> y text/plain:x y] id=false update=false"},
		{"Markdown", func() { Markdown("*x*") }, "map[text/markdown:*x* text/plain:*x*] id=false update=false"},
		{"a formula", func() { Math("x^2") }, "map[text/latex:$$x^2$$ text/plain:x^2] id=false update=false"},
		{"a picture", func() { PNG([]byte{1}) }, "map[image/png:[1] text/plain:PNG picture] id=false update=false"},
		{"a bundle without text", func() { Display(Bundle{"text/html": "x"}) }, "map[text/html:x text/plain:] id=false update=false"},
		{"clearing", func() { Clear(true) }, "clear true"},
	} {
		l := attach(t)
		test.do()
		if got := strings.Join(l.events, "|"); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestProgressIsDrawnTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := attach(t)
		bar := Progress("sampling")
		const steps = 10_000 // in two seconds
		for i := range steps {
			time.Sleep(2 * time.Second / steps)
			bar.Step(i+1, steps)
		}
		bar.Step(steps, steps) // what comes after the end changes nothing
		bar.Done()
		if n := len(l.events); n < 15 || n > 22 {
			t.Errorf("drawn %d times in 2 s", n)
		}
		if first := l.events[0]; !strings.Contains(first, "update=false") || !strings.Contains(first, "░") {
			t.Errorf("first %s", first)
		}
		if last := l.events[len(l.events)-1]; last != "sampling 10000 of 10000 in 2s id=true update=true" {
			t.Errorf("last %s", last)
		}
		if middle := l.events[len(l.events)/2+1]; !strings.Contains(middle, "1s left") {
			t.Errorf("in the middle %s", middle)
		}
	})
}

func TestProgressByFractions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			name string
			do   func(*Bar)
			want string // the last line
		}{
			{"to the end", func(b *Bar) { b.Fraction(0.5); b.Fraction(1) }, "x 100% in 0s"},
			{"ended early", func(b *Bar) { b.Fraction(0.5); b.Done() }, "x 50% in 0s"},
			{"too much", func(b *Bar) { b.Fraction(7) }, "x 100% in 0s"},
			{"counting without a total", func(b *Bar) { b.Step(3, 0); b.Done() }, "x 3 in 0s"},
			{"several stages", func(b *Bar) { b.Stage("get", 1); b.Stage("load", 0.5); b.Done() }, "x load 50% in 0s"},
			{"never moved", func(b *Bar) { b.Done() }, "x in 0s"},
		} {
			l := attach(t)
			test.do(Progress("x"))
			last, _, _ := strings.Cut(l.events[len(l.events)-1], " id=")
			if last != test.want {
				t.Errorf("%s: %q, want %q", test.name, last, test.want)
			}
		}
	})
}

func TestContextIsTheRunningCells(t *testing.T) {
	l := attach(t)
	ctx := Context() // as a package variable keeps it
	first, cancel := context.WithCancel(context.Background())
	l.ctx = first
	derived, stop := context.WithTimeout(ctx, time.Hour)
	defer stop()
	cancel()
	<-derived.Done()
	if ctx.Err() == nil {
		t.Error("the interrupt is not seen")
	}
	l.ctx = context.Background() // the next cell
	if ctx.Err() != nil {
		t.Error("the next cell is interrupted, too")
	}
}

func TestWithoutANotebook(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	Display(3)
	Markdown("# x")
	HTML("<b>y</b>")
	Clear(false)
	bar := Progress("p")
	bar.Step(1, 2)
	bar.Step(2, 2)
	ctx := Context()
	os.Stdout = stdout
	w.Close()
	got, _ := io.ReadAll(r)
	if want := "3\n# x\ny\np 2 of 2 in 0s\n"; string(got) != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if ctx.Err() != nil || ctx.Done() != nil {
		t.Error("a context that ends")
	}
}
