package kerneltest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Request is a message sent, and what comes back for it.
type Request struct {
	c       *Client
	channel string
	msgType string
	ID      string
	Sent    time.Time
}

// Send sends a request. Shell and control are the channels of requests.
func (c *Client) Send(channel, msgType string, content any) *Request {
	id, frames := c.Frames(msgType, content)
	r := &Request{c: c, channel: channel, msgType: msgType, ID: id, Sent: time.Now()}
	c.SendFrames(channel, frames)
	return r
}

// Execute sends an execute_request as notebooks do.
func (c *Client) Execute(code string) *Request {
	return c.ExecuteWith(map[string]any{"code": code})
}

// ExecuteWith sends an execute_request; content overrides what notebooks send.
func (c *Client) ExecuteWith(content map[string]any) *Request {
	full := map[string]any{
		"silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": true,
	}
	for name, value := range content {
		full[name] = value
	}
	return c.Send("shell", "execute_request", full)
}

// output takes the next iopub message that the request caused, and fails the
// test unless it is of the type.
func (r *Request) output(msgType string, content any) Message {
	r.c.tb.Helper()
	m := r.c.next(msgType+" for "+r.msgType, func(m Message) bool { return m.Channel == "iopub" && m.Parent.MsgID == r.ID })
	if m.Header.MsgType != msgType {
		r.c.tb.Fatalf("got %v, want %s", m, msgType)
	}
	r.c.decode(m, content)
	return m
}

func (c *Client) decode(m Message, content any) {
	c.tb.Helper()
	if content == nil {
		return
	}
	if err := json.Unmarshal(m.Content, content); err != nil {
		c.tb.Fatalf("%v: %v", m, err)
	}
}

func (r *Request) status(want string) {
	r.c.tb.Helper()
	var s struct {
		State string `json:"execution_state"`
	}
	r.output("status", &s)
	if s.State != want {
		r.c.tb.Fatalf("status %q, want %q", s.State, want)
	}
}

// Busy expects the status busy.
func (r *Request) Busy() { r.c.tb.Helper(); r.status("busy") }

// Idle expects the status idle, and nothing after it.
func (r *Request) Idle() {
	r.c.tb.Helper()
	r.status("idle")
	if m, ok := r.c.take(func(m Message) bool { return m.Parent.MsgID == r.ID }); ok {
		r.c.tb.Fatalf("after idle there is %v", m)
	}
}

// UntilIdle takes outputs, whatever they are, until the status idle, and
// returns them.
func (r *Request) UntilIdle() (outputs []Message) {
	r.c.tb.Helper()
	for {
		m := r.c.next("status idle for "+r.msgType, func(m Message) bool { return m.Channel == "iopub" && m.Parent.MsgID == r.ID })
		if m.Header.MsgType == "status" && strings.Contains(string(m.Content), `"idle"`) {
			return outputs
		}
		outputs = append(outputs, m)
	}
}

// BusyAgain expects the busy that follows what was answered while the
// request's cell ran.
func (r *Request) BusyAgain() { r.c.tb.Helper(); r.status("busy") }

// Input expects the execute_input with this count.
func (r *Request) Input(count int) {
	r.c.tb.Helper()
	var in struct {
		Code  string `json:"code"`
		Count int    `json:"execution_count"`
	}
	r.output("execute_input", &in)
	if in.Count != count {
		r.c.tb.Fatalf("execute_input has count %d, want %d", in.Count, count)
	}
}

// AnyInput expects an execute_input.
func (r *Request) AnyInput() { r.c.tb.Helper(); r.output("execute_input", nil) }

// Stream expects one stream message.
func (r *Request) Stream(name, text string) {
	r.c.tb.Helper()
	var s streamContent
	r.output("stream", &s)
	if s.Name != name || s.Text != text {
		r.c.tb.Fatalf("stream %s %q, want %s %q", s.Name, s.Text, name, text)
	}
}

// AnyStream expects a stream message, and returns what it says.
func (r *Request) AnyStream() (name, text string) {
	r.c.tb.Helper()
	var s streamContent
	r.output("stream", &s)
	return s.Name, s.Text
}

type streamContent struct{ Name, Text string }

// Streams takes all stream messages that come before another output, at least
// one, and returns the text of each stream and the number of messages.
func (r *Request) Streams() (stdout, stderr string, messages int) {
	r.c.tb.Helper()
	var text [2]strings.Builder
	for {
		mine := func(m Message) bool { return m.Channel == "iopub" && m.Parent.MsgID == r.ID }
		if messages > 0 {
			// Look without taking: the next may be no stream.
			kind := r.peek(mine)
			if kind != "stream" {
				return text[0].String(), text[1].String(), messages
			}
		}
		var s streamContent
		r.output("stream", &s)
		messages++
		if s.Name == "stderr" {
			text[1].WriteString(s.Text)
		} else {
			text[0].WriteString(s.Text)
		}
	}
}

// peek waits for a message that matches, and returns its type.
func (r *Request) peek(match func(Message) bool) string {
	r.c.tb.Helper()
	deadline := time.After(Patience)
	for {
		r.c.mu.Lock()
		for _, m := range r.c.inbox {
			if match(m) {
				r.c.mu.Unlock()
				return m.Header.MsgType
			}
		}
		r.c.mu.Unlock()
		select {
		case <-r.c.arrived:
		case <-deadline:
			r.c.tb.Fatalf("no further message for %s within %v", r.msgType, Patience)
		}
	}
}

// Bundle is what a display message shows.
type Bundle struct {
	Data      map[string]any
	Metadata  map[string]any
	Transient struct {
		DisplayID string `json:"display_id"`
	}
	Count int `json:"execution_count"`
}

// Text is the bundle's text/plain.
func (b Bundle) Text() string { s, _ := b.Data["text/plain"].(string); return s }

// Result expects an execute_result with this text/plain.
func (r *Request) Result(text string) Bundle {
	r.c.tb.Helper()
	var b Bundle
	r.output("execute_result", &b)
	if b.Text() != text {
		r.c.tb.Fatalf("the result is %q, want %q", b.Text(), text)
	}
	return b
}

// Display expects a display_data.
func (r *Request) Display() (b Bundle) { r.c.tb.Helper(); r.output("display_data", &b); return b }

// Update expects an update_display_data.
func (r *Request) Update() (b Bundle) {
	r.c.tb.Helper()
	r.output("update_display_data", &b)
	return b
}

// Clear expects a clear_output.
func (r *Request) Clear(wait bool) {
	r.c.tb.Helper()
	var c struct{ Wait bool }
	r.output("clear_output", &c)
	if c.Wait != wait {
		r.c.tb.Fatalf("clear_output has wait %v, want %v", c.Wait, wait)
	}
}

// Comm is a comm message.
type Comm struct {
	ID     string         `json:"comm_id"`
	Target string         `json:"target_name"`
	Data   map[string]any `json:"data"`
	// Metadata and Buffers are not in the content.
	Metadata map[string]any `json:"-"`
	Buffers  [][]byte       `json:"-"`
}

// CommOpen expects a comm_open.
func (r *Request) CommOpen() Comm { r.c.tb.Helper(); return r.comm("comm_open") }

// CommMsg expects a comm_msg.
func (r *Request) CommMsg() Comm { r.c.tb.Helper(); return r.comm("comm_msg") }

// CommClose expects a comm_close, and returns the comm's id.
func (r *Request) CommClose() string { r.c.tb.Helper(); return r.comm("comm_close").ID }

func (r *Request) comm(msgType string) (c Comm) {
	r.c.tb.Helper()
	m := r.output(msgType, &c)
	c.Buffers = m.Buffers
	if err := json.Unmarshal(m.Metadata, &c.Metadata); err != nil {
		r.c.tb.Fatalf("%v: metadata: %v", m, err)
	}
	return c
}

// SendComm sends a comm message, with buffers, and expects busy and idle.
func (c *Client) SendComm(msgType string, m Comm) {
	c.tb.Helper()
	id, frames := c.Frames(msgType, m)
	r := &Request{c: c, channel: "shell", msgType: msgType, ID: id, Sent: time.Now()}
	c.SendFrames("shell", append(frames, m.Buffers...))
	r.Busy()
	r.Idle()
}

// SeenBy is the request as another client sees its outputs.
func (r *Request) SeenBy(c *Client) *Request {
	seen := *r
	seen.c = c
	return &seen
}

// Failure is an error message or an error reply.
type Failure struct {
	EName, EValue string
	Traceback     []string
}

// Text is the traceback, without colours.
func (f Failure) Text() string {
	text := strings.Join(f.Traceback, "\n")
	for _, part := range strings.Split(text, "\x1b[")[1:] {
		code, _, _ := strings.Cut(part, "m")
		text = strings.Replace(text, "\x1b["+code+"m", "", 1)
	}
	return text
}

// Error expects an error message, in which nothing is empty.
func (r *Request) Error() (f Failure) {
	r.c.tb.Helper()
	r.output("error", &f)
	r.whole(f)
	return f
}

func (r *Request) whole(f Failure) {
	r.c.tb.Helper()
	if f.EName == "" || f.EValue == "" || len(f.Traceback) == 0 {
		r.c.tb.Fatalf("an error lacks something: %+v", f)
	}
}

// Reply expects the request's reply, on its channel, and decodes it.
func (r *Request) Reply(content any) Message {
	r.c.tb.Helper()
	want := strings.TrimSuffix(r.msgType, "_request") + "_reply"
	m := r.c.next(want, func(m Message) bool { return m.Channel == r.channel && m.Parent.MsgID == r.ID })
	if m.Header.MsgType != want {
		r.c.tb.Fatalf("got %v, want %s", m, want)
	}
	r.c.decode(m, content)
	return m
}

// ExecuteReply is an execute_reply.
type ExecuteReply struct {
	Status          string
	Count           int                       `json:"execution_count"`
	UserExpressions map[string]map[string]any `json:"user_expressions"`
	Failure
}

// ReplyOK expects an execute_reply with status ok.
func (r *Request) ReplyOK(count int) (reply ExecuteReply) {
	r.c.tb.Helper()
	r.Reply(&reply)
	if reply.Status != "ok" || reply.Count != count {
		r.c.tb.Fatalf("reply %+v, want status ok and count %d", reply, count)
	}
	return reply
}

// ReplyError expects an execute_reply with status error.
func (r *Request) ReplyError(count int) (reply ExecuteReply) {
	r.c.tb.Helper()
	r.Reply(&reply)
	if reply.Status != "error" || reply.Count != count {
		r.c.tb.Fatalf("reply %+v, want status error and count %d", reply, count)
	}
	r.whole(reply.Failure)
	return reply
}

// ReplyAborted expects an execute_reply with status aborted.
func (r *Request) ReplyAborted() {
	r.c.tb.Helper()
	var reply ExecuteReply
	r.Reply(&reply)
	if reply.Status != "aborted" {
		r.c.tb.Fatalf("reply %+v, want status aborted", reply)
	}
}

// InputRequest expects that the cell asks its user, and returns the question.
func (r *Request) InputRequest() *InputRequest {
	r.c.tb.Helper()
	m := r.c.next("input_request", func(m Message) bool { return m.Channel == "stdin" && m.Parent.MsgID == r.ID })
	if m.Header.MsgType != "input_request" {
		r.c.tb.Fatalf("got %v, want input_request", m)
	}
	q := &InputRequest{c: r.c, header: m.Header}
	r.c.decode(m, q)
	return q
}

// InputRequest is what a cell asks its user.
type InputRequest struct {
	Prompt   string
	Password bool

	c      *Client
	header Header
}

// Reply answers as JupyterLab does.
func (q *InputRequest) Reply(value string) { q.reply(value, q.header) }

// ReplyWithoutParent answers as Jupyter's clients for terminals do.
func (q *InputRequest) ReplyWithoutParent(value string) { q.reply(value, nil) }

func (q *InputRequest) reply(value string, parent any) {
	_, frames := packWith(q.c.conn.Key, q.c.session, "input_reply", parent, map[string]any{"value": value})
	q.c.SendFrames("stdin", frames)
}

// Failure decodes an error message.
func (m Message) Failure(tb testing.TB) (f Failure) {
	tb.Helper()
	if err := json.Unmarshal(m.Content, &f); err != nil {
		tb.Fatalf("%v: %v", m, err)
	}
	return f
}
