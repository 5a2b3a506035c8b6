package llmtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Read answers a step from a row of logits, in plain Go and double precision:
// the definition that the C reductions of a session are held against.
func Read(logits []float32, st llm.Step) llm.Row {
	b := st.Power
	if b == 0 {
		b = 1
	}
	top := math.Inf(-1)
	for _, x := range logits {
		top = math.Max(top, float64(x))
	}
	logSum := func(b float64) float64 {
		var sum float64
		for _, x := range logits {
			sum += math.Exp(b * (float64(x) - top))
		}
		return b*top + math.Log(sum)
	}
	norm := logSum(1)
	lp := func(t llm.Token) float64 { return float64(logits[t]) - norm }

	row := llm.Row{LogZ: logSum(b) - b*norm}
	if b == 1 {
		row.LogZ = 0
	}
	for t := range logits {
		if l := lp(llm.Token(t)); !math.IsInf(l, -1) {
			row.Entropy -= math.Exp(l) * l
		}
	}
	for _, t := range st.Score {
		row.Score = append(row.Score, lp(t))
	}
	for _, u := range st.Draws {
		t := Draw(logits, b, u)
		row.Drawn = append(row.Drawn, llm.TokenLogProb{Token: t, LogProb: lp(t)})
	}
	for t := range logits {
		row.Top = append(row.Top, llm.TokenLogProb{Token: llm.Token(t), LogProb: lp(llm.Token(t))})
	}
	slices.SortStableFunc(row.Top, func(a, b llm.TokenLogProb) int { return -cmp.Compare(logits[a.Token], logits[b.Token]) })
	row.Top = row.Top[:min(st.Top, len(row.Top))]
	return row
}

// Draw is the token at which the distribution function of p^b, in order of
// token id, first exceeds u.
func Draw(logits []float32, b, u float64) llm.Token {
	cdf := CDF(logits, b)
	t, _ := slices.BinarySearchFunc(cdf, u, func(c, u float64) int {
		if c > u {
			return 1
		}
		return -1
	})
	return llm.Token(min(t, len(logits)-1))
}

// CDF is the distribution function of p^b over the tokens in order of id; its
// last value is 1.
func CDF(logits []float32, b float64) []float64 {
	top := float64(slices.Max(logits))
	cdf := make([]float64, len(logits))
	var sum float64
	for t, x := range logits {
		sum += math.Exp(b * (float64(x) - top))
		cdf[t] = sum
	}
	for t := range cdf {
		cdf[t] /= sum
	}
	return cdf
}
