//go:build cgo

package samplers

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
)

// realSession opens the model that BRANCHBOOK_MODEL names, or the default
// model where it is cached.
func realSession(b *testing.B) *llm.Session {
	b.Helper()
	path := os.Getenv("BRANCHBOOK_MODEL")
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			b.Skip(err)
		}
		path = filepath.Join(cache, "branchbook", "models", "smollm2-135m.gguf")
	}
	m, err := llm.Open(context.Background(), path, llm.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		b.Skipf("no model: set BRANCHBOOK_MODEL or run branchbook models get smollm2-135m (%v)", err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	s, err := m.NewSession(llm.SessionOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkImportance is one power-sampled token at K = 8, M = 8, H = 16: its
// seconds, the rate of decoding, and the share of the time outside
// llama_decode.
func BenchmarkImportance(b *testing.B) {
	s := realSession(b)
	prompt, err := s.Model().Tokenize("The three primary colours are red, green and", llm.TokenizeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	const tokens = 1 // each run
	p := Importance{Alpha: 4, Candidates: Candidates{TopK: 8}, Rollouts: 8, LookAhead: 16}
	ctx := context.Background()
	var decoded, emitted int
	var inside, total float64
	for b.Loop() {
		// Enough tokens ahead that no look-ahead is cut by the last of them.
		st, err := p.Init(ctx, s, prompt, Options{MaxTokens: 64, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		l := newLedger(s)
		start := b.Elapsed()
		for range tokens {
			if st, _, err = p.Step(ctx, l, st); err != nil {
				b.Fatal(err)
			}
			emitted++
		}
		total += (b.Elapsed() - start).Seconds()
		inside += s.DecodeSeconds() - l.started
		decoded += l.decoded
		if err := s.Drop(st.Branch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(total/float64(emitted), "s/token")
	b.ReportMetric(float64(decoded)/float64(emitted), "decoded/token")
	b.ReportMetric(float64(decoded)/inside, "tok/s-in-decode")
	b.ReportMetric(100*(1-inside/total), "%-outside")
}
