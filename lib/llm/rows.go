package llm

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// keep gives the branches the rows that Logits copies.
func (x *extension) keep() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	for i, row := range x.logits {
		if row != nil {
			x.branches[i].logits = row
		}
	}
}

// A read is one row of a decode that a step asked for.
type read struct{ step, at int }

// read reduces the rows, side by side where there are many: each row is
// reduced by one thread, so the order does not matter.
func (x *extension) read(reads []read) error {
	s := x.s
	rows := make([]llama.Row, len(reads))
	for i, r := range reads {
		var err error
		if rows[i], err = s.c.Row(r.at); err != nil {
			return err
		}
	}
	errs := make([]error, len(reads))
	var next atomic.Int32
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(reads); i = int(next.Add(1)) - 1 {
			errs[i] = x.readRow(reads[i].step, rows[i])
		}
	}
	var wg sync.WaitGroup
	for range min(s.opt.Threads, len(reads)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return errors.Join(errs...)
}

func (x *extension) readRow(i int, row llama.Row) error {
	st := x.steps[i]
	if x.s.opt.KeepLogits {
		x.logits[i] = row.Copy()
	}
	if !st.Reads() {
		return nil
	}
	q := llama.Query{Power: st.Power, Top: st.Top, Draws: st.Draws}
	if q.Power == 0 {
		q.Power = 1
	}
	for _, t := range st.Score {
		q.Score = append(q.Score, int32(t))
	}
	a, err := row.Read(q)
	if err != nil {
		return fmt.Errorf("branch %d: read row: %w", st.Branch, err)
	}
	x.rows[i] = Row{
		Top: pairs(a.Top, a.TopLP), Drawn: pairs(a.Drawn, a.DrawnLP),
		Score: a.ScoreLP, LogZ: a.LogZ, Entropy: a.Entropy,
	}
	return nil
}

func pairs(ids []int32, lps []float64) []TokenLogProb {
	if len(ids) == 0 {
		return nil
	}
	out := make([]TokenLogProb, len(ids))
	for i := range out {
		out[i] = TokenLogProb{Token(ids[i]), lps[i]}
	}
	return out
}
