package kerneltest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Header is a message's header.
type Header struct {
	MsgID    string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	MsgType  string `json:"msg_type"`
	Version  string `json:"version"`
}

// Message is a message from the kernel.
type Message struct {
	Channel string // "shell", "control", "stdin", "iopub"
	Topic   string // of iopub
	Header  Header
	Parent  Header // zero for none
	Content json.RawMessage

	Metadata json.RawMessage
	Buffers  [][]byte
}

func (m Message) String() string {
	content := m.Content
	if len(content) > 500 {
		content = append(content[:500:500], "…"...)
	}
	return fmt.Sprintf("%s %s %s", m.Channel, m.Header.MsgType, content)
}

var counter atomic.Int64

// pack makes the frames of a request; sign makes its signature.
func pack(key, session, msgType string, content any) (id string, frames [][]byte) {
	return packWith(key, session, msgType, nil, content)
}

// packWith makes the frames of a message with a parent header, which may be
// nil.
func packWith(key, session, msgType string, parent, content any) (id string, frames [][]byte) {
	id = fmt.Sprintf("%s_%d", session, counter.Add(1))
	header, err := json.Marshal(Header{
		MsgID: id, Session: session, Username: "test",
		Date: time.Now().Format(time.RFC3339Nano), MsgType: msgType, Version: "5.4",
	})
	if err != nil {
		panic(err) // strings only
	}
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // a test's own content
	}
	parts := [][]byte{header, []byte("{}"), []byte("{}"), body}
	if parent != nil {
		if parts[1], err = json.Marshal(parent); err != nil {
			panic(err) // a header
		}
	}
	return id, append([][]byte{[]byte("<IDS|MSG>"), Sign(key, parts)}, parts...)
}

// Sign returns the signature of a message's four parts.
func Sign(key string, parts [][]byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		mac.Write(p)
	}
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// unpack checks and reads the frames of a message from the kernel.
func unpack(key, channel string, frames [][]byte) (Message, error) {
	m := Message{Channel: channel}
	for i, f := range frames {
		if string(f) != "<IDS|MSG>" {
			continue
		}
		if i > 0 {
			m.Topic = string(frames[i-1])
		}
		rest := frames[i+1:]
		if len(rest) < 5 {
			return m, fmt.Errorf("%d frames after the delimiter, want 5", len(rest))
		}
		if string(Sign(key, rest[1:5])) != string(rest[0]) {
			return m, errors.New("wrong signature")
		}
		m.Metadata, m.Content, m.Buffers = rest[3], rest[4], rest[5:]
		return m, errors.Join(json.Unmarshal(rest[1], &m.Header), json.Unmarshal(rest[2], &m.Parent), json.Unmarshal(rest[4], new(map[string]any)))
	}
	return m, errors.New("no delimiter")
}
