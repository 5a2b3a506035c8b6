package samplers

import (
	"math"
	"slices"
)

// LogSumExp returns log Σ exp(lw), without overflow or underflow.
//
// It is -Inf for no weights or all -Inf, and NaN if any lw is NaN. lw is
// read, not kept.
func LogSumExp(lw []float64) float64 {
	if len(lw) == 0 {
		return math.Inf(-1)
	}
	hi := slices.Max(lw)
	if math.IsInf(hi, 0) || math.IsNaN(hi) {
		return hi
	}
	var sum float64
	for _, x := range lw {
		sum += math.Exp(x - hi)
	}
	return hi + math.Log(sum)
}

// LogMeanExp returns log of the mean of exp(lw), len(lw) ≥ 1. It is NaN for
// no weights; else as [LogSumExp].
func LogMeanExp(lw []float64) float64 {
	if len(lw) == 0 {
		return math.NaN()
	}
	return LogSumExp(lw) - math.Log(float64(len(lw)))
}

// ESS returns the effective sample size (Σw)²/Σw² of the weights whose
// natural logarithms are lw.
//
// len(lw) = M ≥ 1; the result lies in [1, M]. It is NaN if any lw is NaN and
// 0 if all are -Inf. lw is read, not kept.
//
// Kong, Liu and Wong, JASA 89 (1994).
func ESS(lw []float64) float64 {
	if len(lw) == 0 {
		return 0
	}
	hi := slices.Max(lw)
	if math.IsInf(hi, -1) {
		return 0
	}
	var sum, squares float64
	for _, x := range lw {
		w := math.Exp(x - hi)
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}

// Normalise returns the probabilities whose unnormalised natural logarithms
// are lw. It is an error, [ErrNoToken], if all are -Inf or any is NaN or
// +Inf. lw is read, not kept.
func Normalise(lw []float64) ([]float64, error) {
	z := LogSumExp(lw)
	if math.IsInf(z, 0) || math.IsNaN(z) {
		return nil, ErrNoToken
	}
	p := make([]float64, len(lw))
	for i, x := range lw {
		p[i] = math.Exp(x - z)
	}
	return p, nil
}

// pick inverts the CDF of probs, which sum to 1 up to rounding: the first
// index whose cumulative mass exceeds u, or the last that has mass.
func pick(probs []float64, u float64) int {
	last := 0
	var sum float64
	for i, p := range probs {
		if p <= 0 {
			continue
		}
		sum += p
		if u < sum {
			return i
		}
		last = i
	}
	return last
}
