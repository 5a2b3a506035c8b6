package worker

import (
	"bytes"
	"strings"
)

// crash watches a worker's stderr for the last words of the Go runtime. Behind
// its "fatal error: " the runtime prints the stacks of goroutines that are
// none of the user's, even if told not to; so what follows such a line is held
// back until it is known whether the worker lives.
type crash struct {
	tail []byte // the last bytes, where a crash is explained
	held []byte // what came behind a line with mark
	in   state
}

type state int

const (
	outside state = iota
	inLine        // in a line with mark
	behind        // behind such a line
)

const (
	mark = "fatal error: "
	// maxHeld bounds what is held back, for a program that prints the mark
	// itself and goes on.
	maxHeld = 1 << 20
	maxTail = 4096
)

// pass takes bytes of stderr and returns those that may be shown now.
func (c *crash) pass(data []byte) []byte {
	if c.in != behind { // stacks explain nothing
		c.tail = append(c.tail, data...)
		c.tail = append(c.tail[:0], c.tail[max(len(c.tail)-maxTail, 0):]...)
	}
	shown := 0
	if c.in == outside {
		i := bytes.Index(data, []byte(mark))
		if i < 0 || i > 0 && data[i-1] != '\n' {
			return data
		}
		c.in, shown = inLine, i
	}
	if c.in == inLine {
		i := bytes.IndexByte(data[shown:], '\n')
		if i < 0 {
			return data
		}
		c.in, shown = behind, shown+i+1
	}
	c.held = append(c.held, data[shown:]...)
	if len(c.held) > maxHeld {
		return append(data[:shown:shown], c.release()...)
	}
	return data[:shown]
}

// release returns what was held back: the worker lives.
func (c *crash) release() []byte {
	held := c.held
	c.held, c.in = nil, outside
	return held
}

// reason returns the line by which the Go runtime or a C library says why it
// gives up, or nothing.
func (c *crash) reason() (reason string) {
	for line := range strings.Lines(string(c.tail)) {
		line = strings.TrimSpace(line)
		for _, m := range []string{mark, "panic: ", "SIGSEGV: ", "SIGABRT: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: ", "GGML_ASSERT", "terminate called"} {
			if !strings.Contains(line, m) {
				continue
			}
			line = strings.ToValidUTF8(line, "\uFFFD")
			if m == mark {
				return line
			}
			reason = line
		}
	}
	return reason
}
