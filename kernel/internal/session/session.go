package session

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/history"
	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// Config says how a Session speaks. Send is required.
type Config struct {
	// Send sends a message on a channel; it must not block. Messages of one
	// channel leave in the order of the calls.
	Send func(wire.Channel, wire.Message)
	Info wire.KernelInfoReply
	// Connect says where the kernel listens.
	Connect wire.ConnectReply
	Log     *slog.Logger
	// History keeps what is run; Run closes it. Where it is nil, it is kept in
	// memory.
	History *history.Log
}

// Session answers a front end's messages. Requests to run cells wait in one
// queue; questions (completion, inspection, history...) have a goroutine of
// their own, so that a long cell delays none of them, and so has control.
type Session struct {
	cfg Config
	id  string
	nb  *Notebook

	executes  *queue[execute]
	questions *queue[wire.Message]
	controls  *queue[wire.Message]
	usage     usage         // for who answers control
	stop      chan struct{} // closed by the shutdown that ends Run
	stopOnce  sync.Once

	mu      sync.Mutex         // guards what follows
	cancel  context.CancelFunc // interrupts the running cell; nil between cells
	running *wire.Message      // the request whose cell runs
	latest  *wire.Message      // the request whose cell ran last, or runs
	// interrupted is when the running cell was interrupted; zero if it was not.
	interrupted time.Time
	question    *question // that the running cell asks; nil for none
}

// execute is a queued execute_request.
type execute struct {
	msg wire.Message
	at  time.Time // of arrival
}

// New returns a session that runs its cells in nb. Call Run to start it.
func New(nb *Notebook, cfg Config) *Session {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.History == nil {
		cfg.History = history.Open("", cfg.Log)
	}
	s := &Session{
		cfg: cfg, id: wire.NewID(), nb: nb,
		executes: newQueue[execute](), questions: newQueue[wire.Message](), controls: newQueue[wire.Message](),
		stop: make(chan struct{}),
	}
	nb.comms.mu.Lock()
	defer nb.comms.mu.Unlock()
	nb.comms.send = s.sendComm
	return s
}

// Handle takes a message that arrived; it does not block.
func (s *Session) Handle(ch wire.Channel, m wire.Message) {
	switch {
	case ch == wire.Control:
		s.controls.put(m)
	case ch == wire.Stdin:
		s.answered(&m)
	case m.Header.MsgType == "execute_request":
		s.executes.put(execute{m, time.Now()})
	default:
		s.questions.put(m)
	}
}

// Welcome is the message for a new subscriber of iopub (JEP 65).
func (s *Session) Welcome(topic []byte) (wire.Message, error) {
	m, err := wire.New(s.id, "iopub_welcome", nil, wire.Welcome{Subscription: string(topic)})
	m.Identities = [][]byte{topic} // only who has this subscription gets it
	return m, err
}

// Run answers messages until a front end asks for shutdown or ctx ends. Then
// the worker is gone.
func (s *Session) Run(ctx context.Context) error {
	s.publish(nil, "status", wire.Status{ExecutionState: "starting"})
	var all sync.WaitGroup
	all.Go(func() {
		for e, ok := s.executes.get(); ok; e, ok = s.executes.get() {
			s.execute(e)
		}
	})
	all.Go(func() {
		for m, ok := s.questions.get(); ok; m, ok = s.questions.get() {
			s.answer(wire.Shell, m)
		}
	})
	all.Go(func() {
		for m, ok := s.controls.get(); ok; m, ok = s.controls.get() {
			s.answer(wire.Control, m)
		}
	})
	select {
	case <-ctx.Done():
	case <-s.stop:
	}
	err := s.nb.Close()
	s.executes.close()
	s.questions.close()
	s.controls.close()
	all.Wait()
	s.cfg.History.Close()
	return err
}

// Interrupt interrupts the running cell, if one runs.
func (s *Session) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.interrupted = time.Now()
		s.cancel()
	}
}

// answer does what every request needs: busy, its answer, idle.
func (s *Session) answer(ch wire.Channel, m wire.Message) {
	s.publish(&m, "status", wire.Status{ExecutionState: "busy"})
	if bug := protect(func() { s.dispatch(ch, &m) }); bug != nil {
		s.cfg.Log.Error("session: answer", "type", m.Header.MsgType, "err", bug)
		f := plainFailure("KernelError", bug.Error())
		s.reply(ch, &m, strings.TrimSuffix(m.Header.MsgType, "_request")+"_reply", wire.ErrorReply{Status: "error", ErrorFields: f.fields()})
	}
	s.publish(&m, "status", wire.Status{ExecutionState: "idle"})
	// Front ends show the state that they heard last, whatever its parent.
	s.mu.Lock()
	running := s.running
	if running != nil {
		s.publish(running, "status", wire.Status{ExecutionState: "busy"})
	}
	s.mu.Unlock()
}

func (s *Session) dispatch(ch wire.Channel, m *wire.Message) {
	switch m.Header.MsgType {
	case "kernel_info_request":
		info := s.cfg.Info
		info.LanguageInfo.Engine = s.nb.Engine()
		s.reply(ch, m, "kernel_info_reply", info)
	case "complete_request":
		s.complete(ch, m)
	case "inspect_request":
		s.inspect(ch, m)
	case "is_complete_request":
		s.isComplete(ch, m)
	case "history_request":
		s.recall(ch, m)
	case "comm_info_request":
		s.commInfo(ch, m)
	case "comm_open", "comm_msg", "comm_close":
		s.comm(m)
	case "connect_request":
		s.reply(ch, m, "connect_reply", s.cfg.Connect)
	case "usage_request":
		s.reply(ch, m, "usage_reply", s.usage.tell())
	case "debug_request":
		s.refuseDebug(ch, m)
	case "interrupt_request":
		s.Interrupt()
		s.reply(ch, m, "interrupt_reply", wire.InterruptReply{Status: "ok"})
	case "shutdown_request":
		s.shutdown(ch, m)
	default:
		s.cfg.Log.Warn("session: unknown message", "channel", ch, "type", m.Header.MsgType)
	}
}

// shutdown replies when the worker and what it started are gone.
func (s *Session) shutdown(ch wire.Channel, m *wire.Message) {
	var req wire.Shutdown
	if !s.decode(ch, m, "shutdown_reply", &req) {
		return
	}
	if err := s.nb.Close(); err != nil {
		s.cfg.Log.Error("session: shutdown", "err", err)
	}
	reply := wire.Shutdown{Status: "ok", Restart: req.Restart}
	s.reply(ch, m, "shutdown_reply", reply)
	s.publish(m, "shutdown_reply", reply) // other clients hear of it too
	s.stopOnce.Do(func() { close(s.stop) })
}

// decode reads m's content; if it cannot, it replies so and returns false.
func (s *Session) decode(ch wire.Channel, m *wire.Message, replyType string, v any) bool {
	err := m.Decode(v)
	if err == nil {
		return true
	}
	s.cfg.Log.Warn("session: malformed content", "type", m.Header.MsgType, "err", err)
	f := plainFailure("ProtocolError", err.Error())
	s.reply(ch, m, replyType, wire.ErrorReply{Status: "error", ErrorFields: f.fields()})
	return false
}

func (s *Session) reply(ch wire.Channel, parent *wire.Message, msgType string, content any) {
	m, err := wire.New(s.id, msgType, parent, content)
	if err != nil {
		s.cfg.Log.Error("session: reply", "type", msgType, "err", err)
		return
	}
	m.Identities = parent.Identities
	s.cfg.Send(ch, m)
}

// publish sends to iopub; parent is nil for what no request caused.
func (s *Session) publish(parent *wire.Message, msgType string, content any) {
	m, err := wire.New(s.id, msgType, parent, content)
	if err != nil {
		s.cfg.Log.Error("session: publish", "type", msgType, "err", err)
		return
	}
	m.Identities = [][]byte{[]byte("kernel." + s.id + "." + msgType)}
	s.cfg.Send(wire.IOPub, m)
}
