package worker

import (
	"fmt"
	"os"
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
	dir := t.TempDir()
	c := capture{emit: func(_, text string) { total += len(text); last = text }, rest: NewOverflow(dir)}
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		c.add(0, chunk)
	}
	c.note()
	if total > maxOutput+1000 {
		t.Errorf("%d bytes passed on, the limit is %d", total, maxOutput)
	}
	if want := fmt.Sprintf("%d bytes more are in %s/output-1.txt", 100<<20-maxOutput, dir); !strings.Contains(last, want) {
		t.Errorf("the user is told %q, want %q", last, want)
	}
	if info, err := os.Stat(dir + "/output-1.txt"); err != nil || info.Size() != 100<<20-maxOutput {
		t.Errorf("the rest is %v, %v", info, err)
	}
	c.begin()
	c.add(0, []byte("next"))
	c.end()
	if last != "next" {
		t.Errorf("the next cell's output is %q", last)
	}
}

func TestCaptureCutsAtALine(t *testing.T) {
	var got strings.Builder
	c := capture{emit: func(name, text string) { fmt.Fprintf(&got, "%s", text) }}
	line := []byte(strings.Repeat("é", 49) + "\n")
	for range maxOutput/len(line) + 100 {
		c.add(0, line)
	}
	c.note()
	text, note, _ := strings.Cut(got.String(), "\n\n[output cut: ")
	if len(text)+1 != maxOutput/len(line)*len(line) || !strings.Contains(note, "not kept") {
		t.Errorf("%d bytes, and the note %q", len(text), note)
	}
	c.begin()
	got.Reset()
	c.add(0, []byte(strings.Repeat("\n", maxLines+1)))
	c.note()
	if n := strings.Count(got.String(), "\n"); n > maxLines+10 {
		t.Errorf("%d lines", n)
	}
	got.Reset()
	served := capture{emit: c.emit, pace: newPace(true)}
	served.pace.now() // nobody waits
	served.take(0, []byte("first\n"))
	if n := len(served.fitting([]byte(strings.Repeat("\n", maxLines)))); n != serverLines-1 {
		t.Errorf("%d lines for a Jupyter server, want %d", n, serverLines-1)
	}
	if n := len(served.fitting([]byte(strings.Repeat("x", 1<<10) + strings.Repeat("y", maxOutput)))); n != 0 {
		t.Errorf("%d bytes of a line for a Jupyter server", n)
	}
}

func TestOverflowIsBounded(t *testing.T) {
	dir := t.TempDir()
	o := NewOverflow(dir)
	block := make([]byte, 16<<20)
	for range maxFiles + 2 {
		o.open()
		for range maxFile/len(block) + 1 {
			o.add(block)
		}
		if told := o.close(); !strings.Contains(told, fmt.Sprint(len(block), " bytes more were not kept")) {
			t.Errorf("the user is told %q", told)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != maxFiles {
		t.Errorf("%d files, %v; want %d", len(files), err, maxFiles)
	}
}

// A Jupyter server counts over three seconds: 3,000 messages, 3 MB of streams.
func TestPaceKeepsUnderTheServersLimits(t *testing.T) {
	for _, test := range []struct {
		name   string
		server bool
		send   func(p *pace)
		cost   sent
		most   sent // in three seconds
	}{
		{"streams", true, func(p *pace) { p.stream(make([]byte, 10_000)) }, sent{messages: 1, streams: 60_000}, sent{messages: 3000, streams: 3_000_000}},
		{"displays", false, func(p *pace) { p.bundle(10) }, sent{messages: 1}, sent{messages: 3000, streams: 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPace(test.server)
			var at []time.Time
			for range 10_000 {
				test.send(p)
				at = append(at, time.Now())
			}
			first := 0
			for i := range at {
				for at[i].Sub(at[first]) > 3*time.Second {
					first++
				}
				n := i - first + 1
				if n*test.cost.messages > test.most.messages || n*test.cost.streams > test.most.streams {
					t.Fatalf("%s: %d messages within three seconds", test.name, n)
				}
			}
			if took := at[len(at)-1].Sub(at[0]); test.server && took > 800*time.Second || !test.server && took > 15*time.Second {
				t.Errorf("%s: it all took %v", test.name, took)
			}
		})
	}
}

func TestPaceHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(true)
		for range 10 {
			p.now()
			p.stream(make([]byte, 1<<20))
		}
		began := time.Now()
		p.stream(make([]byte, 1<<20))
		if took := time.Since(began); took > 0 {
			t.Errorf("waits %v", took)
		}
		p.begin()
		p.stream(make([]byte, 1<<20))
		if took := time.Since(began); took == 0 {
			t.Error("does not wait in the next cell")
		}
	})
}
