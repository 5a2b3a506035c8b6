package nb

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bar is a progress bar that fills in place and ends as a line of plain text,
// so that a saved notebook says how it went: to its end, cancelled or failed
// with its cell. Its methods may be called from any goroutine, as often as you
// like: it draws ten times a second at most.
//
// A bar that begins while another goes on is part of it: it takes the place of
// a part with the same label that has ended, so that the parts of a long bar
// take one line.
type Bar struct {
	label string
	id    string
	start time.Time
	part  bool // of a bar that went on when it began

	mu       sync.Mutex
	fraction float64
	detail   string
	done     int // of Step
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
	b := &Bar{label: label, id: NewID(), start: time.Now()}
	bars.mu.Lock()
	defer bars.mu.Unlock()
	b.part = len(bars.going) > 0
	if old, ok := bars.parts[label]; ok && b.part {
		delete(bars.parts, label)
		b.id, b.shown = old, true
	}
	bars.going = append(bars.going, b)
	return b
}

// bars are those of the running cell that have not ended.
var bars = struct {
	mu    sync.Mutex
	going []*Bar            // in the order in which they began
	parts map[string]string // ids of parts that have ended, by label
}{parts: map[string]string{}}

// left notes that b has ended.
func (b *Bar) left() {
	bars.mu.Lock()
	defer bars.mu.Unlock()
	n := len(bars.going)
	bars.going = slices.DeleteFunc(bars.going, func(x *Bar) bool { return x == b })
	if b.part && len(bars.going) < n {
		bars.parts[b.label] = b.id
	}
	if len(bars.going) == 0 {
		clear(bars.parts)
	}
}

// CellEnded tells the bars how the cell ended: "" means well, and a bar that
// goes on may be a goroutine's, which no later cell ends; else they end with
// it, "cancelled" or "failed". The worker calls it.
func CellEnded(how string) {
	bars.mu.Lock()
	going := bars.going
	bars.going = nil
	clear(bars.parts)
	bars.mu.Unlock()
	for _, b := range slices.Backward(going) {
		b.mu.Lock()
		switch {
		case b.finished:
		case !b.shown:
			b.finished = how != ""
		case how == "":
			b.draw(b.text("at"), false)
		default:
			b.finish(how + " at")
		}
		b.mu.Unlock()
	}
}

// Fraction sets how much is done, from 0 to 1; 1 ends the bar.
func (b *Bar) Fraction(f float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(f, percent(f), true)
}

// Stage sets how much of one of several stages is done, from 0 to 1. Done ends
// the bar.
func (b *Bar) Stage(name string, f float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(f, name+" "+percent(f), false)
}

func percent(f float64) string { return fmt.Sprintf("%.0f%%", 100*min(max(f, 0), 1)) }

// Step says that done of total are done; the last ends the bar. With a total
// of 0 the bar counts, and Done ends it.
func (b *Bar) Step(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished {
		return
	}
	b.done = done
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
	b.finish("")
}

// set moves the bar; where ends is set, a fraction of 1 ends it. It is called
// with mu held, as are the methods below.
func (b *Bar) set(fraction float64, detail string, ends bool) {
	if b.finished {
		return
	}
	b.fraction, b.detail = min(max(fraction, 0), 1), detail
	if fraction >= 1 && ends {
		b.finish("")
		return
	}
	if now := time.Now(); fraction >= 1 || now.Sub(b.drawn) >= drawEvery {
		b.drawn = now
		b.draw(b.line(), true)
	}
}

// finish ends the bar with a line that says how it ended, if not well.
func (b *Bar) finish(how string) {
	if b.finished {
		return
	}
	b.finished = true
	b.draw(b.text(how), false)
	b.left()
}

// text is the bar as plain text: how far it came, in what time.
func (b *Bar) text(how string) string {
	preposition := "in"
	if how != "" && how != "at" {
		preposition = "after"
	}
	text := fmt.Sprintf("%s %s %s %s %s", b.label, how, b.detail, preposition, b.elapsed())
	if rate := b.rate(); rate != "" {
		text += " (" + rate + ")"
	}
	return strings.Join(strings.Fields(text), " ")
}

// draw shows a line in the bar's place. A live one is only for who sees it
// replaced.
func (b *Bar) draw(line string, live bool) {
	switch {
	case host.Load() == nil && (live || b.part):
		return // nothing to draw in place on: only the last line of a whole is printed
	case live:
		show(liveLine(line), b.id, b.shown)
	default:
		show(line, b.id, b.shown)
	}
	b.shown = true
}

// liveLine is a bar that will be replaced.
type liveLine string

func (l liveLine) MIMEBundle() map[string]any { return map[string]any{"text/plain": string(l)} }

// MIMEMetadata marks the line for who prints outputs one below the other.
func (l liveLine) MIMEMetadata() map[string]any {
	return map[string]any{"branchbook": map[string]any{"live": true}}
}

func (b *Bar) line() string {
	full := int(b.fraction * barWidth)
	line := b.label + " " + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + " " + b.detail + " " + b.elapsed()
	if rate := b.rate(); rate != "" {
		line += ", " + rate
	}
	if rest := b.remaining(); rest != "" {
		line += ", " + rest + " left"
	}
	return line
}

func (b *Bar) elapsed() string { return time.Since(b.start).Round(100 * time.Millisecond).String() }

// rate is how many steps are done in a second, or a minute or an hour where
// that is more than one; empty while nobody can tell.
func (b *Bar) rate() string {
	took := time.Since(b.start)
	if b.done <= 0 || took < drawEvery {
		return ""
	}
	perSecond := float64(b.done) / took.Seconds()
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"s", 1}, {"min", 60}} {
		switch n := perSecond * unit.seconds; {
		case n >= 100:
			return fmt.Sprintf("%.0f/%s", n, unit.name)
		case n >= 1:
			return fmt.Sprintf("%.1f/%s", n, unit.name)
		}
	}
	return fmt.Sprintf("%.1f/h", perSecond*3600)
}

func (b *Bar) remaining() string {
	took := time.Since(b.start)
	if b.fraction <= 0 || took < time.Second {
		return ""
	}
	return time.Duration(float64(took) * (1 - b.fraction) / b.fraction).Round(time.Second).String()
}
