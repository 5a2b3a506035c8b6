package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// Extend appends to many branches, each named at most once, in as few decodes
// as SessionOptions.Batch allows. rows[i] answers steps[i]; the row of a step
// that reads nothing is empty.
//
// On an error, also of a cancelled ctx, every branch is as it was before the
// call, save in models that cannot forget a part of a sequence (recurrent
// ones): there the named branches can only be dropped. ctx ends a decode
// within a fraction of a layer.
func (s *Session) Extend(ctx context.Context, steps []Step) (rows []Row, err error) {
	if err := s.enter(); err != nil {
		return nil, fmt.Errorf("llm: extend: %w", err)
	}
	defer s.leave()
	x, err := s.newExtension(steps)
	if err == nil {
		err = x.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("llm: extend: %w", err)
	}
	return x.rows, nil
}

// extension is one call of Extend.
type extension struct {
	s        *Session
	steps    []Step
	branches []*branch // by step
	done     []int     // tokens of each step that are in the cache
	rows     []Row
	logits   [][]float32 // of each step, with SessionOptions.KeepLogits
}

// newExtension checks everything that can be checked before decoding.
func (s *Session) newExtension(steps []Step) (*extension, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &extension{s: s, steps: steps, branches: make([]*branch, len(steps)), done: make([]int, len(steps)), rows: make([]Row, len(steps)), logits: make([][]float32, len(steps))}
	seen := make(map[Branch]bool, len(steps))
	total := 0
	for i, st := range steps {
		b := s.branches[st.Branch]
		if b == nil || b.broken {
			return nil, fmt.Errorf("branch %d: %w", st.Branch, ErrBranch)
		}
		if seen[st.Branch] {
			return nil, fmt.Errorf("%w: branch %d is named twice", ErrStep, st.Branch)
		}
		seen[st.Branch] = true
		if err := s.model.checkStep(st); err != nil {
			return nil, fmt.Errorf("branch %d: %w: %w", st.Branch, ErrStep, err)
		}
		if need := b.len + len(st.Tokens); need > s.limit {
			return nil, fmt.Errorf("branch %d: %w", st.Branch, &FitError{Need: need, Have: s.limit, Of: "context"})
		}
		x.branches[i] = b
		total += len(st.Tokens)
	}
	if room := s.cells - s.used; total > room {
		return nil, &FitError{Need: total, Have: room, Of: "KV cache"}
	}
	return x, nil
}

// checkStep finds what no session could do.
func (m *Model) checkStep(st Step) error {
	if len(st.Tokens) == 0 {
		return errors.New("no tokens")
	}
	for _, list := range [2][]Token{st.Tokens, st.Score} {
		for _, t := range list {
			if t < 0 || int(t) >= m.facts.Vocabulary {
				return fmt.Errorf("token %d is outside the vocabulary of %d", t, m.facts.Vocabulary)
			}
		}
	}
	if st.Top < 0 {
		return fmt.Errorf("top %d tokens wanted", st.Top)
	}
	if st.Power < 0 || math.IsNaN(st.Power) || math.IsInf(st.Power, 0) {
		return fmt.Errorf("power is %v, want a positive number", st.Power)
	}
	for _, u := range st.Draws {
		if !(u >= 0 && u < 1) {
			return fmt.Errorf("draw at %v, want a number in [0, 1)", u)
		}
	}
	return nil
}

// A part is the tokens from..to of one step in a decode.
type part struct{ step, from, to int }

func (x *extension) run(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		x.s.c.Stop(true)
		close(done)
	})
	defer func() {
		if !stop() {
			<-done // so that it does not end the next call
			x.s.c.Stop(false)
		}
		if err != nil {
			x.undo()
		} else {
			x.keep()
		}
	}()
	var parts []part
	n := 0
	for i, st := range x.steps {
		for from := 0; from < len(st.Tokens); {
			to := min(len(st.Tokens), from+x.s.c.Batch-n)
			parts = append(parts, part{i, from, to})
			n += to - from
			from = to
			if n == x.s.c.Batch {
				if err := x.decode(ctx, parts); err != nil {
					return err
				}
				parts, n = parts[:0], 0
			}
		}
	}
	if n > 0 {
		return x.decode(ctx, parts)
	}
	return nil
}

// decode runs one batch and reads its rows, before the next overwrites them.
func (x *extension) decode(ctx context.Context, parts []part) error {
	s := x.s
	var batch llama.Batch
	var reads []read
	for _, p := range parts {
		b, st := x.branches[p.step], x.steps[p.step]
		for k := p.from; k < p.to; k++ {
			batch.Token = append(batch.Token, int32(st.Tokens[k]))
			batch.Pos = append(batch.Pos, int32(b.len+k-p.from))
			batch.Seq = append(batch.Seq, b.seq)
			batch.Out = append(batch.Out, 0)
		}
		if p.to == len(st.Tokens) && (st.Reads() || s.opt.KeepLogits) {
			at := len(batch.Out) - 1
			batch.Out[at] = 1
			reads = append(reads, read{step: p.step, at: at})
		}
	}

	start := time.Now()
	err := x.timed(ctx, batch, parts)
	took := time.Since(start)
	s.mu.Lock()
	s.decode += took
	if err == nil {
		for _, p := range parts {
			x.branches[p.step].append(p.to - p.from)
			x.done[p.step] += p.to - p.from
			s.used += p.to - p.from
		}
	}
	s.mu.Unlock()
	switch {
	case errors.Is(err, llama.ErrAborted):
		return ctx.Err()
	case errors.Is(err, llama.ErrNoSlot):
		return &FitError{Need: len(batch.Token), Have: s.Room(), Of: "KV cache"}
	case err != nil:
		return err
	}
	return x.read(reads)
}

// timed runs one batch with the threads that pace chooses; if that takes too
// long because other processes want the cores, it starts again with one.
func (x *extension) timed(ctx context.Context, batch llama.Batch, parts []part) error {
	s, n := x.s, len(batch.Token)
	choice := s.pace.choose(n, time.Now(), idleCores)
	for {
		s.c.SetThreads(choice.threads)
		late := s.stopAfter(choice.limit)
		start := time.Now()
		err := s.c.Decode(batch)
		took := time.Since(start)
		again := late() && errors.Is(err, llama.ErrAborted) && ctx.Err() == nil
		if err == nil || again {
			s.pace.learn(choice.threads, n, took, s.c.CPUSeconds()/took.Seconds(), time.Now())
		}
		if !again {
			return err
		}
		for _, p := range parts {
			s.c.Remove(int(x.branches[p.step].seq), x.branches[p.step].len)
		}
		choice.threads, choice.limit = 1, 0
	}
}

// stopAfter stops a decode that still runs after limit; 0 is no limit. The
// caller calls late when the decode has ended: it says whether the limit
// passed, and lets decodes run again.
func (s *Session) stopAfter(limit time.Duration) (late func() bool) {
	if limit == 0 {
		return func() bool { return false }
	}
	done := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		s.c.Late(true)
		close(done)
	})
	return func() bool {
		if timer.Stop() {
			return false
		}
		<-done
		s.c.Late(false)
		return true
	}
}

// undo takes back what this call appended.
func (x *extension) undo() {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range x.branches {
		old := b.len - x.done[i]
		if s.c.Remove(int(b.seq), old) {
			if x.done[i] > 0 {
				b.tip.len -= x.done[i] // a span of its own since the first append
				b.len = old
				s.used -= x.done[i]
			}
			continue
		}
		b.broken = true
	}
}
