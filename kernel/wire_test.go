package kernel_test

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// TestWhatIsNoMessageIsDropped sends what a broken or hostile client could,
// and sees that the kernel goes on and answers none of it.
func TestWhatIsNoMessageIsDropped(t *testing.T) {
	k := start(t)
	_, good := k.Frames("kernel_info_request", struct{}{})
	change := func(i int, frame string) [][]byte {
		frames := append([][]byte(nil), good...)
		frames[i] = []byte(frame)
		return frames
	}
	signed := func(parts ...string) [][]byte {
		frames := [][]byte{[]byte("<IDS|MSG>"), nil}
		for _, p := range parts {
			frames = append(frames, []byte(p))
		}
		frames[1] = kerneltest.Sign(k.Connection.Key, frames[2:])
		return frames
	}
	for _, frames := range [][][]byte{
		change(1, "0000"), change(1, ""), change(5, `{"code":"1"}`), // signatures that do not fit
		change(0, "nothing"), good[:1], good[:4], {nil},
		signed("{", "{}", "{}", "{}"), signed("{}", "{}", "{}", "{}"), signed("[]", "null", "1", "x"),
		signed(`{"msg_id":"a","msg_type":"nonsense_request"}`, "{}", "{}", "{}"),
	} {
		k.SendFrames("shell", frames)
		k.SendFrames("control", frames)
		k.SendFrames("stdin", frames)
	}
	var info struct{ Status string }
	ask(k, "shell", "kernel_info_request", struct{}{}, &info)
	if info.Status != "ok" {
		t.Errorf("%+v", info)
	}
}

func TestAReplayIsDropped(t *testing.T) {
	k := start(t)
	run(k, 1, "x := 0")
	_, frames := k.Frames("execute_request", map[string]any{"code": "x++", "silent": false, "store_history": true})
	k.SendFrames("shell", frames)
	k.SendFrames("shell", frames)
	r := k.Execute("x")
	r.Busy()
	r.Input(3)
	r.Result("1")
	r.ReplyOK(3)
	r.Idle()
}

func TestContentThatDoesNotFitGetsAnErrorReply(t *testing.T) {
	k := start(t)
	for _, msgType := range []string{"execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request"} {
		r := k.Send("shell", msgType, map[string]any{"code": 5, "hist_access_type": 5})
		r.Busy()
		var reply struct {
			Status string
			kerneltest.Failure
		}
		r.Reply(&reply)
		if reply.Status != "error" || reply.EName == "" || reply.EValue == "" || len(reply.Traceback) == 0 {
			t.Errorf("%s: %+v", msgType, reply)
		}
		r.Idle()
	}
	run(k, 1, "x := 1")
}

func TestASecondClientSeesTheOutputs(t *testing.T) {
	k := start(t)
	other := kerneltest.Connect(t, k.Connection)
	r := k.Execute(`fmt.Println("hi")`)
	seen := r.SeenBy(other)
	seen.Busy()
	seen.Input(1)
	seen.Stream("stdout", "hi\n")
	seen.Idle()
}
