package llama_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/internal/llama"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

// read asks C, or skips where there is none.
func read(tb testing.TB, logits []float32, st llm.Step) llama.Answer {
	tb.Helper()
	q := llama.Query{Power: st.Power, Top: st.Top, Draws: st.Draws}
	for _, t := range st.Score {
		q.Score = append(q.Score, int32(t))
	}
	a, err := llama.Read(logits, q)
	if errors.Is(err, llama.ErrUnavailable) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// normal makes n logits of a standard deviation, with ties.
func normal(rng *rand.Rand, n int, sd float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Round(sd*rng.NormFloat64()*64) / 64)
	}
	return x
}

func TestReadAgreesWithPlainGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	spike := normal(rng, 1000, 1)
	spike[777] = 200
	masked := normal(rng, 1000, 3)
	for i := range masked {
		if i%3 != 0 {
			masked[i] = float32(math.Inf(-1))
		}
	}
	rows := map[string][]float32{
		"one token":          {3},
		"two tokens":         {-1, 1},
		"less than a block":  normal(rng, 100, 2),
		"a block":            normal(rng, 256, 2),
		"a block and one":    normal(rng, 257, 2),
		"of SmolLM2's size":  normal(rng, 49152, 3),
		"all alike":          make([]float32, 700),
		"one holds the mass": spike,
		"two thirds masked":  masked,
		"large logits":       normal(rng, 500, 1e4),
		"of tiny spread":     normal(rng, 3000, 1e-3),
	}
	for name, x := range rows {
		for _, b := range []float64{1, 0.25, 2, 2.5, 4} {
			st := llm.Step{Power: b, Top: 40}
			for range 50 {
				st.Draws = append(st.Draws, rng.Float64())
			}
			st.Draws = append(st.Draws, 0, math.Nextafter(1, 0))
			for range 10 {
				st.Score = append(st.Score, llm.Token(rng.IntN(len(x))))
			}
			got, want := read(t, x, st), llmtest.Read(x, st)

			// exp_neg errs by under 2e-7, the sums by no more.
			const eps = 5e-7
			close := func(what string, got, want float64) {
				if !(math.Abs(got-want) <= eps*max(1, math.Abs(want))) && got != want {
					t.Errorf("%s, b=%g: %s is %v, want %v", name, b, what, got, want)
				}
			}
			close("log Z", got.LogZ, want.LogZ)
			close("entropy", got.Entropy, want.Entropy)
			for i, w := range want.Top {
				if got.Top[i] != int32(w.Token) {
					t.Errorf("%s: top %d is token %d, want %d", name, i, got.Top[i], w.Token)
				}
				close("top log-probability", got.TopLP[i], w.LogProb)
			}
			for i, w := range want.Score {
				close("score", got.ScoreLP[i], w)
			}
			cdf := llmtest.CDF(x, b)
			for i, u := range st.Draws {
				tok := got.Drawn[i]
				below := 0.0
				if tok > 0 {
					below = cdf[tok-1]
				}
				if u < below-1e-6 || u > cdf[tok]+1e-6 {
					t.Errorf("%s, b=%g: %v draws token %d, whose part is [%v, %v)", name, b, u, tok, below, cdf[tok])
				}
				if math.IsInf(float64(x[tok]), -1) {
					t.Errorf("%s: a masked token was drawn", name)
				}
				close("drawn log-probability", got.DrawnLP[i], llmtest.Read(x, llm.Step{Score: []llm.Token{llm.Token(tok)}}).Score[0])
			}
		}
	}
}

func TestReadRefusesWhatIsNoDistribution(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, x := range map[string][]float32{
		"a NaN":                         {1, nan, 2},
		"only NaN":                      {nan, nan},
		"plus infinity":                 {1, inf, 2},
		"every token at minus infinity": {-inf, -inf, -inf},
		"nothing":                       {},
	} {
		if _, err := llama.Read(x, llama.Query{Power: 1, Top: 1}); !errors.Is(err, llama.ErrNotFinite) && !errors.Is(err, llama.ErrUnavailable) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// Draws by stratified uniforms reproduce the distribution.
func TestDrawsFollowThePower(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := normal(rng, 12, 1)
	const n = 100000
	draws := make([]float64, n)
	for i := range draws {
		draws[i] = (float64(i) + rng.Float64()) / n
	}
	for _, b := range []float64{1, 3} {
		count := make([]float64, len(x))
		for _, tok := range read(t, x, llm.Step{Power: b, Draws: draws}).Drawn {
			count[tok]++
		}
		cdf := llmtest.CDF(x, b)
		for tok, c := range count {
			p := cdf[tok]
			if tok > 0 {
				p -= cdf[tok-1]
			}
			if math.Abs(c/n-p) > 2.0/n+1e-6 {
				t.Errorf("b=%g: token %d has share %v, want %v", b, tok, c/n, p)
			}
		}
	}
}

func TestTopOfAllTokensIsSorted(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(5, 6)), 3000, 1)
	got := read(t, x, llm.Step{Power: 1, Top: len(x) + 10}).Top
	if len(got) != len(x) {
		t.Fatalf("%d tokens, want all %d", len(got), len(x))
	}
	if !slices.IsSortedFunc(got, func(a, b int32) int {
		switch {
		case x[a] != x[b]:
			return int(math.Copysign(1, float64(x[b]-x[a])))
		default:
			return int(a - b)
		}
	}) {
		t.Error("not in order")
	}
}

func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, v := range []int{49152, 262144} {
		x := normal(rng, v, 3)
		for _, c := range []struct {
			name string
			st   llm.Step
		}{
			{"draw", llm.Step{Power: 1, Draws: []float64{0.3}}},
			{"draw from a power", llm.Step{Power: 4, Draws: []float64{0.3}}},
			{"top 8", llm.Step{Power: 1, Top: 8}},
			{"top 40, 8 draws", llm.Step{Power: 4, Top: 40, Draws: []float64{.1, .2, .3, .4, .5, .6, .7, .8}}},
		} {
			b.Run(c.name+"/V="+map[int]string{49152: "49152", 262144: "262144"}[v], func(b *testing.B) {
				for b.Loop() {
					read(b, x, c.st)
				}
			})
		}
	}
}
