package llm

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// SessionOptions size a session. The zero value is a session for the
// samplers on a machine with a few cores.
type SessionOptions struct {
	// Context is the number of tokens in the KV cache, which all branches of
	// the session share. Zero means the model's Options.Context, or else 4096
	// or what the model was trained for, whichever is less.
	Context int
	// Branches is how many branches can be open. Zero means as many as
	// llama.cpp can, 256.
	Branches int
	// Batch is the number of tokens of one decode; larger steps are split.
	// Zero means 512.
	Batch int
	// Threads is the number of threads that compute. Zero means the model's
	// Options.Threads.
	Threads int
	// KeepLogits makes Logits work: the last row of each branch is kept,
	// which costs 4 bytes × vocabulary × branches.
	KeepLogits bool
}

// Session is a KV cache and the branches of text that it holds.
//
// It is used by one goroutine at a time; calls that overlap fail with
// ErrInUse. A model can have many sessions, each used by its own goroutine.
type Session struct {
	model *Model
	opt   SessionOptions // with defaults filled in
	c     *llama.Context
	pace  pace
	cells int // tokens of KV cache
	limit int // tokens of one branch

	release func() // gives up the model's weights
	cleanup runtime.Cleanup

	busy atomic.Bool // a call that changes branches is running

	mu       sync.Mutex // guards all below
	closed   bool
	branches map[Branch]*branch
	free     []int32 // sequence ids that no branch has
	last     Branch  // the newest name given
	used     int     // cells filled
	decode   time.Duration
}

// kept is what outlives a Session that nobody closed, until it is collected.
type kept struct {
	c       *llama.Context
	release func()
}

func (k kept) free() {
	k.c.Free()
	k.release()
}

// defaultContext is a notebook's prompt and 1,024 rollout tokens with ample
// room: 94 MB of KV cache on a 135M model, 512 MB on an 8B one.
const defaultContext = 4096

// NewSession opens a session with an empty cache. Close it to free the cache.
func (m *Model) NewSession(o SessionOptions) (*Session, error) {
	release, err := m.use()
	if err != nil {
		return nil, fmt.Errorf("llm: new session: %w", err)
	}
	trained := m.facts.ContextTrain
	if o.Context == 0 {
		o.Context = m.context()
	}
	if o.Branches == 0 || o.Branches > llama.MaxSequences() {
		o.Branches = llama.MaxSequences()
	}
	if o.Batch == 0 {
		o.Batch = 512
	}
	if o.Threads == 0 {
		o.Threads = m.opt.Threads
	}
	pace := fixedPace(o.Threads)
	if o.Threads == 0 {
		o.Threads = cores()
		pace = adaptivePace(o.Threads)
	}
	if m.facts.Recurrent || m.facts.Hybrid { // a stopped decode cannot be done again
		pace = fixedPace(o.Threads)
	}
	if o.Context < 0 || o.Branches < 0 || o.Batch < 0 || o.Threads < 0 {
		release()
		return nil, fmt.Errorf("llm: new session: negative size in %+v", o)
	}
	c, err := m.m.NewContext(llama.ContextParams{
		Cells: o.Context, Batch: o.Batch, MicroBatch: min(o.Batch, 512),
		Sequences: o.Branches, Threads: o.Threads, Poll: idlePoll,
	})
	if err != nil {
		release()
		return nil, fmt.Errorf("llm: new session with a context of %d tokens: %w", o.Context, err)
	}
	s := &Session{model: m, opt: o, c: c, pace: pace, release: release, cells: o.Context, limit: o.Context, branches: make(map[Branch]*branch)}
	if trained > 0 {
		s.limit = min(s.limit, trained)
	}
	for seq := range int32(o.Branches) {
		s.free = append(s.free, int32(o.Branches)-1-seq)
	}
	s.cleanup = runtime.AddCleanup(s, func(k kept) { k.free() }, kept{c, release})
	return s, nil
}

// enter marks a call that changes the session; leave ends it.
func (s *Session) enter() error {
	if !s.busy.CompareAndSwap(false, true) {
		return ErrInUse
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.busy.Store(false)
		return ErrClosed
	}
	return nil
}

func (s *Session) leave() { s.busy.Store(false) }

// Close frees the cache and drops all branches. Closing twice does nothing;
// closing during a call of another goroutine fails with ErrInUse.
func (s *Session) Close() error {
	switch err := s.enter(); err {
	case nil:
	case ErrClosed:
		return nil
	default:
		return fmt.Errorf("llm: close session: %w", err)
	}
	defer s.leave()
	s.mu.Lock()
	s.closed = true
	s.branches, s.free = nil, nil
	s.used = 0
	s.mu.Unlock()
	s.cleanup.Stop()
	kept{s.c, s.release}.free()
	return nil
}

// Len is the number of tokens in br; 0 if there is no such branch.
func (s *Session) Len(br Branch) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.branches[br]; b != nil {
		return b.len
	}
	return 0
}

// Limit is the number of tokens that one branch may hold: the context, or
// what the model was trained for if that is less.
func (s *Session) Limit() int { return s.limit }

// Room is how many further tokens fit now, summed over all branches.
func (s *Session) Room() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	return s.cells - s.used
}

// Branches is how many further branches can be opened now.
func (s *Session) Branches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.free)
}

// DecodeSeconds is the time spent in llama_decode since the session opened.
func (s *Session) DecodeSeconds() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decode.Seconds()
}

// Model is the model that the session decodes with.
func (s *Session) Model() *Model { return s.model }

// IsEnd is Model.IsEnd.
func (s *Session) IsEnd(t Token) bool { return s.model.IsEnd(t) }

// Piece is Model.Piece.
func (s *Session) Piece(t Token) []byte { return s.model.Piece(t) }

// Info describes the weights and what computes with them.
func (s *Session) Info() (ModelInfo, EngineInfo) {
	return s.model.Info(), EngineInfo{
		Name: llama.Name, Commit: llama.Commit, Build: s.model.build, CPU: s.model.cpu,
		Threads: s.opt.Threads, Context: s.cells,
	}
}
