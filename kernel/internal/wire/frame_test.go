package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
)

// signed makes frames by hand, so that Encode and Decode do not only agree
// with each other.
func signed(key string, parts ...string) [][]byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		mac.Write([]byte(p))
	}
	frames := [][]byte{[]byte("peer"), []byte("<IDS|MSG>"), []byte(hex.EncodeToString(mac.Sum(nil)))}
	for _, p := range parts {
		frames = append(frames, []byte(p))
	}
	return frames
}

const goodHeader = `{"msg_id":"1","msg_type":"x_request","session":"s","username":"u","date":"2026-01-01T00:00:00Z","version":"5.4"}`

func TestDecode(t *testing.T) {
	good := func() [][]byte { return signed("key", goodHeader, "{}", "{}", `{"code":"1"}`) }
	alter := func(f func([][]byte) [][]byte) [][]byte { return f(good()) }
	for _, test := range []struct {
		name   string
		frames [][]byte
		want   error
	}{
		{"a good message", good(), nil},
		{"with a buffer behind", append(good(), []byte("buffer")), nil},
		{"with a null parent", signed("key", goodHeader, "null", "{}", "{}"), nil},
		{"no frames", nil, ErrMalformed},
		{"no delimiter", [][]byte{[]byte("a"), []byte("b")}, ErrMalformed},
		{"the delimiter last", alter(func(f [][]byte) [][]byte { return f[:2] }), ErrMalformed},
		{"content left out", alter(func(f [][]byte) [][]byte { return f[:6] }), ErrMalformed},
		{"another key", signed("other", goodHeader, "{}", "{}", "{}"), ErrSignature},
		{"an empty signature", alter(func(f [][]byte) [][]byte { f[2] = nil; return f }), ErrSignature},
		{"a signature cut short", alter(func(f [][]byte) [][]byte { f[2] = f[2][:60]; return f }), ErrSignature},
		{"a signature that is no hex", alter(func(f [][]byte) [][]byte { f[2] = bytes.Repeat([]byte("z"), 64); return f }), ErrSignature},
		{"content altered on the way", alter(func(f [][]byte) [][]byte { f[6] = []byte(`{"code":"2"}`); return f }), ErrSignature},
		{"a header that is no JSON", signed("key", "{", "{}", "{}", "{}"), ErrMalformed},
		{"a header without a type", signed("key", `{"msg_id":"1"}`, "{}", "{}", "{}"), ErrMalformed},
		{"content that is a list", signed("key", goodHeader, "{}", "{}", "[]"), ErrMalformed},
		{"content that is empty", signed("key", goodHeader, "{}", "{}", ""), ErrMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := NewCodec("key").Decode(test.frames)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if err == nil && (m.Header.MsgType != "x_request" || string(m.Identities[0]) != "peer") {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestDecodeRefusesAReplay(t *testing.T) {
	c := NewCodec("key")
	frames := signed("key", goodHeader, "{}", "{}", "{}")
	if _, err := c.Decode(frames); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Decode(frames); !errors.Is(err, ErrReplay) {
		t.Errorf("the second time: %v, want ErrReplay", err)
	}
}

func TestReplayMemoryIsBounded(t *testing.T) {
	c := NewCodec("key")
	for i := range replayMemory + 100 {
		if err := c.check([]byte(hex.EncodeToString(sum("key", fmt.Sprint(i)))), [][]byte{[]byte(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.seen) != replayMemory || len(c.ring) != replayMemory {
		t.Errorf("remembers %d and %d signatures, want %d", len(c.seen), len(c.ring), replayMemory)
	}
}

func sum(key, part string) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(part))
	return mac.Sum(nil)
}

func TestAnEmptyKeyTurnsSignaturesOff(t *testing.T) {
	c := NewCodec("")
	frames := signed("whatever", goodHeader, "{}", "{}", "{}")
	for range 2 { // nor is there a replay
		if _, err := c.Decode(frames); err != nil {
			t.Fatal(err)
		}
	}
	m, _ := New("s", "status", nil, Status{"idle"})
	out, err := c.Encode(m)
	if err != nil || len(out[1]) != 0 {
		t.Errorf("signature %q, error %v; want none", out[1], err)
	}
}

func TestReplyRepeatsTheParentHeaderByteForByte(t *testing.T) {
	header := `{"msg_id":"1", "msg_type":"x_request",  "extra":[1,2]}`
	c := NewCodec("key")
	m, err := c.Decode(signed("key", header, "{}", "{}", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := New("s", "x_reply", &m, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	frames, err := c.Encode(reply)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(frames[3]); got != header {
		t.Errorf("parent header %s, want %s", got, header)
	}
}

func FuzzDecode(f *testing.F) {
	for _, frames := range [][][]byte{
		signed("", goodHeader, "{}", "{}", "{}"), signed("", "{}", "null", "", "[]"), {[]byte("<IDS|MSG>")}, {},
	} {
		f.Add(bytes.Join(frames, []byte{0}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := NewCodec("") // signatures would stop nearly all inputs at the door
		m, err := c.Decode(bytes.Split(data, []byte{0}))
		if err != nil {
			return
		}
		if m.Header.MsgType == "" || m.Header.MsgID == "" {
			t.Errorf("accepted %+v", m)
		}
		if _, err := New("s", "reply", &m, struct{}{}); err != nil {
			t.Errorf("cannot be replied to: %v", err)
		}
	})
}
