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
	shown := c.shown(data)
	c.tail = append(c.tail, data[:shown]...) // stacks explain nothing
	c.tail = append(c.tail[:0], c.tail[max(len(c.tail)-maxTail, 0):]...)
	c.held = append(c.held, data[shown:]...)
	if len(c.held) > maxHeld {
		return append(data[:shown:shown], c.release()...)
	}
	return data[:shown]
}

// shown returns how many bytes of data come before what must be held back.
func (c *crash) shown(data []byte) int {
	at := 0
	if c.in == outside {
		i := bytes.Index(data, []byte(mark))
		if i < 0 || i > 0 && data[i-1] != '\n' {
			return len(data)
		}
		c.in, at = inLine, i
	}
	if c.in == inLine {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		c.in, at = behind, at+i+1
	}
	return at
}

// overflowed reports whether the runtime has said that the stack is full. It
// then walks a million frames to print fifty, for seconds, which nobody needs.
func (c *crash) overflowed() bool {
	return c.in == behind && bytes.Contains(c.tail, []byte("runtime: goroutine stack exceeds ")) && bytes.HasSuffix(c.tail, []byte("\n"+mark+"stack overflow\n"))
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
