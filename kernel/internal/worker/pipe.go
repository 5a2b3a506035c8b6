package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxFrame bounds a frame's payload. Larger values are cut before they are
// sent, so only a broken peer announces more.
const maxFrame = 256 << 20

// A frame is a kind, the payload's length as a big-endian uint32, and the
// payload, in JSON.
const frameHeader = 5

// kind says what a frame's payload is.
type kind byte

const (
	// From parent to child.
	kindRun       kind = 'r' // Job
	kindInterrupt kind = 'i' // interruptFrame
	kindAck       kind = 'a' // nothing: the parent has forwarded a Show
	kindAnswer    kind = 'w' // Answer
	kindComm      kind = 'c' // Comm
	// From child to parent.
	kindHello kind = 'h' // Hello
	kindShow  kind = 's' // Show
	kindAsk   kind = 'q' // Ask
	kindDone  kind = 'd' // Done
)

// Job asks the child to run a cell, or a command.
type Job struct {
	N       int      `json:"n"`      // execution count
	Source  string   `json:"source"` // Go without magics
	Command *Command `json:"command,omitempty"`
	// Settings hold from now on; nil for those so far.
	Settings *Settings `json:"settings,omitempty"`
}

type interruptFrame struct {
	N int `json:"n"`
}

// Hello is the child's first frame.
type Hello struct {
	Error string `json:"error,omitempty"` // why it cannot run cells
}

// Show is what a running cell asks its notebook to show.
type Show struct {
	Op       string         `json:"op"` // "display", "update", "clear", "comm", "target"
	ID       string         `json:"id,omitempty"`
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Wait     bool           `json:"wait,omitempty"`  // of "clear"
	Comm     *Comm          `json:"comm,omitempty"`  // of "comm"
	There    bool           `json:"there,omitempty"` // of "target", whose name is ID
}

// Comm is a comm message on its way from or to the page.
type Comm struct {
	Type     string         `json:"type"` // "comm_open", "comm_msg", "comm_close"
	ID       string         `json:"id"`
	Target   string         `json:"target,omitempty"` // of "comm_open"
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Buffers  [][]byte       `json:"buffers,omitempty"`
}

// Done is how a job ended. At most one of Error and Failure is set.
type Done struct {
	N        int            `json:"n"`
	Result   map[string]any `json:"result,omitempty"`   // MIME bundle of the values
	Metadata map[string]any `json:"metadata,omitempty"` // of Result
	// Error is the cell's last value, an error that is not nil.
	Error   *string  `json:"error,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	// Took is how long the engine took, to compile and to run.
	Took time.Duration `json:"took,omitempty"`

	// Of commands: what they changed, and the text of a file.
	Settings *Settings `json:"settings,omitempty"`
	Text     string    `json:"text,omitempty"`
}

// Failure is engine.Failure on the wire, or a command's.
type Failure struct {
	Kind    string  `json:"kind"`
	Message string  `json:"message"`
	Frames  []Frame `json:"frames,omitempty"`
}

// Frame is engine.Frame on the wire.
type Frame struct {
	Cell int    `json:"cell"`
	File string `json:"file,omitempty"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Func string `json:"func"`
}

var errFrame = errors.New("worker: read frame: malformed")

// encodeFrame returns the bytes of a frame; v may be nil for an empty payload.
func encodeFrame(k kind, v any) ([]byte, error) {
	var payload []byte
	if v != nil {
		var err error
		if payload, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("worker: write frame %q: %w", k, err)
		}
	}
	if len(payload) > maxFrame {
		return nil, fmt.Errorf("worker: write frame %q: %d bytes, the limit is %d", k, len(payload), maxFrame)
	}
	frame := make([]byte, frameHeader, frameHeader+len(payload))
	frame[0] = byte(k)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload)))
	return append(frame, payload...), nil
}

// readFrame reads one frame. It is io.EOF only between frames.
func readFrame(r io.Reader) (kind, []byte, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("%w: %d bytes announced, the limit is %d", errFrame, n, maxFrame)
	}
	// Grow with what arrives: an announced length is not yet memory.
	payload, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(payload) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return kind(head[0]), payload, err
}

// decodeFrame reads a payload into v.
func decodeFrame(k kind, payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("%w: kind %q: %w", errFrame, k, err)
	}
	return nil
}
