package llm_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
	"github.com/branchbook/branchbook/lib/samplers"
)

var _ samplers.Model = (*llm.Session)(nil)

func newSession(tb testing.TB, m *llm.Model, o llm.SessionOptions) *llm.Session {
	tb.Helper()
	s, err := m.NewSession(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// grow opens a branch of the tokens.
func grow(tb testing.TB, s *llm.Session, tokens ...llm.Token) llm.Branch {
	tb.Helper()
	br, err := s.NewBranch()
	if err != nil {
		tb.Fatal(err)
	}
	extend(tb, s, llm.Step{Branch: br, Tokens: tokens})
	return br
}

func extend(tb testing.TB, s *llm.Session, steps ...llm.Step) []llm.Row {
	tb.Helper()
	rows, err := s.Extend(context.Background(), steps)
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

func TestCellsAreCountedOnce(t *testing.T) {
	s := newSession(t, open(t, llmtest.Tiny{}, llm.Options{}), llm.SessionOptions{Context: 100, Branches: 10})
	check := func(when string, room, branches int) {
		t.Helper()
		if s.Room() != room || s.Branches() != branches {
			t.Errorf("%s: room for %d tokens and %d branches, want %d and %d", when, s.Room(), s.Branches(), room, branches)
		}
	}
	check("at first", 100, 10)
	root := grow(t, s, 0, 1, 2, 3)
	check("a prompt of 4", 96, 9)
	kids, err := s.Fork(root, 3)
	if err != nil {
		t.Fatal(err)
	}
	check("three forks share it", 96, 6)
	extend(t, s, llm.Step{Branch: kids[0], Tokens: []llm.Token{1, 1}}, llm.Step{Branch: kids[1], Tokens: []llm.Token{2}}, llm.Step{Branch: root, Tokens: []llm.Token{3}})
	check("each on its own way", 92, 6)
	grand, err := s.Fork(kids[0], 2)
	if err != nil {
		t.Fatal(err)
	}
	extend(t, s, llm.Step{Branch: grand[0], Tokens: []llm.Token{4}})
	check("grandchildren", 91, 4)
	if got := []int{s.Len(root), s.Len(kids[0]), s.Len(kids[2]), s.Len(grand[0]), s.Len(grand[1])}; !slices.Equal(got, []int{5, 6, 4, 7, 6}) {
		t.Errorf("lengths are %v", got)
	}
	drop := func(brs ...llm.Branch) {
		t.Helper()
		if err := s.Drop(brs...); err != nil {
			t.Error(err)
		}
	}
	drop(kids[0])
	check("a branch goes, its children stay", 91, 5)
	drop(grand...)
	check("its line ends", 94, 7)
	drop(root, kids[1], kids[2])
	check("all gone", 100, 10)
}

// What the books say is what llama.cpp has: a cache that is filled to the last
// cell and emptied, again and again, in another order each time.
func TestFullCacheIsUsedToTheLastCell(t *testing.T) {
	const cells = 256 // a multiple of 256, which llama.cpp rounds up to
	s := newSession(t, open(t, llmtest.Tiny{}, llm.Options{}), llm.SessionOptions{Context: cells, Branches: 8})
	for round := range 5 {
		root := grow(t, s, make([]llm.Token, 100)...)
		kids, err := s.Fork(root, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range kids {
			extend(t, s, llm.Step{Branch: k, Tokens: make([]llm.Token, 50+i)})
		}
		extend(t, s, llm.Step{Branch: root, Tokens: make([]llm.Token, s.Room())})
		_, err = s.Extend(t.Context(), []llm.Step{{Branch: root, Tokens: []llm.Token{1}}})
		var fit *llm.FitError
		if !errors.As(err, &fit) || *fit != (llm.FitError{Need: 1, Have: 0, Of: "KV cache"}) {
			t.Fatalf("a token too many gives %v", err)
		}
		all := append(kids, root)
		for range round {
			all = append(all[1:], all[0])
		}
		if err := s.Drop(all...); err != nil || s.Room() != cells {
			t.Fatalf("after round %d there is room for %d, %v", round, s.Room(), err)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := open(t, llmtest.Tiny{Context: 50}, llm.Options{})
	s := newSession(t, m, llm.SessionOptions{Context: 100, Branches: 8})
	one := []llm.Token{0}
	live := grow(t, s, 0, 1)
	gone := grow(t, s, 0)
	if err := s.Drop(gone); err != nil {
		t.Fatal(err)
	}
	step := func(st llm.Step) func() error {
		return func() error { _, err := s.Extend(context.Background(), []llm.Step{st}); return err }
	}
	for _, c := range []struct {
		name string
		call func() error
		want error
		says string
	}{
		{"fork more branches than there are", func() error { _, err := s.Fork(live, 8); return err }, llm.ErrBranches, "8 wanted, 7 free of 8"},
		{"fork a dropped branch", func() error { _, err := s.Fork(gone, 1); return err }, llm.ErrBranch, ""},
		{"drop twice", func() error { return s.Drop(gone) }, llm.ErrBranch, ""},
		{"drop twice at once", func() error { return s.Drop(live, live) }, llm.ErrBranch, ""},
		{"drop what never was", func() error { return s.Drop(12345) }, llm.ErrBranch, ""},
		{"extend a dropped branch", step(llm.Step{Branch: gone, Tokens: one}), llm.ErrBranch, ""},
		{"no tokens", step(llm.Step{Branch: live}), llm.ErrStep, "no tokens"},
		{"token past the vocabulary", step(llm.Step{Branch: live, Tokens: []llm.Token{7}}), llm.ErrStep, "token 7 is outside the vocabulary of 7"},
		{"negative token", step(llm.Step{Branch: live, Tokens: []llm.Token{-1}}), llm.ErrStep, "-1"},
		{"score past the vocabulary", step(llm.Step{Branch: live, Tokens: one, Score: []llm.Token{9}}), llm.ErrStep, "9"},
		{"draw at one", step(llm.Step{Branch: live, Tokens: one, Draws: []float64{1}}), llm.ErrStep, "[0, 1)"},
		{"draw at NaN", step(llm.Step{Branch: live, Tokens: one, Draws: []float64{math.NaN()}}), llm.ErrStep, "NaN"},
		{"negative power", step(llm.Step{Branch: live, Tokens: one, Power: -1, Top: 1}), llm.ErrStep, "power"},
		{"infinite power", step(llm.Step{Branch: live, Tokens: one, Power: math.Inf(1), Top: 1}), llm.ErrStep, "power"},
		{"negative top", step(llm.Step{Branch: live, Tokens: one, Top: -1}), llm.ErrStep, "top"},
		{"a prompt past the context", step(llm.Step{Branch: live, Tokens: make([]llm.Token, 60)}), nil, "62 tokens do not fit the context of 50: shorten the text, or open the session with a larger Context"},
		{"one branch twice", func() error {
			_, err := s.Extend(context.Background(), []llm.Step{{Branch: live, Tokens: one}, {Branch: live, Tokens: one}})
			return err
		}, llm.ErrStep, "twice"},
		{"logits that were not kept", func() error { _, err := s.Logits(live); return err }, nil, "KeepLogits"},
	} {
		err := c.call()
		if err == nil || (c.want != nil && !errors.Is(err, c.want)) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %v, want %v with %q", c.name, err, c.want, c.says)
		}
	}
	if s.Len(live) != 2 || s.Room() != 98 || s.Branches() != 7 {
		t.Errorf("refusals changed the session: %v", s)
	}
	// More than all branches together can hold, each within the context.
	kids, err := s.Fork(live, 7)
	if err != nil {
		t.Fatal(err)
	}
	var steps []llm.Step
	for _, k := range kids {
		steps = append(steps, llm.Step{Branch: k, Tokens: make([]llm.Token, 40)})
	}
	_, err = s.Extend(t.Context(), steps)
	var fit *llm.FitError
	if !errors.As(err, &fit) || *fit != (llm.FitError{Need: 280, Have: 98, Of: "KV cache"}) {
		t.Errorf("too much for the cache gives %v", err)
	}
	if _, err := s.NewBranch(); !errors.Is(err, llm.ErrBranches) {
		t.Errorf("one branch too many gives %v", err)
	}
	s.Close()
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	for name, err := range map[string]error{
		"NewBranch": func() error { _, err := s.NewBranch(); return err }(),
		"Extend":    step(llm.Step{Branch: live, Tokens: one})(),
		"Drop":      s.Drop(live),
	} {
		if !errors.Is(err, llm.ErrClosed) {
			t.Errorf("%s after Close gives %v", name, err)
		}
	}
}

func TestTwoGoroutinesAreTold(t *testing.T) {
	m := open(t, llmtest.Tiny{Layers: 8, Width: 256, Context: 4096}, llm.Options{Threads: 1})
	s := newSession(t, m, llm.SessionOptions{Context: 4096})
	br, _ := s.NewBranch()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.Extend(ctx, []llm.Step{{Branch: br, Tokens: make([]llm.Token, 4096)}})
		done <- err
	}()
	for s.DecodeSeconds() == 0 { // until the other has done a batch of eight
	}
	if _, err := s.NewBranch(); !errors.Is(err, llm.ErrInUse) {
		t.Errorf("NewBranch beside Extend gives %v", err)
	}
	if err := s.Close(); !errors.Is(err, llm.ErrInUse) {
		t.Errorf("Close beside Extend gives %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Extend gives %v", err)
	}
}

func TestCancelledDecodeLeavesTheSessionAsItWas(t *testing.T) {
	m := open(t, llmtest.Tiny{Layers: 8, Width: 256, Context: 8192}, llm.Options{Threads: 1})
	s := newSession(t, m, llm.SessionOptions{Context: 8192, KeepLogits: true})
	br := grow(t, s, 1, 2, 3)
	before, err := s.Logits(br)
	if err != nil {
		t.Fatal(err)
	}
	room := s.Room()
	long := make([]llm.Token, 8000)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // when some batches of 512 are done, and others are not
		for start := s.DecodeSeconds(); s.DecodeSeconds() == start; {
		}
		cancel()
	}()
	if _, err := s.Extend(ctx, []llm.Step{{Branch: br, Tokens: long}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("Extend gives %v", err)
	}
	if s.Len(br) != 3 || s.Room() != room {
		t.Errorf("after cancelling the branch has %d tokens and the session room for %d; want 3 and %d", s.Len(br), s.Room(), room)
	}
	if _, err := s.Extend(ctx, []llm.Step{{Branch: br, Tokens: long}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Extend with a cancelled context gives %v", err)
	}
	// It goes on as if nothing had been.
	got := extend(t, s, llm.Step{Branch: br, Tokens: []llm.Token{4}, Top: 7})
	fresh := grow(t, s, 1, 2, 3)
	if after, _ := s.Logits(fresh); !slices.Equal(before, after) {
		t.Error("the same tokens give other logits after a cancelled decode")
	}
	want := extend(t, s, llm.Step{Branch: fresh, Tokens: []llm.Token{4}, Top: 7})
	if !slices.Equal(got[0].Top, want[0].Top) {
		t.Errorf("after a cancelled decode the branch reads %v, a new one %v", got, want)
	}
}

// An interrupt falls within a decode of 512 tokens, which takes seconds.
func TestInterruptIsQuick(t *testing.T) {
	s := newSession(t, openReal(t, llm.Options{}), llm.SessionOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	br := must(s.NewBranch())
	start := time.Now()
	_, err := s.Extend(ctx, []llm.Step{{Branch: br, Tokens: text(4000)}})
	took := time.Since(start)
	if !errors.Is(err, context.DeadlineExceeded) || s.Len(br) != 0 || s.Room() != 4096 {
		t.Errorf("Extend gives %v and leaves %d tokens", err, s.Len(br))
	}
	t.Logf("it ended %v after the deadline", took-150*time.Millisecond)
	if took > 3*time.Second { // many times what it takes on busy cores
		t.Errorf("it took %v to end", took)
	}
}

func TestDecodeThatIsDoneAgainGivesTheSame(t *testing.T) {
	m := open(t, llmtest.Tiny{Layers: 4, Width: 512, Context: 4096, Bytes: true}, llm.Options{Threads: 2})
	steady := newSession(t, m, llm.SessionOptions{Threads: 1, KeepLogits: true})
	want := must(steady.Logits(grow(t, steady, text(1500)...)))
	s := newSession(t, m, llm.SessionOptions{KeepLogits: true})
	again := llm.Hurry(s)
	br := grow(t, s, text(1500)...)
	if again() == 0 {
		t.Error("no decode was done again")
	}
	if got := must(s.Logits(br)); !slices.Equal(got, want) || s.Len(br) != 1500 || s.Room() != 4096-1500 {
		t.Errorf("%v; the logits differ by %g", s, apart(got, want))
	}
}

func TestForksGoOnAsTheirParent(t *testing.T) {
	s := newSession(t, open(t, llmtest.Tiny{Layers: 2}, llm.Options{}), llm.SessionOptions{KeepLogits: true})
	parent := grow(t, s, 0, 1, 2)
	kids, err := s.Fork(parent, 2)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := s.Logits(parent)
	if got, err := s.Logits(kids[1]); err != nil || !slices.Equal(got, want) {
		t.Errorf("a fork's logits differ from its parent's: %v", err)
	}
	extend(t, s, llm.Step{Branch: kids[0], Tokens: []llm.Token{4, 4}}) // no concern of the other
	got := extend(t, s, llm.Step{Branch: kids[1], Tokens: []llm.Token{3}, Top: 7})
	straight := extend(t, s, llm.Step{Branch: grow(t, s, 0, 1, 2), Tokens: []llm.Token{3}, Top: 7})
	if !slices.Equal(got[0].Top, straight[0].Top) {
		t.Errorf("a fork reads %v, the same tokens in one branch %v", got[0].Top, straight[0].Top)
	}
	if whole := extend(t, s, llm.Step{Branch: must(s.NewBranch()), Tokens: []llm.Token{0, 1, 2, 3}, Top: 7}); !near(whole[0].Top, got[0].Top, 1e-4) {
		t.Errorf("a fork reads %v, the same tokens in one step %v", got[0].Top, whole[0].Top)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func near(a, b []llm.TokenLogProb, eps float64) bool {
	return slices.EqualFunc(a, b, func(a, b llm.TokenLogProb) bool {
		return a.Token == b.Token && math.Abs(a.LogProb-b.LogProb) <= eps
	})
}
