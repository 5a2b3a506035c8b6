package kernel_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// openComms asks which comms are open, of a target or of all.
func openComms(k *kerneltest.Kernel, target string) string {
	var info struct {
		Status string
		Comms  map[string]struct {
			Target string `json:"target_name"`
		}
	}
	ask(k, "shell", "comm_info_request", map[string]any{"target_name": target}, &info)
	list := []string{info.Status}
	for _, id := range slices.Sorted(maps.Keys(info.Comms)) {
		list = append(list, id+" "+info.Comms[id].Target)
	}
	return strings.Join(list, "|")
}

func TestACommToNobodyIsClosed(t *testing.T) {
	k := start(t)
	if got := openComms(k, ""); got != "ok" {
		t.Errorf("%q", got)
	}
	r := k.Send("shell", "comm_open", map[string]any{"comm_id": "c1", "target_name": "nobody", "data": map[string]any{}})
	r.Busy()
	if id := r.CommClose(); id != "c1" {
		t.Errorf("comm %q is closed, want c1", id)
	}
	r.Idle()
	k.SendComm("comm_msg", kerneltest.Comm{ID: "c1"})
	k.SendComm("comm_close", kerneltest.Comm{ID: "never"})
	r = k.Send("shell", "comm_open", map[string]any{"comm_id": 5})
	r.Busy()
	r.Idle()
}

func TestThePageOpensAComm(t *testing.T) {
	k := start(t)
	r := k.Execute(`nb.CommTarget("echo", func(c *nb.Comm, m nb.CommMessage) {
	fmt.Println("opened with", m.Data["a"], m.Metadata["b"])
	c.OnMessage(func(m nb.CommMessage) {
		m.Data["again"] = true
		must0(c.SendMessage(m))
	})
	c.OnClose(func(nb.CommMessage) { fmt.Println("closed") })
})`)
	r.Busy()
	r.Input(1)
	r.ReplyOK(1)
	r.Idle()
	k.SendComm("comm_open", kerneltest.Comm{ID: "c1", Target: "echo", Data: map[string]any{"a": 1}})
	r.Stream("stdout", "opened with 1 <nil>\n")
	if got := openComms(k, "echo"); got != "ok|c1 echo" {
		t.Errorf("%q", got)
	}
	if got := openComms(k, "other"); got != "ok" {
		t.Errorf("%q", got)
	}
	k.SendComm("comm_msg", kerneltest.Comm{ID: "c1", Data: map[string]any{"n": 2}, Buffers: [][]byte{{0, 255}, {}}})
	if m := r.CommMsg(); m.ID != "c1" || fmt.Sprint(m.Data) != "map[again:true n:2]" || fmt.Sprint(m.Buffers) != "[[0 255] []]" {
		t.Errorf("%+v", m)
	}
	k.SendComm("comm_close", kerneltest.Comm{ID: "c1"})
	r.Stream("stdout", "closed\n")
	k.SendComm("comm_msg", kerneltest.Comm{ID: "c1", Data: map[string]any{"n": 3}})
	if got := openComms(k, ""); got != "ok" {
		t.Errorf("%q", got)
	}
	// A target that is taken away.
	run(k, 2, `nb.CommTarget("echo", nil)`)
	r = k.Send("shell", "comm_open", map[string]any{"comm_id": "c2", "target_name": "echo", "data": map[string]any{}})
	r.Busy()
	r.CommClose()
	r.Idle()
}

func TestACellOpensAComm(t *testing.T) {
	k := start(t)
	r := k.Execute(`came := make(chan string)
c := must(nb.OpenComm("page", map[string]any{"hello": "page"}))
c.OnMessage(func(m nb.CommMessage) { came <- fmt.Sprint(m.Data["say"]) })
fmt.Println("on")
said := <-came // while the cell runs
must0(c.Send(map[string]any{"heard": said}))
must0(c.Close())
fmt.Println(c.Send(nil))`)
	r.Busy()
	r.Input(1)
	open := r.CommOpen()
	if open.Target != "page" || open.Data["hello"] != "page" || open.ID == "" {
		t.Errorf("%+v", open)
	}
	r.Stream("stdout", "on\n")
	if got := openComms(k, ""); got != "ok|"+open.ID+" page" {
		t.Errorf("%q", got)
	}
	r.BusyAgain()
	k.Send("shell", "comm_msg", kerneltest.Comm{ID: open.ID, Data: map[string]any{"say": "hi"}})
	want := []string{
		`comm_msg {"comm_id":"` + open.ID + `","data":{"heard":"hi"}}`, `comm_close {"comm_id":"` + open.ID + `","data":{}}`,
		`stream {"name":"stdout","text":"nb: send a comm message: the comm is closed\n"}`,
	}
	if got := shownUntilIdle(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.ReplyOK(1)
}

// shownUntilIdle lists what comes for the request, but for its status: the busy
// that follows another request comes at its own time.
func shownUntilIdle(r *kerneltest.Request) (list []string) {
	for _, m := range r.UntilIdle() {
		if m.Header.MsgType != "status" {
			list = append(list, m.Header.MsgType+" "+string(m.Content))
		}
	}
	return list
}

func TestAPanicInWhatGetsMessages(t *testing.T) {
	k := start(t)
	r := k.Execute(`n := 0
nb.CommTarget("faulty", func(c *nb.Comm, m nb.CommMessage) {
	c.OnMessage(func(m nb.CommMessage) {
		n++
		var none map[string]int
		none["a"] = n
	})
})`)
	r.Busy()
	r.Input(1)
	r.ReplyOK(1)
	r.Idle()
	k.SendComm("comm_open", kerneltest.Comm{ID: "c1", Target: "faulty"})
	for range 2 {
		k.SendComm("comm_msg", kerneltest.Comm{ID: "c1"})
		if name, text := r.AnyStream(); name != "stderr" || !strings.Contains(text, "assignment to entry in nil map") {
			t.Errorf("%q", text)
		}
	}
	r = k.Execute("n")
	r.Busy()
	r.Input(2)
	r.Result("2")
	r.ReplyOK(2)
	r.Idle()
}

func TestCommsAfterAnInterrupt(t *testing.T) {
	k := start(t)
	r := k.Execute(`nb.CommTarget("echo", func(c *nb.Comm, m nb.CommMessage) {
	c.OnMessage(func(m nb.CommMessage) { c.Send(m.Data) })
})
fmt.Println("on")
for {}`)
	r.Busy()
	r.Input(1)
	r.Stream("stdout", "on\n")
	k.Interrupt()
	r.Error()
	r.ReplyError(1)
	r.Idle()
	k.SendComm("comm_open", kerneltest.Comm{ID: "c1", Target: "echo"})
	k.SendComm("comm_msg", kerneltest.Comm{ID: "c1", Data: map[string]any{"n": 2}})
	if m := r.CommMsg(); fmt.Sprint(m.Data) != "map[n:2]" {
		t.Errorf("%+v", m)
	}
}

func TestCommsEndWithTheirWorker(t *testing.T) {
	k := start(t)
	r := k.Execute(`c := must(nb.OpenComm("page", nil))
nb.CommTarget("echo", func(c *nb.Comm, m nb.CommMessage) {})`)
	r.Busy()
	r.Input(1)
	id := r.CommOpen().ID
	r.ReplyOK(1)
	r.Idle()
	syscall.Kill(k.Children()[0], syscall.SIGKILL)
	if got := r.CommClose(); got != id {
		t.Errorf("%q is closed, want %q", got, id)
	}
	if got := openComms(k, ""); got != "ok" {
		t.Errorf("%q", got)
	}
	r = k.Send("shell", "comm_open", map[string]any{"comm_id": "c2", "target_name": "echo", "data": map[string]any{}})
	r.Busy()
	r.CommClose()
	r.Idle()
	r = k.Execute("x := 1")
	r.UntilIdle() // it is told of the death
	r.ReplyOK(2)
}

// TestWidgets speaks as ipywidgets in a page does.
func TestWidgets(t *testing.T) {
	k := start(t)
	r := k.Execute(`moved := []float64{}
s := nb.NewSlider("alpha", 1, 8, 4)
s.OnChange(func(v float64) { moved = append(moved, v); fmt.Println("moved to", v) })
s`)
	r.Busy()
	r.Input(1)
	models := map[string]kerneltest.Comm{}
	for range 3 {
		m := r.CommOpen()
		state, _ := m.Data["state"].(map[string]any)
		if m.Target != "jupyter.widget" || m.Metadata["version"] != "2.1.0" || m.Data["buffer_paths"] == nil {
			t.Errorf("%+v", m)
		}
		models[fmt.Sprint(state["_model_name"])] = m
	}
	slider := models["FloatSliderModel"]
	state, _ := slider.Data["state"].(map[string]any)
	for name, want := range map[string]any{
		"_model_module": "@jupyter-widgets/controls", "_model_module_version": "2.0.0", "_view_name": "FloatSliderView",
		"description": "alpha", "min": 1.0, "max": 8.0, "value": 4.0, "step": 0.1,
		"layout": "IPY_MODEL_" + models["LayoutModel"].ID, "style": "IPY_MODEL_" + models["SliderStyleModel"].ID,
	} {
		if state[name] != want {
			t.Errorf("%s is %v, want %v", name, state[name], want)
		}
	}
	b := r.Result("alpha: 4 (from 1 to 8)")
	view, _ := b.Data["application/vnd.jupyter.widget-view+json"].(map[string]any)
	if view["model_id"] != slider.ID || view["version_major"] != 2.0 || b.Data["text/html"] != "<p>alpha: 4 (from 1 to 8)</p>" {
		t.Errorf("%+v", b.Data)
	}
	r.ReplyOK(1)
	r.Idle()
	k.SendComm("comm_msg", kerneltest.Comm{ID: slider.ID, Data: map[string]any{"method": "update", "state": map[string]any{"value": 6.5}, "buffer_paths": []any{}}})
	r.Stream("stdout", "moved to 6.5\n")
	// A page that is opened anew asks for all models.
	k.SendComm("comm_open", kerneltest.Comm{ID: "ctl", Target: "jupyter.widget.control"})
	k.SendComm("comm_msg", kerneltest.Comm{ID: "ctl", Data: map[string]any{"method": "request_states"}})
	all := r.CommMsg()
	states, _ := all.Data["states"].(map[string]any)
	mine, _ := states[slider.ID].(map[string]any)
	if state, _ = mine["state"].(map[string]any); all.Data["method"] != "update_states" || len(states) != 3 || mine["model_name"] != "FloatSliderModel" || state["value"] != 6.5 {
		t.Errorf("%+v", all.Data)
	}
	k.SendComm("comm_msg", kerneltest.Comm{ID: slider.ID, Data: map[string]any{"method": "request_state"}})
	if m := r.CommMsg(); m.Data["method"] != "update" {
		t.Errorf("%+v", m)
	}

	r = k.Execute("s.Set(2)\nfmt.Sprint(s.Value(), moved)")
	r.Busy()
	r.Input(2)
	if m := r.CommMsg(); m.ID != slider.ID || fmt.Sprint(m.Data["state"]) != "map[value:2]" || m.Data["method"] != "update" {
		t.Errorf("%+v", m)
	}
	r.Result("2 [6.5]")
	r.ReplyOK(2)
	r.Idle()

	r = k.Execute("presses := make(chan bool)\nb := nb.NewButton(\"go\", func() { presses <- true })\nnb.Display(b)\n<-presses\ng := nb.NewGauge(\"done\", 3)\ng.Set(2)\ng")
	r.Busy()
	r.Input(3)
	r.CommOpen()
	r.CommOpen()
	button := r.CommOpen()
	if b := r.Display(); b.Text() != "[go]" {
		t.Errorf("%+v", b)
	}
	k.Send("shell", "comm_msg", kerneltest.Comm{ID: button.ID, Data: map[string]any{"method": "custom", "content": map[string]any{"event": "click"}}})
	shown := shownUntilIdle(r)
	if n := len(shown); n != 5 || !strings.Contains(shown[2], "FloatProgressModel") || !strings.Contains(shown[3], `"state":{"value":2}`) || !strings.Contains(shown[4], "done: 2 of 3") {
		t.Errorf("%q", shown)
	}
	r.ReplyOK(3)
}
