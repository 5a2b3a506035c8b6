package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// recorder keeps what a capture emits.
type recorder struct{ events []string }

func (r *recorder) emit(name, text string) { r.events = append(r.events, name+": "+text) }

func TestCaptureSplitsNoRune(t *testing.T) {
	const text = "é€😀"
	for cut := range len(text) + 1 {
		var r recorder
		c := capture{emit: r.emit}
		c.add(0, []byte(text[:cut]))
		c.tick(time.Now().Add(time.Second))
		c.add(0, []byte(text[cut:]))
		c.end()
		got := ""
		for _, e := range r.events {
			got += strings.TrimPrefix(e, "stdout: ")
		}
		if got != text {
			t.Errorf("cut at byte %d: %q, want %q", cut, got, text)
		}
	}
}

func TestCaptureReplacesWhatIsNoText(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"bytes that never are UTF-8", "ok\xff\xfe\n", "ok\uFFFD\uFFFD\n"},
		{"a rune that never ends", "ok\xf0\x9f", "ok\uFFFD\uFFFD"},
		{"text", "ok\n", "ok\n"},
	} {
		var r recorder
		c := capture{emit: r.emit}
		c.add(0, []byte(test.in))
		c.tick(time.Now().Add(time.Second))
		c.end()
		got := strings.ReplaceAll(strings.Join(r.events, ""), "stdout: ", "")
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCaptureKeepsTheOrderOfStreams(t *testing.T) {
	var r recorder
	c := capture{emit: r.emit}
	c.add(1, []byte("a"))
	c.add(0, []byte("b"))
	c.add(0, []byte("c"))
	c.end()
	if got := fmt.Sprint(r.events); got != "[stderr: a stdout: bc]" {
		t.Error(got)
	}
}

func TestCaptureKeepsTheOrderOfLinesThatAlternate(t *testing.T) {
	var r recorder
	c := capture{emit: r.emit}
	var want []string
	for i := range 100 {
		c.add(i%2, fmt.Append(nil, i))
		want = append(want, fmt.Sprint(streamNames[i%2], ": ", i))
	}
	c.end()
	if !slices.Equal(r.events, want) {
		t.Errorf("got %q", r.events)
	}
}

func TestCaptureSendsFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		c := capture{emit: r.emit}
		const lines = 10_000 // in two seconds, alternating: the worst case
		for i, before := 0, 0; i < lines; i++ {
			c.add(i%2, fmt.Appendln(nil, i))
			time.Sleep(2 * time.Second / lines)
			c.tick(time.Now())
			if (i+1)%(lines/2) == 0 {
				if n := len(r.events) - before; n > 900 {
					t.Errorf("%d messages in a second", n)
				}
				before = len(r.events)
			}
		}
		c.end()
		got := strings.Count(strings.Join(r.events, ""), "\n")
		if got != lines {
			t.Errorf("%d lines arrived of %d", got, lines)
		}
	})
}

func TestCaptureStopsWhatPrintsWithoutEnd(t *testing.T) {
	total := 0
	var last string
	c := capture{emit: func(_, text string) { total += len(text); last = text }}
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		c.add(0, chunk)
	}
	c.note()
	if total > maxOutput+1000 {
		t.Errorf("%d bytes passed on, the limit is %d", total, maxOutput)
	}
	if !strings.Contains(last, fmt.Sprint(100<<20-maxOutput)) {
		t.Errorf("the user is told %q", last)
	}
	c.begin()
	c.add(0, []byte("next"))
	c.end()
	if last != "next" {
		t.Errorf("the next cell's output is %q", last)
	}
}
