package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// answers fails the test unless the kernel answers a client, and soon.
func answers(t *testing.T, k *kerneltest.Client) {
	t.Helper()
	began := time.Now()
	r := k.Send("shell", "kernel_info_request", struct{}{})
	r.UntilIdle()
	var info struct{ Status string }
	if r.Reply(&info); info.Status != "ok" {
		t.Errorf("%+v", info)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a client waited %v", took)
	}
}

// TestRandomFramesStopNothing sends frames that are broken at random: cut,
// doubled, overwritten, most of them with a signature that fits.
func TestRandomFramesStopNothing(t *testing.T) {
	k := start(t)
	other := kerneltest.Connect(t, k.Connection)
	r := rand.New(rand.NewPCG(1, 2))
	types := []string{
		"execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request", "comm_open", "comm_msg",
		"comm_close", "comm_info_request", "kernel_info_request", "interrupt_request", "input_reply", "usage_request", "debug_request", "no_request", "",
	}
	contents := []string{
		`{"code":"1 + 1"}`, `{"code":1}`, `{"code":"x","cursor_pos":-5}`, `{"code":"x","cursor_pos":1e300}`, `{"code":null,"silent":"yes"}`, `{}`, `[]`, `null`, ``,
		`{"hist_access_type":"range","session":-9223372036854775808,"start":1e18,"stop":-1}`, `{"hist_access_type":"search","pattern":"[*?\\"}`,
		`{"comm_id":"","target_name":""}`, `{"comm_id":"c","target_name":"jupyter.widget","data":[]}`, `{"comm_id":{},"data":1}`, `{"value":"unasked"}`,
		`{"code":"1","user_expressions":{"a":"for {}}","b":"\u0000"}}`, `{"code":"\ud800","cursor_pos":1}`, strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000),
		`{"code":"` + strings.Repeat("(", 100_000) + `"}`, "{\"code\":\"\xff\xfe\"}", `{"code":"1","code":"2"}`, `{"detail_level":99,"code":"fmt","cursor_pos":3}`,
	}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for n := range 1500 {
		header := fmt.Sprintf(`{"msg_id":"m%d","session":"s","username":"u","date":"","msg_type":%q,"version":"5.4"}`, n, pick(types))
		parts := [][]byte{[]byte(header), []byte("{}"), []byte("{}"), []byte(pick(contents))}
		if r.IntN(3) == 0 {
			p := &parts[r.IntN(4)]
			switch b := bytes.Clone(*p); r.IntN(3) {
			case 0:
				*p = b[:r.IntN(len(b)+1)]
			case 1:
				if len(b) > 0 {
					b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
				}
				*p = b
			case 2:
				*p = append(b, b...)
			}
		}
		frames := append([][]byte{[]byte("<IDS|MSG>"), kerneltest.Sign(k.Connection.Key, parts)}, parts...)
		switch r.IntN(12) {
		case 0:
			frames = frames[:1+r.IntN(len(frames))]
		case 1:
			frames[r.IntN(len(frames))] = nil
		case 2:
			frames = append(frames, frames...)
		case 3:
			frames = append(frames, bytes.Repeat([]byte("buffer"), r.IntN(10_000)))
		}
		k.SendFrames([]string{"shell", "control", "stdin"}[r.IntN(3)], frames)
		if n%300 == 0 {
			answers(t, other)
		}
	}
	answers(t, other)
	// Whatever ran is over; the next cell runs as ever.
	var reply kerneltest.ExecuteReply
	next := other.ExecuteWith(map[string]any{"code": "40 + 2", "stop_on_error": false})
	next.UntilIdle()
	if next.Reply(&reply); reply.Status != "ok" {
		t.Errorf("%+v", reply)
	}
}

func TestHugeMessages(t *testing.T) {
	k := start(t)
	other := kerneltest.Connect(t, k.Connection)
	for _, code := range []string{"// " + strings.Repeat("x", 16<<20), "\"" + strings.Repeat("y", 4<<20), strings.Repeat("\n", 4<<20) + "1"} {
		r := k.Execute(code)
		answers(t, other) // meanwhile
		r.UntilIdle()
		r.Reply(nil)
	}
	answers(t, other)
}

// TestPeersThatAreNoClients: whoever connects and does not speak ZeroMQ, or
// stops in the middle, delays nobody, on any port.
func TestPeersThatAreNoClients(t *testing.T) {
	k := start(t)
	// ZMTP 3.0's greeting and READY (23/ZMTP), then a frame that begins.
	greeting := string(append([]byte("\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00NULL"), make([]byte, 48)...))
	ready := func(kind string) string {
		body := "\x05READY\x0bSocket-Type\x00\x00\x00" + string(rune(len(kind))) + kind
		return "\x04" + string(rune(len(body))) + body
	}
	c := k.Connection
	for _, says := range []string{
		"", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("\x00", 1<<20), greeting, greeting[:20], greeting + ready("DEALER")[:10],
		greeting + ready("DEALER") + "\x00\x05ab",
		greeting + ready("DEALER") + "\x02\x00\x04\x00\x00\x00\x00\x00\x00", // 2^50 bytes to come
		greeting + ready("DEALER") + "\x03\xff\xff\xff\xff\xff\xff\xff\xff",
		greeting + ready("SUB") + "\x02\x00\x04\x00\x00\x00\x00\x00\x00",
	} {
		for _, port := range []int{c.ShellPort, c.ControlPort, c.IOPubPort, c.StdinPort, c.HBPort} {
			conn, err := net.Dial("tcp", net.JoinHostPort(c.IP, sprint(port)))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetWriteDeadline(time.Now().Add(time.Second))
			conn.Write([]byte(says)) // the kernel may hang up meanwhile
		}
		answers(t, k.Client)
		k.Heartbeat("alive")
		answers(t, kerneltest.Connect(t, k.Connection)) // who comes later, too
	}
	if got := peak(t, k.Process.Pid); got > 300<<20 {
		t.Errorf("the kernel had %d MB", got>>20)
	}
}

// logged is a log that is kept.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestConnectionFiles(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	inUse := sprint(busy.Addr().(*net.TCPAddr).Port)
	file := func(port string) string {
		return `{"transport":"tcp","ip":"127.0.0.1","shell_port":0,"control_port":0,"iopub_port":0,"stdin_port":` + port + `,"hb_port":0,"key":"k","signature_scheme":"hmac-sha256"}`
	}
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		want, log  string // of the error, and of the log
	}{
		{"others may read it", file("0"), 0o644, "", "lets others read it"},
		{"others may write it", file("0"), 0o666, "lets others write it", ""},
		{"its owner alone may read it", file("0"), 0o600, "", ""},
		{"a port in use", file(inUse), 0o600, "bind tcp://127.0.0.1:" + inUse + ": address already in use", ""},
		{"a port that is none", file("70000"), 0o600, "stdin_port is 70000", ""},
		{"an unknown signature", strings.Replace(file("0"), "hmac-sha256", "md5", 1), 0o600, "only hmac-sha256 is known", ""},
		{"empty", "", 0o600, "unexpected end of JSON input", ""},
		{"binary", "\x00\xff", 0o600, "invalid character", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "connection.json")
			if err := os.WriteFile(name, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, test.mode); err != nil {
				t.Fatal(err)
			}
			var log logged
			ctx, cancel := context.WithCancel(context.Background())
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				done <- kernel.Serve(ctx, name, kernel.Options{Command: []string{self, "worker"}, Log: slog.New(slog.NewTextHandler(&log, nil))})
			}()
			if test.want == "" { // it goes on: until we end it
				time.AfterFunc(200*time.Millisecond, cancel)
			}
			defer cancel()
			select {
			case err = <-done:
			case <-time.After(kerneltest.Patience):
				t.Fatal("Serve goes on")
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if got := log.String(); test.log != "" && !strings.Contains(got, test.log) || test.log == "" && strings.Contains(got, "lets others") {
				t.Errorf("the log is %q, want %q", got, test.log)
			}
		})
	}
}

// TestALogOfBadMessagesIsBounded: who sends nothing but garbage does not fill
// the log.
func TestALogOfBadMessagesIsBounded(t *testing.T) {
	k := start(t)
	for range 5000 {
		k.SendFrames("shell", [][]byte{[]byte("<IDS|MSG>"), []byte("bad"), []byte("{}"), []byte("{}"), []byte("{}"), []byte("{}")})
	}
	answers(t, k.Client)
	if n := strings.Count(k.Stderr(), "message dropped"); n == 0 || n > 100 {
		t.Errorf("%d lines of the log are about dropped messages", n)
	}
}
