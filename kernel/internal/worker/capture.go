package worker

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// flushEvery keeps streams under 30 messages a second: a Jupyter server
	// drops what exceeds 1,000 iopub messages a second, and browsers suffer
	// long before.
	flushEvery = 35 * time.Millisecond
	// flushFirst is how long the first output after a pause waits for
	// company; a person does not notice.
	flushFirst = 3 * time.Millisecond
	// A flush sends a message for each change of the stream, so that lines keep
	// their order, while there is credit: changeBurst such messages, and
	// changeRate more each second. Both in one second, with the flushes that
	// had none, are under the server's limit.
	changeBurst = 400
	changeRate  = 400
	// flushBytes is how much text one message holds before it is sent early.
	flushBytes = 256 << 10
	// maxOutput and maxLines are how much text one cell may print into the
	// notebook, and serverOutput and serverLines where a Jupyter server shows it.
	// JupyterLab draws all text again that a cell has printed when more comes: on
	// one busy machine 1 MB took 3 s, 4 MB 14 s and 8 MB 67 s, in which the page
	// stood still.
	maxOutput    = 10 << 20
	maxLines     = 500_000
	serverOutput = 4 << 20
	serverLines  = 200_000
	// maxShows and maxBundles are how many displays, and bytes of them, a cell
	// may add to the notebook.
	maxShows   = 10_000
	maxBundles = 256 << 20
)

// capture turns what is read from the two pipes into few stream events: it
// joins what comes close together, splits no UTF-8 sequence, and stops a cell
// that prints without end from filling all memory. Its methods may be called
// from any goroutine.
type capture struct {
	emit    func(name, text string)
	pace    *pace
	rest    *Overflow
	endless bool // nothing is cut

	mu       sync.Mutex
	segments []segment
	tails    [2][]byte // the start of a rune whose rest has not come
	bytes    int       // in segments
	total    int       // of this cell
	lines    int       // of this cell
	cut      bool      // what this cell prints goes to rest
	shows    int       // displays of this cell
	bundles  int       // their bytes
	hidden   int       // displays beyond maxShows and maxBundles
	last     time.Time // of the last flush
	spent    float64   // of changeBurst
	due      time.Time // of the next one; zero when nothing waits
}

type segment struct {
	stream int // index of streamNames
	text   []byte
}

var streamNames = [2]string{"stdout", "stderr"}

// add takes bytes that were read from a stream.
func (c *capture) add(stream int, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		c.rest.add(data)
		return
	}
	shown := data
	if !c.endless {
		shown = c.fitting(data)
	}
	c.take(stream, shown)
	if rest := data[len(shown):]; len(rest) > 0 || c.pace.hurried() && c.total > 0 {
		c.flush(time.Now(), true)
		c.cut = true
		where := c.rest.open()
		c.emit(streamNames[1], fmt.Sprintf("\n[output cut: the notebook shows %d bytes in %d lines of this cell; what follows is %s]\n", c.total, c.lines, where))
		c.rest.add(rest)
	}
}

// full reports whether what is printed now goes past the notebook.
func (c *capture) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut
}

// fitting returns the start of data that the notebook still takes: whole lines,
// if there is one.
func (c *capture) fitting(data []byte) []byte {
	output, lines := maxOutput, maxLines
	if c.pace != nil && c.pace.server {
		output, lines = serverOutput, serverLines
	}
	room := min(output-c.total, len(data))
	if n := bytes.Count(data[:room], []byte{'\n'}); c.lines+n > lines {
		room = 0
		for range lines - c.lines {
			room += bytes.IndexByte(data[room:], '\n') + 1
		}
	}
	if i := bytes.LastIndexByte(data[:room], '\n'); room < len(data) && (i >= 0 || c.total > 0) {
		room = i + 1
	}
	return data[:room]
}

// take makes data a segment, or a part of the last.
func (c *capture) take(stream int, data []byte) {
	if len(data) == 0 {
		return
	}
	c.lines += bytes.Count(data, []byte{'\n'})
	c.total += len(data)
	c.bytes += len(data)
	if n := len(c.segments); n > 0 && c.segments[n-1].stream == stream {
		c.segments[n-1].text = append(c.segments[n-1].text, data...)
	} else {
		text := append(c.tails[stream], data...)
		c.tails[stream] = nil
		c.segments = append(c.segments, segment{stream, text})
	}
	now := time.Now()
	switch {
	case c.bytes >= flushBytes:
		c.flush(now, false)
	case c.due.IsZero():
		c.due = now.Add(flushFirst)
		if next := c.last.Add(flushEvery); next.After(c.due) {
			c.due = next
		}
	}
}

// wait returns how long until a flush is due, or a negative duration when
// nothing waits.
func (c *capture) wait(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due.IsZero() {
		return -1
	}
	return max(c.due.Sub(now), 0)
}

// tick flushes if it is time.
func (c *capture) tick(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.due.IsZero() && !now.Before(c.due) {
		c.flush(now, false)
	}
}

// end flushes all there is, incomplete runes too, as before a frame that must
// come after them.
func (c *capture) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush(time.Now(), true)
}

// show makes way for a display, an update or what else op is, of n bytes. It
// reports false for one that is too much.
func (c *capture) show(op string, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if op == "display" && !c.endless {
		if c.shows == maxShows || c.bundles+n > maxBundles {
			c.hidden++
			return false
		}
		c.shows++
		c.bundles += n
	}
	c.flush(time.Now(), true)
	c.pace.bundle(n)
	return true
}

// begin starts the count of a new cell.
func (c *capture) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush(time.Now(), true)
	c.total, c.lines, c.cut, c.shows, c.bundles, c.hidden = 0, 0, false, 0, 0, 0
	c.rest.close()
	c.pace.begin()
}

// note tells the user, at the end of a cell, what was not shown.
func (c *capture) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush(time.Now(), true)
	if told := c.rest.close(); c.cut && told != "" {
		c.emit(streamNames[1], "["+told+"]\n")
	}
	if c.hidden > 0 {
		c.emit(streamNames[1], fmt.Sprintf("\n[displays cut: the cell shows %d of its %d]\n", c.shows, c.shows+c.hidden))
		c.hidden = 0
	}
}

// flush is called with mu held, and so is emit: events keep their order.
func (c *capture) flush(now time.Time, all bool) {
	segments := c.segments
	c.spent = max(0, c.spent-changeRate*now.Sub(c.last).Seconds())
	if n := float64(len(segments)); n > 2 && c.spent+n > changeBurst { // the rate counts more than the order
		segments = join(segments)
	} else {
		c.spent += n
	}
	c.segments, c.bytes, c.due = nil, 0, time.Time{}
	for _, s := range segments {
		text := s.text
		if !all {
			var tail []byte
			text, tail = splitRune(text)
			c.tails[s.stream] = tail
		}
		c.send(s.stream, text)
	}
	for stream, tail := range c.tails {
		if all && len(tail) > 0 {
			c.tails[stream] = nil
			c.send(stream, tail)
		}
	}
	c.last = now
}

func (c *capture) send(stream int, text []byte) {
	if len(text) > 0 {
		c.pace.stream(text)
		c.emit(streamNames[stream], validUTF8(text))
	}
}

// validUTF8 replaces each byte that is no UTF-8 by U+FFFD.
func validUTF8(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

// join puts the segments of each stream together, the stream that came first
// before the other.
func join(segments []segment) []segment {
	first := segments[0].stream
	joined := []segment{{stream: first}, {stream: 1 - first}}
	for _, s := range segments {
		to := &joined[(s.stream+first)%2]
		to.text = append(to.text, s.text...)
	}
	return joined
}

// splitRune cuts an incomplete UTF-8 sequence off the end of text.
func splitRune(text []byte) (whole, tail []byte) {
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
		b := text[len(text)-i]
		if utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i], append([]byte(nil), text[len(text)-i:]...)
			}
			break
		}
	}
	return text, nil
}
