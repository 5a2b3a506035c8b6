package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// delimiter ends the routing prefix ("The Wire Protocol").
var delimiter = []byte("<IDS|MSG>")

// Errors of [Codec.Decode]; such a message is to be dropped.
var (
	ErrSignature = errors.New("wire: decode message: wrong signature")
	ErrReplay    = errors.New("wire: decode message: signature seen before")
	ErrMalformed = errors.New("wire: decode message: malformed")
)

// replayMemory is how many signatures a Codec remembers: more than a front
// end sends in a day of work, and 2 MiB.
const replayMemory = 1 << 16

// Codec signs and checks messages with a connection's key. Its methods may be
// called from any goroutine.
type Codec struct {
	key []byte // empty: nothing is signed

	mu   sync.Mutex
	seen map[[sha256.Size]byte]struct{}
	ring [][sha256.Size]byte // seen, oldest overwritten first
	next int
}

// NewCodec returns a codec for key; an empty key turns signatures off, as the
// protocol has it.
func NewCodec(key string) *Codec {
	return &Codec{key: []byte(key), seen: make(map[[sha256.Size]byte]struct{})}
}

// Decode checks frames and takes them apart. The message keeps the frames'
// memory. Errors wrap ErrSignature, ErrReplay or ErrMalformed.
func (c *Codec) Decode(frames [][]byte) (Message, error) {
	i := 0
	for i < len(frames) && !bytes.Equal(frames[i], delimiter) {
		i++
	}
	if len(frames)-i < 6 {
		return Message{}, fmt.Errorf("%w: %d frames after the delimiter, need 5", ErrMalformed, max(len(frames)-i-1, 0))
	}
	body := frames[i+2 : i+6]
	if err := c.check(frames[i+1], body); err != nil {
		return Message{}, err
	}
	m := Message{
		Identities: frames[:i],
		RawHeader:  body[0], Parent: body[1], Metadata: body[2], Content: body[3],
		Buffers: frames[i+6:],
	}
	if err := json.Unmarshal(body[0], &m.Header); err != nil {
		return Message{}, fmt.Errorf("%w: header: %w", ErrMalformed, err)
	}
	if m.Header.MsgType == "" || m.Header.MsgID == "" {
		return Message{}, fmt.Errorf("%w: header without msg_type or msg_id", ErrMalformed)
	}
	for j, name := range []string{"parent_header", "metadata", "content"} {
		if !isObject(body[j+1]) {
			return Message{}, fmt.Errorf("%w: %s is no JSON object", ErrMalformed, name)
		}
	}
	return m, nil
}

// isObject reports whether b is a JSON object. An empty parent header is sent
// as null by some clients.
func isObject(b []byte) bool {
	t := bytes.TrimLeft(b, " \t\r\n")
	return json.Valid(b) && (t[0] == '{' || bytes.Equal(bytes.TrimSpace(b), []byte("null")))
}

func (c *Codec) check(signature []byte, body [][]byte) error {
	if len(c.key) == 0 {
		return nil
	}
	want := c.sum(body)
	var got [sha256.Size]byte
	if hex.DecodedLen(len(signature)) != len(got) {
		return ErrSignature
	}
	if _, err := hex.Decode(got[:], signature); err != nil {
		return ErrSignature
	}
	if !hmac.Equal(want[:], got[:]) {
		return ErrSignature
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.seen[want]; ok {
		return ErrReplay
	}
	if len(c.ring) < replayMemory {
		c.ring = append(c.ring, want)
	} else {
		delete(c.seen, c.ring[c.next])
		c.ring[c.next] = want
		c.next = (c.next + 1) % replayMemory
	}
	c.seen[want] = struct{}{}
	return nil
}

func (c *Codec) sum(body [][]byte) (out [sha256.Size]byte) {
	h := hmac.New(sha256.New, c.key)
	for _, b := range body {
		h.Write(b)
	}
	h.Sum(out[:0])
	return out
}

// Encode returns m's frames, signed.
func (c *Codec) Encode(m Message) ([][]byte, error) {
	header := m.RawHeader
	if header == nil {
		var err error
		if header, err = json.Marshal(m.Header); err != nil {
			return nil, fmt.Errorf("wire: encode %s: %w", m.Header.MsgType, err)
		}
	}
	body := [][]byte{header, orEmpty(m.Parent), orEmpty(m.Metadata), orEmpty(m.Content)}
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, delimiter, c.signature(body))
	frames = append(frames, body...)
	return append(frames, m.Buffers...), nil
}

func (c *Codec) signature(body [][]byte) []byte {
	if len(c.key) == 0 {
		return nil
	}
	sum := c.sum(body)
	return []byte(hex.EncodeToString(sum[:]))
}

func orEmpty(b json.RawMessage) []byte {
	if b == nil {
		return []byte("{}")
	}
	return b
}
