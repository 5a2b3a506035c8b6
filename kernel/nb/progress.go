package nb

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Bar is a progress bar that fills in place and ends as a line of plain text,
// so that a saved notebook says how it went. Its methods may be called from
// any goroutine, as often as you like: it draws ten times a second at most.
type Bar struct {
	label string
	id    string
	start time.Time

	mu       sync.Mutex
	fraction float64
	detail   string
	drawn    time.Time
	shown    bool
	finished bool
}

const (
	drawEvery = 100 * time.Millisecond
	barWidth  = 30 // characters
)

// Progress starts a bar. Its methods fit the callbacks of the libraries:
//
//	bar := nb.Progress("smollm2")
//	model := must(llm.Open(ctx, "smollm2-135m", llm.Options{Progress: func(p llm.Progress) { bar.Stage(p.Stage, p.Done) }}))
//
//	bar := nb.Progress("sampling")
//	samplers.Options{OnStep: func(p samplers.Progress) { bar.Step(p.Emitted, p.MaxTokens) }}
func Progress(label string) *Bar {
	return &Bar{label: label, id: NewID(), start: time.Now()}
}

// Fraction sets how much is done, from 0 to 1; 1 ends the bar.
func (b *Bar) Fraction(f float64) { b.set(f, percent(f), true) }

// Stage sets how much of one of several stages is done, from 0 to 1. Done ends
// the bar.
func (b *Bar) Stage(name string, f float64) { b.set(f, name+" "+percent(f), false) }

func percent(f float64) string { return fmt.Sprintf("%.0f%%", 100*min(max(f, 0), 1)) }

// Step says that done of total are done; the last ends the bar. With a total
// of 0 the bar counts, and Done ends it.
func (b *Bar) Step(done, total int) {
	if total <= 0 {
		b.set(0, fmt.Sprint(done), false)
		return
	}
	b.set(float64(done)/float64(total), fmt.Sprintf("%d of %d", done, total), true)
}

// Done ends the bar as it stands; a bar that ended stays as it is.
func (b *Bar) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish()
}

// set moves the bar; where ends is set, a fraction of 1 ends it.
func (b *Bar) set(fraction float64, detail string, ends bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished {
		return
	}
	b.fraction, b.detail = min(max(fraction, 0), 1), detail
	if fraction >= 1 && ends {
		b.finish()
		return
	}
	if now := time.Now(); fraction >= 1 || now.Sub(b.drawn) >= drawEvery {
		b.drawn = now
		b.draw(b.line())
	}
}

func (b *Bar) finish() {
	if b.finished {
		return
	}
	b.finished = true
	b.draw(strings.Join(strings.Fields(fmt.Sprintf("%s %s in %s", b.label, b.detail, b.elapsed())), " "))
}

// draw is called with mu held.
func (b *Bar) draw(line string) {
	if host.Load() == nil && !b.finished {
		return // nothing to draw in place on: only the last line is printed
	}
	show(line, b.id, b.shown)
	b.shown = true
}

func (b *Bar) line() string {
	full := int(b.fraction * barWidth)
	line := b.label + " " + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + " " + b.detail + " " + b.elapsed()
	if rest := b.remaining(); rest != "" {
		line += ", " + rest + " left"
	}
	return line
}

func (b *Bar) elapsed() string { return time.Since(b.start).Round(100 * time.Millisecond).String() }

func (b *Bar) remaining() string {
	took := time.Since(b.start)
	if b.fraction <= 0 || took < time.Second {
		return ""
	}
	return time.Duration(float64(took) * (1 - b.fraction) / b.fraction).Round(time.Second).String()
}
