package wire

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Header identifies a message ("General Message Format").
type Header struct {
	MsgID    string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"` // ISO 8601
	MsgType  string `json:"msg_type"`
	Version  string `json:"version"`
}

// Message is one message, with its content still encoded.
type Message struct {
	// Identities are a ROUTER's routing prefix, or the topic of an iopub
	// message.
	Identities [][]byte
	Header     Header
	// RawHeader is the header as it came, so that a reply can repeat it byte
	// for byte; nil in a message of ours.
	RawHeader json.RawMessage
	Parent    json.RawMessage // the parent's header; nil for none
	Metadata  json.RawMessage // nil for {}
	Content   json.RawMessage
	Buffers   [][]byte
}

// Decode reads the content into v.
func (m *Message) Decode(v any) error { return json.Unmarshal(m.Content, v) }

// NewID returns a random message or session id.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// New returns a message of the given type from the session id. parent may be
// nil. Content that cannot be encoded, a NaN in a MIME bundle for example, is
// an error.
func New(session, msgType string, parent *Message, content any) (Message, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return Message{}, err
	}
	m := Message{
		Header: Header{
			MsgID: NewID(), Session: session, Username: "kernel",
			Date:    time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
			MsgType: msgType, Version: Version,
		},
		Content: data,
	}
	if parent != nil {
		m.Parent = parent.RawHeader
		if m.Parent == nil {
			if m.Parent, err = json.Marshal(parent.Header); err != nil {
				return Message{}, err
			}
		}
	}
	return m, nil
}
