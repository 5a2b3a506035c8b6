package samplers

import "math"

// RHat returns the split potential scale reduction of chains of equal length:
// √(((n−1)/n·W + B/n)/W), with each chain halved, W the mean variance within
// halves and B/n that of their means. It is near 1 where all halves look alike, and 1 for
// chains that never moved from one value; above 1.1 they have not settled.
// It is 0, not measured, with fewer than 4 draws a chain or NaN among them,
// and +Inf where halves are constant and differ.
//
// Gelman et al., Bayesian Data Analysis (2013), section 11.4.
func RHat(chains [][]float64) float64 {
	var halves [][]float64
	for _, c := range chains {
		n := len(c) / 2
		if n < 2 {
			return 0
		}
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	if len(halves) == 0 {
		return 0
	}
	n := float64(len(halves[0]))
	means, within := make([]float64, len(halves)), 0.0
	for i, h := range halves {
		var v float64
		means[i], v = meanVariance(h)
		within += v / float64(len(halves))
	}
	_, between := meanVariance(means) // B/n
	switch {
	case math.IsNaN(within) || math.IsNaN(between):
		return 0
	case within == 0 && between == 0:
		return 1
	}
	return math.Sqrt((n-1)/n + between/within)
}

// meanVariance returns the mean and the sample variance (n−1); 0 for one.
func meanVariance(xs []float64) (mean, variance float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	if len(xs) < 2 {
		return mean, 0
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / (n - 1)
	}
	return mean, variance
}

// Autocorrelation returns the integrated autocorrelation time of chains of
// equal length, 1 + 2·Σ ρ_t: the number of successive draws that count as one.
// Sums of neighbouring pairs are added while they are positive and no longer
// grow. It is 0, not measured, with fewer than 4 draws or where nothing moves.
//
// Geyer, Statistical Science 7 (1992), section 3.3; ρ is averaged over the
// chains about their common mean.
func Autocorrelation(chains [][]float64) float64 {
	if len(chains) == 0 || len(chains[0]) < 4 {
		return 0
	}
	n := len(chains[0])
	var mean float64
	for _, c := range chains {
		m, _ := meanVariance(c)
		mean += m / float64(len(chains))
	}
	at := func(lag int) (c float64) {
		for _, xs := range chains {
			for i := 0; i+lag < n; i++ {
				c += (xs[i] - mean) * (xs[i+lag] - mean)
			}
		}
		return c / float64(n*len(chains))
	}
	zero := at(0)
	if !(zero > 0) {
		return 0
	}
	tau, before := -1.0, math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		pair := min((at(lag)+at(lag+1))/zero, before)
		if pair <= 0 {
			break
		}
		tau += 2 * pair
		before = pair
	}
	return max(tau, 1/float64(n))
}
