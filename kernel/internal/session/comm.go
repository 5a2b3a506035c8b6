package session

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/wire"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// comms are the conversations between the page and the code of cells. Which
// functions they end in, the worker knows; here is what can be opened and is
// open.
type comms struct {
	mu      sync.Mutex
	worker  *worker.Process // whose they are
	targets map[string]bool
	open    map[string]string // targets by id
	send    func(worker.Comm) // to the page
}

// sent passes on a comm message of a cell's.
func (c *comms) sent(m worker.Comm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Type {
	case "comm_open":
		c.open[m.ID] = m.Target
	case "comm_close":
		delete(c.open, m.ID)
	}
	if c.send != nil {
		c.send(m)
	}
}

func (c *comms) target(name string, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there {
		c.targets[name] = true
	} else {
		delete(c.targets, name)
	}
}

// serve begins to serve another worker's comms; those of the one before are
// closed.
func (c *comms) serve(w *worker.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
	c.worker = w
	go func() {
		<-w.Gone()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.worker == w {
			c.close()
		}
	}()
}

// close closes all comms: their worker is gone. It is called with mu held.
func (c *comms) close() {
	for id := range c.open {
		if c.send != nil {
			c.send(worker.Comm{Type: "comm_close", ID: id})
		}
	}
	c.open, c.targets = map[string]string{}, map[string]bool{}
}

// received takes note of a message of the page, and reports whether it has
// somebody to get it.
func (c *comms) received(m worker.Comm) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Type {
	case "comm_open":
		if !c.targets[m.Target] {
			return false
		}
		c.open[m.ID] = m.Target
		return true
	case "comm_close":
		defer delete(c.open, m.ID)
	}
	_, open := c.open[m.ID]
	return open
}

// comm handles a comm message of the page. One to a target that nobody has
// registered is closed, as the protocol has it.
func (s *Session) comm(m *wire.Message) {
	var content struct {
		wire.CommMsg
		TargetName string `json:"target_name"`
	}
	err := m.Decode(&content)
	if err == nil && content.CommID == "" {
		err = errors.New("no comm_id")
	}
	c := worker.Comm{Type: m.Header.MsgType, ID: content.CommID, Target: content.TargetName, Data: content.Data, Buffers: m.Buffers}
	if err == nil && len(m.Metadata) > 0 {
		err = json.Unmarshal(m.Metadata, &c.Metadata)
	}
	switch {
	case err != nil:
		s.cfg.Log.Warn("session: malformed comm message", "type", m.Header.MsgType, "err", err)
	case s.nb.comms.received(c):
		process, _, _ := s.nb.current()
		if err := process.SendComm(c); err != nil {
			s.cfg.Log.Warn("session: comm", "err", err) // the worker ends, and its comms with it
		}
	case c.Type == "comm_open":
		s.publish(m, "comm_close", wire.CommMsg{CommID: c.ID, Data: map[string]any{}})
	default: // of a comm that is closed: the protocol ignores them
	}
}

// sendComm publishes a comm message of a cell's.
func (s *Session) sendComm(c worker.Comm) {
	var content any = wire.CommMsg{CommID: c.ID, Data: orEmpty(c.Data)}
	if c.Type == "comm_open" {
		content = wire.CommOpen{CommID: c.ID, TargetName: c.Target, Data: orEmpty(c.Data)}
	}
	s.mu.Lock()
	parent := s.latest
	s.mu.Unlock()
	m, err := wire.New(s.id, c.Type, parent, content)
	if err == nil && c.Metadata != nil {
		m.Metadata, err = json.Marshal(c.Metadata)
	}
	if err != nil {
		s.cfg.Log.Error("session: publish", "type", c.Type, "err", err)
		return
	}
	m.Buffers = c.Buffers
	m.Identities = [][]byte{[]byte("kernel." + s.id + "." + c.Type)}
	s.cfg.Send(wire.IOPub, m)
}

func (s *Session) commInfo(ch wire.Channel, m *wire.Message) {
	var req wire.CommInfoRequest
	if !s.decode(ch, m, "comm_info_reply", &req) {
		return
	}
	reply := wire.CommInfoReply{Status: "ok", Comms: map[string]wire.CommInfo{}}
	s.nb.comms.mu.Lock()
	for id, target := range s.nb.comms.open {
		if req.TargetName == "" || req.TargetName == target {
			reply.Comms[id] = wire.CommInfo{TargetName: target}
		}
	}
	s.nb.comms.mu.Unlock()
	s.reply(ch, m, "comm_info_reply", reply)
}
