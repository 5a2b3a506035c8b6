package worker

import (
	"sync"
	"time"
)

// A Jupyter server drops what exceeds 1,000 messages, or 1 MB of streams, a
// second, both as the mean of three seconds (ServerApp's iopub_msg_rate_limit,
// iopub_data_rate_limit, rate_limit_window). Status, execute_input and comm_open
// do not count. A cell that shows more than that waits; nothing is lost.
const (
	paceWindow   = 3200 * time.Millisecond // theirs, and what scheduling adds
	paceMessages = 2600
	paceStreams  = 2_800_000  // bytes; they count what JSON makes of a text, and the message's head
	paceBundles  = 96_000_000 // bytes, which a server does not count, but a browser has to hold
	paceHead     = 700        // of a message, in bytes
)

// pace makes those wait who send more than a front end takes. Its methods may be
// called from any goroutine; the nil pace never waits.
type pace struct {
	server bool // streams are counted

	mu    sync.Mutex
	sent  []sent // within the window, oldest first
	sum   sent
	hurry chan struct{} // closed when nobody is to wait
}

type sent struct {
	at                         time.Time
	messages, streams, bundles int
}

func newPace(server bool) *pace { return &pace{server: server, hurry: make(chan struct{})} }

// begin lets a new cell's output wait again.
func (p *pace) begin() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if closed(p.hurry) {
		p.hurry = make(chan struct{})
	}
}

// now ends all waiting, until begin: the cell is to end.
func (p *pace) now() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !closed(p.hurry) {
		close(p.hurry)
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// hurried reports whether a cell is to end whose output would have to wait.
func (p *pace) hurried() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return closed(p.hurry) && p.server && p.sum.streams+flushBytes > paceStreams
}

// stream waits until a text may be sent.
func (p *pace) stream(text []byte) {
	if p == nil {
		return
	}
	n := 0
	if p.server {
		n = paceHead + inJSON(text)
	}
	p.wait(sent{messages: 1, streams: n})
}

// bundle waits until a display of n bytes may be sent.
func (p *pace) bundle(n int) {
	if p != nil {
		p.wait(sent{messages: 1, bundles: n})
	}
}

func (p *pace) wait(s sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		s.at = time.Now()
		p.drop(s.at.Add(-paceWindow))
		over := p.sum.messages+s.messages > paceMessages || p.sum.streams+s.streams > paceStreams || p.sum.bundles+s.bundles > paceBundles
		if !over || len(p.sent) == 0 || closed(p.hurry) {
			break
		}
		free, hurry := p.sent[0].at.Add(paceWindow).Sub(s.at), p.hurry
		p.mu.Unlock()
		select {
		case <-time.After(free):
		case <-hurry:
		}
		p.mu.Lock()
	}
	p.sent = append(p.sent, s)
	p.sum.messages += s.messages
	p.sum.streams += s.streams
	p.sum.bundles += s.bundles
}

// drop forgets what was sent before a time.
func (p *pace) drop(before time.Time) {
	i := 0
	for ; i < len(p.sent) && !p.sent[i].at.After(before); i++ {
		p.sum.messages -= p.sent[i].messages
		p.sum.streams -= p.sent[i].streams
		p.sum.bundles -= p.sent[i].bundles
	}
	p.sent = p.sent[i:]
}

// inJSON is how long a text is in JSON, at most.
func inJSON(text []byte) int {
	n := len(text)
	for _, b := range text {
		switch {
		case b == '\n' || b == '"' || b == '\\' || b == '\t' || b == '\r':
			n++
		case b < ' ' || b == '<' || b == '>' || b == '&':
			n += 5
		}
	}
	return n
}
