package llm_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

// With flash attention and quantised weights the embedded engine computes a
// token's logits bit for bit alike, whatever else is in the batch and however
// many threads there are: so a seeded run repeats whatever the wave size.
// Float weights are added up in another order in a batch of one token, and
// alike in all larger ones. Fresh sessions each time, so that the cells
// differ too.
func TestLogitsAreBitEqual(t *testing.T) {
	for _, c := range []struct {
		name     string
		model    func(testing.TB, llm.Options) *llm.Model
		large    bool
		prefixes []int
		sizes    []int
	}{
		{"tiny, quantised", func(tb testing.TB, o llm.Options) *llm.Model {
			return open(tb, llmtest.Tiny{Layers: 2, Width: 64, Context: 4096, Bytes: true, Quantised: true}, o)
		}, false, []int{1, 68, 700}, []int{1, 2, 8, 30, 64, 200}},
		{"tiny, of floats", func(tb testing.TB, o llm.Options) *llm.Model {
			return open(tb, llmtest.Tiny{Layers: 2, Width: 64, Context: 4096, Bytes: true}, o)
		}, false, []int{1, 68, 700}, []int{2, 8, 30, 64, 200}},
		{"smollm2-135m", openReal, true, []int{150}, []int{1, 2, 30, 64}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.large {
				t.Skip("takes a minute on busy cores")
			}
			m := c.model(t, llm.Options{})
			for _, prefix := range c.prefixes {
				var want []float32
				for _, size := range c.sizes {
					for _, threads := range []int{1, 2} {
						if threads == 2 && (size > 2 || c.large && busy()) {
							continue // one size tells, and on busy cores two threads take minutes
						}
						got := logitsAmong(t, m, prefix, size, llm.SessionOptions{Threads: threads})
						if want == nil {
							want = got
						} else if !slices.Equal(got, want) {
							t.Errorf("prefix %d: among %d branches with %d threads the logits differ by up to %g", prefix, size, threads, apart(got, want))
						}
					}
				}
			}
		})
	}
}

// logitsAmong decodes one token after a prefix, in a batch with size−1 other
// branches that go on otherwise, and returns its logits.
func logitsAmong(t *testing.T, m *llm.Model, prefix, size int, o llm.SessionOptions) []float32 {
	t.Helper()
	o.KeepLogits, o.Context = true, 4096
	s := newSession(t, m, o)
	defer s.Close()
	root := grow(t, s, text(prefix)...)
	kids := must(s.Fork(root, size))
	var steps []llm.Step
	for i, k := range kids {
		steps = append(steps, llm.Step{Branch: k, Tokens: []llm.Token{llm.Token(40 + (i+size/2)%size)}})
	}
	extend(t, s, steps...)
	return must(s.Logits(kids[(size-size/2)%size])) // the one that went on with token 40
}

// busy reports whether other threads want the machine's cores.
func busy() bool {
	b, _ := os.ReadFile("/proc/loadavg")
	var one, five, fifteen float64
	var runnable int
	fmt.Sscanf(string(b), "%f %f %f %d/", &one, &five, &fifteen, &runnable)
	return runnable > runtime.NumCPU()
}

// text is n tokens that any vocabulary of 260 has.
func text(n int) []llm.Token {
	tokens := make([]llm.Token, n)
	for i := range tokens {
		tokens[i] = llm.Token(30 + i*i%223)
	}
	return tokens
}

func apart(a, b []float32) (most float32) {
	for i := range a {
		most = max(most, a[i]-b[i], b[i]-a[i])
	}
	return most
}

// Prompts may be decoded in chunks of any size.
func TestPrefillChunksAreBitEqual(t *testing.T) {
	for _, c := range []struct {
		name  string
		model func(testing.TB, llm.Options) *llm.Model
		n     int
	}{
		{"tiny, quantised", func(tb testing.TB, o llm.Options) *llm.Model {
			return open(tb, llmtest.Tiny{Layers: 2, Width: 64, Context: 4096, Bytes: true, Quantised: true}, o)
		}, 700},
		{"tiny, of floats", func(tb testing.TB, o llm.Options) *llm.Model {
			return open(tb, llmtest.Tiny{Layers: 2, Width: 64, Context: 4096, Bytes: true}, o)
		}, 700},
		{"smollm2-135m", openReal, 150},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name == "smollm2-135m" {
				t.Skip("takes a minute on busy cores")
			}
			m := c.model(t, llm.Options{Threads: 1})
			var want []float32
			for _, batch := range []int{512, 100, 64, 16, 7} {
				s := newSession(t, m, llm.SessionOptions{Context: 1024, Batch: batch, KeepLogits: true})
				got := must(s.Logits(grow(t, s, text(c.n)...)))
				s.Close()
				if want == nil {
					want = got
				} else if !slices.Equal(got, want) {
					t.Errorf("%d tokens in chunks of %d: logits differ by up to %g from chunks of 512", c.n, batch, apart(got, want))
				}
			}
		})
	}
}
