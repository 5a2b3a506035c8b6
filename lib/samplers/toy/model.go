package toy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/branchbook/branchbook/lib/llm"
)

// Model is a Markov chain over the tokens 0 to V−1. The token V begins a
// prompt and is never drawn. It refuses what a session refuses, with the same
// errors: [llm.ErrBranch], [llm.ErrBranches], [llm.ErrStep] and
// [*llm.FitError].
//
// A Model is used by one goroutine at a time.
type Model struct {
	states []state // by last token; states[V] is that of a prompt's begin
	ends   []bool  // by token
	limit  int     // tokens in one branch
	cells  pool
	tips   []int32 // by branch: its last cell, empty for none, or closed
	free   []llm.Branch
	seen   []int // by branch: the Extend call that named it last
	calls  int
	spent  time.Duration
}

// state is what there is to know after one token.
type state struct {
	lp       []float64 // by token
	sorted   []llm.TokenLogProb
	entropy  float64
	proposal map[float64]*proposal // by exponent b, made when asked for
}

// proposal is q_b ∝ p^b after one token.
type proposal struct {
	logZ float64
	cdf  []float64 // by token; the last is 1
}

const (
	emptyTip  = -1
	closedTip = -2
)

// FromTable returns the chain whose next-token probabilities after token i
// are table[i], for i < V, and at the begin of a prompt table[V]. Rows hold V
// probabilities and are normalised; ends lists the end tokens.
//
// It is an error when the table is not (V+1)×V, when a row has a negative or
// no mass, or when an end token is not below V.
func FromTable(table [][]float64, ends []llm.Token, lim Limits) (*Model, error) {
	v := len(table) - 1
	if v < 1 {
		return nil, fmt.Errorf("toy: make model: table has %d rows, need at least 2", len(table))
	}
	lim = lim.withDefaults()
	m := &Model{
		ends:  make([]bool, v),
		limit: lim.Context,
		cells: pool{room: lim.Room},
		tips:  make([]int32, lim.Branches),
		seen:  make([]int, lim.Branches),
	}
	for i := lim.Branches - 1; i >= 0; i-- {
		m.tips[i] = closedTip
		m.free = append(m.free, llm.Branch(i))
	}
	for _, t := range ends {
		if t < 0 || int(t) >= v {
			return nil, fmt.Errorf("toy: make model: end token %d is not in a vocabulary of %d", t, v)
		}
		m.ends[t] = true
	}
	for i, row := range table {
		if len(row) != v {
			return nil, fmt.Errorf("toy: make model: row %d holds %d probabilities, need %d", i, len(row), v)
		}
		s, err := newState(row)
		if err != nil {
			return nil, fmt.Errorf("toy: make model: row %d: %w", i, err)
		}
		m.states = append(m.states, s)
	}
	return m, nil
}

func newState(probs []float64) (state, error) {
	var sum float64
	for _, p := range probs {
		if !(p >= 0) || math.IsInf(p, 0) {
			return state{}, fmt.Errorf("probability %v", p)
		}
		sum += p
	}
	if sum == 0 {
		return state{}, errors.New("all probabilities are 0")
	}
	s := state{proposal: map[float64]*proposal{}}
	for t, p := range probs {
		lp := math.Log(p / sum)
		s.lp = append(s.lp, lp)
		s.sorted = append(s.sorted, llm.TokenLogProb{Token: llm.Token(t), LogProb: lp})
		if p > 0 {
			s.entropy -= p / sum * lp
		}
	}
	slices.SortStableFunc(s.sorted, func(a, b llm.TokenLogProb) int { return cmp.Compare(b.LogProb, a.LogProb) })
	return s, nil
}

// Prompt is the shortest prompt: the begin token alone.
func (m *Model) Prompt() []llm.Token { return []llm.Token{llm.Token(m.vocabulary())} }

func (m *Model) vocabulary() int { return len(m.ends) }

// NewBranch opens an empty branch.
func (m *Model) NewBranch() (llm.Branch, error) { return m.newBranch(emptyTip) }

func (m *Model) newBranch(tip int32) (llm.Branch, error) {
	if len(m.free) == 0 {
		return 0, fmt.Errorf("toy: open branch: all %d are open: %w", len(m.tips), llm.ErrBranches)
	}
	br := m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	m.tips[br] = tip
	m.cells.hold(tip)
	return br, nil
}

// Fork opens n branches that continue br; they share its cells.
func (m *Model) Fork(br llm.Branch, n int) ([]llm.Branch, error) {
	if err := m.check(br); err != nil {
		return nil, fmt.Errorf("toy: fork: %w", err)
	}
	if n > len(m.free) {
		return nil, fmt.Errorf("toy: fork %d branches: %d of %d are free: %w", n, len(m.free), len(m.tips), llm.ErrBranches)
	}
	brs := make([]llm.Branch, n)
	for i := range brs {
		brs[i], _ = m.newBranch(m.tips[br])
	}
	return brs, nil
}

// Drop frees branches, and the cells that no other branch holds.
func (m *Model) Drop(brs ...llm.Branch) error {
	for _, br := range brs {
		if err := m.check(br); err != nil {
			return fmt.Errorf("toy: drop: %w", err)
		}
		m.cells.release(m.tips[br])
		m.tips[br] = closedTip
		m.free = append(m.free, br)
	}
	return nil
}

func (m *Model) check(br llm.Branch) error {
	if br < 0 || int(br) >= len(m.tips) || m.tips[br] == closedTip {
		return fmt.Errorf("branch %d: %w", br, llm.ErrBranch)
	}
	return nil
}

// Extend appends each step's tokens to its branch and reads its row. Steps
// are checked before anything changes.
func (m *Model) Extend(ctx context.Context, steps []llm.Step) ([]llm.Row, error) {
	start := time.Now()
	defer func() { m.spent += time.Since(start) }()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("toy: extend: %w", err)
	}
	m.calls++
	need := 0
	for _, s := range steps {
		if err := m.checkStep(s); err != nil {
			return nil, fmt.Errorf("toy: extend: %w", err)
		}
		need += len(s.Tokens)
	}
	if need > m.Room() {
		return nil, fmt.Errorf("toy: extend: %w", &llm.FitError{Need: need, Have: m.Room(), Of: "KV cache"})
	}
	rows := make([]llm.Row, len(steps))
	for i, s := range steps {
		tip := m.tips[s.Branch]
		for _, t := range s.Tokens {
			tip = m.cells.add(tip, t)
		}
		m.tips[s.Branch] = tip
		if s.Reads() {
			rows[i] = m.read(s)
		}
	}
	return rows, nil
}

func (m *Model) checkStep(s llm.Step) error {
	if err := m.check(s.Branch); err != nil {
		return err
	}
	if m.seen[s.Branch] == m.calls {
		return fmt.Errorf("branch %d is named twice: %w", s.Branch, llm.ErrStep)
	}
	m.seen[s.Branch] = m.calls
	if len(s.Tokens) == 0 {
		return fmt.Errorf("branch %d: no tokens: %w", s.Branch, llm.ErrStep)
	}
	for _, t := range s.Tokens {
		if t < 0 || int(t) > m.vocabulary() {
			return fmt.Errorf("token %d is not in a vocabulary of %d: %w", t, m.vocabulary(), llm.ErrStep)
		}
	}
	if n := m.Len(s.Branch) + len(s.Tokens); n > m.limit {
		return &llm.FitError{Need: n, Have: m.limit, Of: "context"}
	}
	return nil
}

func (m *Model) read(s llm.Step) llm.Row {
	st := &m.states[s.Tokens[len(s.Tokens)-1]]
	b := s.Power
	if b == 0 {
		b = 1
	}
	q := st.proposeBy(b)
	row := llm.Row{Entropy: st.entropy, LogZ: q.logZ}
	if s.Top > 0 {
		row.Top = st.sorted[:min(s.Top, len(st.sorted)):len(st.sorted)]
		row.Top = slices.Clone(row.Top)
	}
	if len(s.Draws) > 0 {
		row.Drawn = make([]llm.TokenLogProb, len(s.Draws))
		for i, u := range s.Draws {
			t := q.draw(u)
			row.Drawn[i] = llm.TokenLogProb{Token: t, LogProb: st.lp[t]}
		}
	}
	for _, t := range s.Score {
		row.Score = append(row.Score, st.lp[t])
	}
	return row
}

func (s *state) proposeBy(b float64) *proposal {
	if q, ok := s.proposal[b]; ok {
		return q
	}
	q := &proposal{}
	var sum float64
	hi := s.sorted[0].LogProb // taken out, so that no power underflows
	for _, lp := range s.lp {
		sum += math.Exp(b * (lp - hi))
		q.cdf = append(q.cdf, sum)
	}
	for i := range q.cdf {
		q.cdf[i] /= sum
	}
	if b != 1 {
		q.logZ = b*hi + math.Log(sum)
	}
	s.proposal[b] = q
	return q
}

// draw inverts the CDF: the first token whose cumulative mass exceeds u.
func (q *proposal) draw(u float64) llm.Token {
	for t, c := range q.cdf {
		if u < c {
			return llm.Token(t)
		}
	}
	return llm.Token(len(q.cdf) - 1)
}

// LogProbs returns log p(v|last) by token id v, for a branch that ends in
// last. The slice is the caller's.
func (m *Model) LogProbs(last llm.Token) []float64 { return slices.Clone(m.states[last].lp) }

// Len is the number of tokens in a branch; 0 for one that is not open.
func (m *Model) Len(br llm.Branch) int {
	if m.check(br) != nil {
		return 0
	}
	return m.cells.depth(m.tips[br])
}

// Limit is the number of tokens that one branch may hold.
func (m *Model) Limit() int { return m.limit }

// Room is how many further tokens fit now, over all branches.
func (m *Model) Room() int { return m.cells.room - m.cells.used }

// Branches is how many further branches can be opened now.
func (m *Model) Branches() int { return len(m.free) }

// IsEnd reports whether t ends a completion.
func (m *Model) IsEnd(t llm.Token) bool { return t >= 0 && int(t) < len(m.ends) && m.ends[t] }

// Piece names a token: "a", "b", ... with end tokens as "." and the begin
// token empty. Vocabularies past 26 continue as "{26}".
func (m *Model) Piece(t llm.Token) []byte {
	switch {
	case t < 0 || int(t) >= m.vocabulary():
		return nil
	case m.ends[t]:
		return []byte(".")
	case t < 26:
		return []byte{'a' + byte(t)}
	}
	return []byte("{" + strconv.Itoa(int(t)) + "}")
}

// Info describes the chain.
func (m *Model) Info() (llm.ModelInfo, llm.EngineInfo) {
	v := m.vocabulary()
	return llm.ModelInfo{
			Name:         "toy",
			Architecture: "markov",
			Quantisation: "none",
			Parameters:   int64(v * (v + 1)),
			Bytes:        int64(8 * v * (v + 1)),
			Vocabulary:   v,
			ContextTrain: m.limit,
		}, llm.EngineInfo{
			Name:    "toy",
			Build:   "go",
			Threads: 1,
			Context: m.limit,
		}
}

// DecodeSeconds is the time spent in Extend.
func (m *Model) DecodeSeconds() float64 { return m.spent.Seconds() }
