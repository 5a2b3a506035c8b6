// Package history keeps what was run, in a file that outlives kernels and that
// several of them write.
//
// Each session, the life of a kernel, has a number; so has each line in it, a
// cell that ran. The file has a JSON object a line and is only added to, until
// it is too long; then its older half goes (file.go). Where it cannot be read
// or written a [Log] knows its own session, and nothing is lost but the past.
//
//	log := history.Open(history.File(), slog.Default())
//	defer log.Close()
//	log.Add(1, "x := 1")
//	found := log.Find(wire.HistoryRequest{HistAccessType: "tail", N: 10})
package history

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Entry is one cell that ran.
type Entry struct {
	Session int    `json:"session"`
	Line    int    `json:"line,omitempty"` // the execution count; 0 where the session began
	Input   string `json:"input,omitempty"`
	Began   string `json:"began,omitempty"` // of a session, ISO 8601
	// Output is the text of the cell's value, of this session only: outputs
	// are not kept.
	Output *string `json:"-"`
}

// Log is the history as one session sees it. Its methods may be called from
// any goroutine.
type Log struct {
	name string // of the file; empty for none
	log  *slog.Logger

	opened chan struct{} // closed when session is known
	ended  chan struct{} // closed when all is written

	mu      sync.Mutex
	session int
	own     []Entry
	length  int           // of own, in bytes
	waiting []Entry       // to be written
	more    chan struct{} // holds a token when there may be some
	closed  bool
}

// File is where the history is: in $BRANCHBOOK_HISTORY; without that in
// $XDG_STATE_HOME, as the XDG Base Directory Specification has it. It is empty,
// for none, where the variable says "off" or there is no home.
func File() string {
	switch name := os.Getenv("BRANCHBOOK_HISTORY"); name {
	case "":
	case "off":
		return ""
	default:
		return name
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // which the specification has ignored
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "branchbook", "history.jsonl")
}

// Open begins a session. With an empty name it is kept in memory only. The
// file is read and written behind: neither Open nor Add waits for a disk, nor
// for another kernel.
func Open(name string, log *slog.Logger) *Log {
	l := &Log{
		name: name, log: log, session: 1,
		opened: make(chan struct{}), ended: make(chan struct{}), more: make(chan struct{}, 1),
	}
	go l.write()
	return l
}

// Add adds a cell that begins to run. Cells without text do not count.
func (l *Log) Add(line int, input string) {
	if strings.TrimSpace(input) == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := Entry{Line: line, Input: input}
	l.own = append(l.own, e)
	if l.length += size(e); l.length > maxOwn {
		gone := 0
		for ; gone < len(l.own)-1 && l.length > maxOwn/2; gone++ {
			l.length -= size(l.own[gone])
		}
		l.own = slices.Clone(l.own[gone:])
	}
	l.waiting = append(l.waiting, e)
	l.signal()
}

// SetOutput adds the text of its value to the line that was added last.
func (l *Log) SetOutput(line int, output string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.own); n > 0 && l.own[n-1].Line == line {
		l.own[n-1].Output = &output
		l.length += len(output)
	}
}

// maxOwn is how much of its own session a Log knows, in bytes: a kernel may live
// for days. What is older goes, from there and not from the file.
const maxOwn = 8 << 20

// size is what an entry takes.
func size(e Entry) int {
	n := len(e.Input) + 100
	if e.Output != nil {
		n += len(*e.Output)
	}
	return n
}

func (l *Log) signal() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// Close returns when what was added is written, or when that takes long.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.signal()
	l.mu.Unlock()
	select {
	case <-l.ended:
	case <-time.After(time.Second):
	}
}

// write owns the file until Close.
func (l *Log) write() {
	defer close(l.ended)
	name := l.name
	if name != "" {
		session, err := begin(name)
		if err != nil {
			l.log.Warn("history: it lives no longer than this kernel", "err", err)
			name = ""
		}
		l.mu.Lock()
		l.session = max(session, 1)
		l.mu.Unlock()
	}
	close(l.opened)
	for {
		l.mu.Lock()
		entries, closed := l.waiting, l.closed
		l.waiting = nil
		session := l.session
		l.mu.Unlock()
		if len(entries) > 0 && name != "" {
			for i := range entries {
				entries[i].Session = session
			}
			if err := add(name, entries); err != nil {
				l.log.Warn("history: lines are not kept", "err", err)
			}
		}
		if closed && len(entries) == 0 {
			return
		}
		if len(entries) == 0 {
			<-l.more
		}
	}
}
