package samplers

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"pgregory.net/rapid"
)

var inf = math.Inf(1)

func near(got, want, tolerance float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= tolerance
}

func TestLogSumExp(t *testing.T) {
	for _, c := range []struct {
		name string
		lw   []float64
		want float64
	}{
		{"no weights", nil, -inf},
		{"one", []float64{-3}, -3},
		{"two equal", []float64{5, 5}, 5 + math.Ln2},
		{"far below what exp can hold", []float64{-1000, -1000}, -1000 + math.Ln2},
		{"far above", []float64{1000, 1000}, 1000 + math.Ln2},
		{"one is no weight", []float64{-inf, -5}, -5},
		{"all are", []float64{-inf, -inf}, -inf},
		{"infinite", []float64{inf, 1}, inf},
		{"not a number", []float64{1, math.NaN()}, math.NaN()},
	} {
		if got := LogSumExp(c.lw); !near(got, c.want, 1e-12) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNormaliseLongLogProbabilities(t *testing.T) {
	e := math.E
	for _, c := range []struct {
		lw, want []float64
	}{
		{[]float64{-1000, -1001}, []float64{e / (1 + e), 1 / (1 + e)}}, // .731, .269
		{[]float64{-inf, -5}, []float64{0, 1}},
		{[]float64{-inf, -inf}, nil},
		{nil, nil},
	} {
		got, err := Normalise(c.lw)
		if c.want == nil {
			if !errors.Is(err, ErrNoToken) {
				t.Errorf("%v: %v, error %v; want ErrNoToken", c.lw, got, err)
			}
			continue
		}
		for i := range c.want {
			if err != nil || !near(got[i], c.want[i], 1e-12) {
				t.Errorf("%v: %v, error %v; want %v", c.lw, got, err, c.want)
			}
		}
	}
}

func TestESS(t *testing.T) {
	for _, c := range []struct {
		name string
		lw   []float64
		want float64
	}{
		{"equal weights count in full", []float64{-700, -700, -700}, 3},
		{"one that outweighs all counts alone", []float64{0, -800, -800}, 1},
		{"1 and 3: 16/10", []float64{0, math.Log(3)}, 1.6},
		{"all zero", []float64{-inf, -inf}, 0},
		{"not a number", []float64{0, math.NaN()}, math.NaN()},
		{"none", nil, 0},
	} {
		if got := ESS(c.lw); !near(got, c.want, 1e-12) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// jackknifed follows the definition with 200-bit arithmetic, from the weights
// themselves.
func jackknifed(kept []llm.TokenLogProb, lw [][]float64, alpha float64) (prob, jack []float64) {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	rollouts := len(lw[0])
	without := func(s int) []*big.Float {
		sum := num(0)
		ps := make([]*big.Float, len(kept))
		for v, t := range kept {
			zeta, n := num(0), 0
			for j, x := range lw[v] {
				if j != s {
					zeta.Add(zeta, num(math.Exp(x)))
					n++
				}
			}
			ps[v] = zeta.Quo(zeta, num(float64(n)))
			ps[v].Mul(ps[v], num(math.Exp(alpha*t.LogProb)))
			sum.Add(sum, ps[v])
		}
		for _, p := range ps {
			p.Quo(p, sum)
		}
		return ps
	}
	full := without(-1)
	left := make([]*big.Float, len(kept))
	for v := range left {
		left[v] = num(0)
	}
	for s := range rollouts {
		for v, p := range without(s) {
			left[v].Add(left[v], p)
		}
	}
	m := num(float64(rollouts))
	for v := range kept {
		p, _ := full[v].Float64()
		prob = append(prob, p)
		j := new(big.Float).Mul(m, full[v])
		j.Sub(j, left[v].Mul(left[v], num(float64(rollouts-1)/float64(rollouts))))
		x, _ := j.Float64()
		jack = append(jack, x)
	}
	return prob, jack
}

func TestWeighIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(2, 6).Draw(t, "candidates"), rapid.IntRange(2, 9).Draw(t, "rollouts")
		alpha := rapid.Float64Range(.5, 6).Draw(t, "alpha")
		var kept []llm.TokenLogProb
		var lw [][]float64
		for range n {
			kept = append(kept, llm.TokenLogProb{LogProb: rapid.Float64Range(-8, 0).Draw(t, "lp")})
			lw = append(lw, rapid.SliceOfN(rapid.Float64Range(-60, 10), m, m).Draw(t, "lw"))
		}
		e := weigh(kept, lw, alpha)
		prob, jack := jackknifed(kept, lw, alpha)
		for v := range kept {
			if !near(e.prob[v], prob[v], 1e-11) || !near(e.prob[v]-e.bias[v], jack[v], 1e-9) {
				t.Fatalf("candidate %d: %v, without bias %v; want %v and %v", v, e.prob[v], e.prob[v]-e.bias[v], prob[v], jack[v])
			}
		}
		var clamped float64
		for _, x := range jack {
			clamped += max(-x, 0)
		}
		if j := e.jackknife(); !near(j.clamped, clamped, 1e-8) {
			t.Fatalf("clamped %v, want %v", j.clamped, clamped)
		}
	})
}

func TestWeighWhereWeightsAreFarApart(t *testing.T) {
	kept := tokensWith(.5, .5)
	// The first candidate's weight is all in one rollout, 2000 nats above its
	// others and the other candidate's: without it the rest decide.
	e := weigh(kept, [][]float64{{0, -2000, -2000}, {-2000, -2000, -2000}}, 1)
	if e.prob[0] != 1 || e.prob[1] != 0 || e.ess[0] != 1 || !near(e.ess[1], 3, 1e-12) {
		t.Errorf("%+v", e)
	}
	// p̂ without the first rollout is ½, else 1: the variance of 3 leave-one-out
	// values 1/2, 1, 1 is 2/3·Σ(x−5/6)² = 1/9, the bias 2·(5/6−1) = −1/3.
	if !near(e.se[0], 1./3, 1e-12) || !near(e.bias[0], -1./3, 1e-12) {
		t.Errorf("standard error %v and bias %v, want 1/3 and -1/3", e.se[0], e.bias[0])
	}
	if j := e.jackknife(); !near(j.clamped, 1./3, 1e-12) || j.prob[0] != 1 || j.prob[1] != 0 {
		t.Errorf("jackknife %+v, want 4/3 and -1/3 clamped to 1 and 0", j)
	}
}

func TestWeighWithoutRollouts(t *testing.T) {
	e := weigh(tokensWith(.75, .25), [][]float64{nil, nil}, 2)
	if j := e.jackknife(); !near(j.prob[0], .9, 1e-12) || j.se[0] != 0 || j.ess[0] != 0 || j.clamped != 0 {
		t.Errorf("%+v, want .9 and .1 exactly", j)
	}
	one := weigh(tokensWith(.75, .25), [][]float64{{0}, {math.Log(9)}}, 2)
	if j := one.jackknife(); !near(j.prob[0], .5, 1e-12) || j.se[0] != 0 {
		t.Errorf("%+v, want ½ and no standard error from one rollout", j)
	}
}
