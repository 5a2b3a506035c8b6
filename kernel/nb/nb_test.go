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
	shown  map[string]string // by id
	order  []string
}

func (l *listener) Show(v any, id string, update bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		v = m.MIMEBundle()
	}
	if live, ok := v.(map[string]any); ok && len(live) == 1 {
		v = live["text/plain"]
	}
	l.events = append(l.events, fmt.Sprintf("%v id=%v update=%v", v, id != "", update))
	if l.shown == nil {
		l.shown = map[string]string{}
	}
	if _, ok := l.shown[id]; !ok {
		l.order = append(l.order, id)
	}
	l.shown[id] = fmt.Sprint(v)
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
		if last := l.events[len(l.events)-1]; last != "sampling 10000 of 10000 in 2s (5000/s) id=true update=true" {
			t.Errorf("last %s", last)
		}
		if middle := l.events[len(l.events)/2+1]; !strings.Contains(middle, "1s left") || !strings.Contains(middle, "5000/s") {
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

// lines are what stands under each name in the end, in the order in which the
// names came.
func (l *listener) lines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, id := range l.order {
		lines = append(lines, l.shown[id])
	}
	return strings.Join(lines, "|")
}

func TestBarsSayHowTheyEnded(t *testing.T) {
	wait := func() { time.Sleep(2 * time.Second) }
	for _, test := range []struct {
		name string
		do   func()
		how  string // of the cell
		want string
	}{
		{"to the end", func() { b := Progress("x"); b.Step(1, 2); wait(); b.Step(2, 2) }, "", "x 2 of 2 in 2s (1.0/s)"},
		{"with a cell that was interrupted", func() { b := Progress("x"); wait(); b.Step(1, 2) }, "cancelled", "x cancelled at 1 of 2 after 2s (30.0/min)"},
		{"with a cell that failed", func() { b := Progress("x"); b.Fraction(0.5); wait() }, "failed", "x failed at 50% after 2s"},
		{"that never moved", func() { Progress("x") }, "cancelled", ""},
		{"left behind by its cell", func() { b := Progress("x"); b.Step(1, 3); wait() }, "", "x at 1 of 3 in 2s (30.0/min)"},
		{"that ended before its cell failed", func() { b := Progress("x"); b.Step(2, 2) }, "failed", "x 2 of 2 in 0s"},
		{"slower than one in a minute", func() { b := Progress("x"); time.Sleep(time.Hour); b.Step(2, 2) }, "", "x 2 of 2 in 1h0m0s (2.0/h)"},
		{"parts, one after the other", func() {
			all := Progress("all")
			for i := range 3 {
				part := Progress("part")
				part.Step(1, 2)
				wait()
				part.Step(2, 2)
				all.Step(i+1, 3)
			}
		}, "", "part 2 of 2 in 2s (1.0/s)|all 3 of 3 in 6s (30.0/min)"},
		{"parts at a time", func() {
			all := Progress("all")
			one, two := Progress("part"), Progress("part")
			one.Step(2, 2)
			two.Step(1, 2)
			all.Step(1, 1)
			two.Step(2, 2)
		}, "", "part 2 of 2 in 0s|part 2 of 2 in 0s|all 1 of 1 in 0s"},
		{"parts of what was interrupted", func() {
			all := Progress("all")
			all.Step(1, 3)
			Progress("part").Step(1, 2)
			wait()
		}, "cancelled", "all cancelled at 1 of 3 after 2s (30.0/min)|part cancelled at 1 of 2 after 2s (30.0/min)"},
		{"one after the other", func() { Progress("x").Step(1, 1); Progress("x").Step(1, 1) }, "", "x 1 of 1 in 0s|x 1 of 1 in 0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := attach(t)
				test.do()
				CellEnded(test.how)
				if got := l.lines(); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
				CellEnded("cancelled") // the next cell, which has none of them
				if got := l.lines(); got != test.want {
					t.Errorf("after the next cell %q, want %q", got, test.want)
				}
				bars.mu.Lock()
				defer bars.mu.Unlock()
				if len(bars.going) > 0 || len(bars.parts) > 0 {
					t.Errorf("bars are left: %d, %v", len(bars.going), bars.parts)
				}
			})
		})
	}
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
