package llm_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// BenchmarkDecode extends n branches of a shared 64-token prompt by 16 tokens,
// each read with a draw and its log Z, beside a loop of llama_decode alone
// over the same batches. tok/s of the two tell what is added. The threads are
// those of -cpu, always: on a busy machine compare with -cpu 1.
func BenchmarkDecode(b *testing.B) {
	m := openReal(b, llm.Options{Threads: runtime.GOMAXPROCS(0)})
	for _, n := range []int{1, 8, 30, 64} {
		b.Run(fmt.Sprintf("session/%d", n), func(b *testing.B) { benchSession(b, m, n) })
		b.Run(fmt.Sprintf("bare/%d", n), func(b *testing.B) { benchBare(b, m, n) })
	}
}

const (
	benchPrompt = 64
	benchDepth  = 16
)

func benchSession(b *testing.B, m *llm.Model, n int) {
	s := newSession(b, m, llm.SessionOptions{})
	root := grow(b, s, text(benchPrompt)...)
	steps := make([]llm.Step, n)
	tokens := 0
	decode := s.DecodeSeconds()
	for b.Loop() {
		kids := must(s.Fork(root, n))
		for depth := range benchDepth {
			for i, k := range kids {
				steps[i] = llm.Step{Branch: k, Tokens: []llm.Token{llm.Token(30 + (i+depth)%200)}, Power: 4, Draws: []float64{0.5}}
			}
			extend(b, s, steps...)
			tokens += n
		}
		if err := s.Drop(kids...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tok/s")
	b.ReportMetric(100*(1-(s.DecodeSeconds()-decode)/b.Elapsed().Seconds()), "%outside")
}

func benchBare(b *testing.B, m *llm.Model, n int) {
	lm, err := llama.Load(m.Info().Path, llama.LoadParams{Map: true, GPULayers: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer lm.Free()
	threads := m.Engine().Threads
	c, err := lm.NewContext(llama.ContextParams{Cells: 4096, Batch: 512, MicroBatch: 512, Sequences: 256, Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Free()
	decode := func(batch llama.Batch) {
		if err := c.Decode(batch); err != nil {
			b.Fatal(err)
		}
	}
	var prompt llama.Batch
	for i, t := range text(benchPrompt) {
		prompt.Token, prompt.Pos = append(prompt.Token, int32(t)), append(prompt.Pos, int32(i))
		prompt.Seq, prompt.Out = append(prompt.Seq, int32(n)), append(prompt.Out, 0)
	}
	decode(prompt)
	var batch llama.Batch
	seqs := make([]int32, n)
	for i := range seqs {
		seqs[i] = int32(i)
		batch.Out = append(batch.Out, 1)
	}
	batch.Seq, batch.Token, batch.Pos = seqs, make([]int32, n), make([]int32, n)
	tokens := 0
	for b.Loop() {
		c.CopySequence(n, seqs)
		for depth := range benchDepth {
			for i := range seqs {
				batch.Token[i], batch.Pos[i] = int32(30+(i+depth)%200), int32(benchPrompt+depth)
			}
			decode(batch)
			tokens += n
		}
		for _, seq := range seqs {
			c.Remove(int(seq), 0)
		}
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tok/s")
}

// BenchmarkPrefill decodes prompts of n tokens.
func BenchmarkPrefill(b *testing.B) {
	m := openReal(b, llm.Options{})
	for _, n := range []int{64, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newSession(b, m, llm.SessionOptions{})
			for b.Loop() {
				if err := s.Drop(grow(b, s, text(n)...)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}

// BenchmarkFork forks a 256-token prompt 64 times and drops the forks.
func BenchmarkFork(b *testing.B) {
	s := newSession(b, openReal(b, llm.Options{}), llm.SessionOptions{})
	root := grow(b, s, text(256)...)
	for b.Loop() {
		if err := s.Drop(must(s.Fork(root, 64))...); err != nil {
			b.Fatal(err)
		}
	}
}
