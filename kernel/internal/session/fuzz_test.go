package session

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// FuzzRequests hands a session requests with any content: each gets busy and
// idle, and none ends the session.
func FuzzRequests(f *testing.F) {
	types := []string{
		"execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request", "comm_open", "comm_msg", "comm_close",
		"comm_info_request", "kernel_info_request", "interrupt_request", "usage_request", "input_reply", "nothing_request",
	}
	for i := range types {
		for _, content := range []string{`{"code":"1 + 1","cursor_pos":3}`, `{"code":7}`, `{"comm_id":"a","target_name":"b","data":{}}`, `{"hist_access_type":"search","pattern":"*","n":-1}`, `null`} {
			f.Add(byte(i), []byte(content))
		}
	}
	nb := openNotebook(f)
	idle := make(chan string, 1000)
	s := New(nb, Config{Send: func(ch wire.Channel, m wire.Message) {
		var status wire.Status
		var parent wire.Header
		if m.Header.MsgType == "status" && m.Decode(&status) == nil && status.ExecutionState == "idle" && json.Unmarshal(m.Parent, &parent) == nil {
			idle <- parent.MsgID
		}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	f.Cleanup(func() { cancel(); <-ran })
	f.Fuzz(func(t *testing.T, kind byte, content []byte) {
		if len(content) > 10_000 || !json.Valid(content) { // what package wire lets pass
			t.Skip()
		}
		m, err := wire.New("client", types[int(kind)%len(types)], nil, json.RawMessage(content))
		if err != nil {
			t.Skip()
		}
		s.Handle(wire.Shell, m)
		interrupt := time.NewTicker(50 * time.Millisecond)
		defer interrupt.Stop()
		for deadline := time.After(20 * time.Second); ; {
			select {
			case id := <-idle:
				if id == m.Header.MsgID {
					return
				}
			case <-interrupt.C:
				s.Interrupt()
			case err := <-ran:
				t.Fatalf("%s %s: the session ended: %v", m.Header.MsgType, content, err)
			case <-deadline:
				t.Fatalf("%s %s: no idle", m.Header.MsgType, content)
			}
		}
	})
}
