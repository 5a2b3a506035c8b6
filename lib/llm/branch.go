package llm

import "fmt"

// branch is one sequence of the KV cache.
type branch struct {
	seq    int32
	len    int
	tip    *span // the last tokens; nil while empty
	broken bool  // a failed decode left cells that cannot be removed
	logits []float32
}

// A span is a run of cells that one or more branches share as part of their
// prefix. Spans form a tree, so that the cells in use are counted once.
type span struct {
	parent *span
	len    int
	refs   int // branches whose tip it is, and child spans
}

// append adds n cells to the end of b.
func (b *branch) append(n int) {
	if b.tip == nil || b.tip.refs > 1 {
		b.tip = &span{parent: b.tip, refs: 1} // takes over b's reference
	}
	b.tip.len += n
	b.len += n
}

// release gives up a reference to s and returns the cells that this frees.
func (s *span) release() (cells int) {
	for ; s != nil; s = s.parent {
		if s.refs--; s.refs > 0 {
			break
		}
		cells += s.len
	}
	return cells
}

// NewBranch opens an empty branch.
func (s *Session) NewBranch() (Branch, error) {
	if err := s.enter(); err != nil {
		return 0, fmt.Errorf("llm: new branch: %w", err)
	}
	defer s.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		return 0, fmt.Errorf("llm: new branch: %w: all %d are open", ErrBranches, s.opt.Branches)
	}
	return s.open(&branch{}), nil
}

// open gives b a sequence and a name. A name is not used again until the
// counter has gone round, so that a dropped branch is recognised.
func (s *Session) open(b *branch) Branch {
	b.seq = s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	for {
		s.last = max(s.last+1, 1)
		if s.branches[s.last] == nil {
			s.branches[s.last] = b
			return s.last
		}
	}
}

// Fork opens n branches that continue br as it is now; they share its cells,
// and nothing is decoded or copied.
func (s *Session) Fork(br Branch, n int) ([]Branch, error) {
	if err := s.enter(); err != nil {
		return nil, fmt.Errorf("llm: fork branch: %w", err)
	}
	defer s.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.branches[br]
	switch {
	case from == nil || from.broken:
		return nil, fmt.Errorf("llm: fork branch %d: %w", br, ErrBranch)
	case n < 0:
		return nil, fmt.Errorf("llm: fork branch %d: %d copies wanted", br, n)
	case n > len(s.free):
		return nil, fmt.Errorf("llm: fork branch %d: %w: %d wanted, %d free of %d", br, ErrBranches, n, len(s.free), s.opt.Branches)
	}
	out, seqs := make([]Branch, n), make([]int32, n)
	for i := range out {
		b := &branch{len: from.len, tip: from.tip, logits: from.logits}
		if b.tip != nil {
			b.tip.refs++
		}
		out[i] = s.open(b)
		seqs[i] = b.seq
	}
	if from.len > 0 {
		s.c.CopySequence(int(from.seq), seqs)
	}
	return out, nil
}

// Drop frees branches, and the cells that no other branch shares. A branch may
// be dropped once. If any of brs cannot be dropped, none is.
func (s *Session) Drop(brs ...Branch) error {
	if err := s.enter(); err != nil {
		return fmt.Errorf("llm: drop branch: %w", err)
	}
	defer s.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make(map[Branch]bool, len(brs))
	for _, br := range brs {
		if s.branches[br] == nil || seen[br] {
			return fmt.Errorf("llm: drop branch %d: %w", br, ErrBranch)
		}
		seen[br] = true
	}
	for _, br := range brs {
		b := s.branches[br]
		delete(s.branches, br)
		s.c.Remove(int(b.seq), 0)
		s.used -= b.tip.release()
		s.free = append(s.free, b.seq)
	}
	return nil
}

// Logits copies the row of logits after the last token of br, one for each
// token of the vocabulary. The session must have been opened with KeepLogits.
func (s *Session) Logits(br Branch) ([]float32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.branches[br]
	switch {
	case s.closed:
		return nil, fmt.Errorf("llm: read logits: %w", ErrClosed)
	case b == nil:
		return nil, fmt.Errorf("llm: read logits of branch %d: %w", br, ErrBranch)
	case !s.opt.KeepLogits:
		return nil, fmt.Errorf("llm: read logits of branch %d: open the session with SessionOptions{KeepLogits: true}", br)
	case b.logits == nil:
		return nil, fmt.Errorf("llm: read logits of branch %d: it is empty", br)
	}
	return append([]float32(nil), b.logits...), nil
}
