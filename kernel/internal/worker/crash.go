package worker

import (
	"bytes"
	"slices"
	"strings"
)

// crash watches a worker's stderr for the last words of the Go runtime. Behind
// its "fatal error: " the runtime prints the stacks of goroutines that are
// none of the user's, even if told not to; so what follows such a line is held
// back until it is known whether the worker lives.
type crash struct {
	tail []byte // the last bytes, where a crash is explained
	held []byte // what came behind a line with a mark
	in   state
	mid  bool // the last byte seen ended no line
}

type state int

const (
	outside state = iota
	inLine        // in a line with a mark
	behind        // behind such a line
)

// marks begin the lines by which the runtime gives up: by itself, or at a
// signal that nobody handles, abort() in C among them.
var marks = []string{mark, "SIGABRT: ", "SIGSEGV: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: ", "SIGTRAP: ", "SIGSYS: ", "SIGQUIT: "}

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
		at = c.marked(data)
		if n := len(data); n > 0 {
			c.mid = data[n-1] != '\n'
		}
		if at < 0 {
			return len(data)
		}
		c.in = inLine
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

// marked returns where a line with a mark begins in data, or -1.
func (c *crash) marked(data []byte) int {
	for at, mid := 0, c.mid; at < len(data); mid = false {
		if !mid {
			for _, m := range marks {
				if bytes.HasPrefix(data[at:], []byte(m)) {
					return at
				}
			}
		}
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return -1
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
// gives up, or nothing. A signal that follows a reason is no further one.
func (c *crash) reason() (reason string) {
	for line := range strings.Lines(string(c.tail)) {
		line = strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")
		switch {
		case strings.HasPrefix(line, mark):
			return line
		case strings.Contains(line, "GGML_ASSERT"), strings.Contains(line, "terminate called"), strings.HasPrefix(line, "panic: "):
			reason = line
		case reason == "" && slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(line, m) }):
			reason = line
		}
	}
	return reason
}
