package samplers

import (
	"fmt"
	"math"
	"testing"
)

// Neighbouring keys must look independent in every word: each word counts up
// by one while the others stay, as a generation does.
func TestUniformsOfNeighbouringKeys(t *testing.T) {
	const n = 1 << 16
	for name, at := range map[string]func(i uint64) float64{
		"seeds":    func(i uint64) float64 { return Uniform(i, Key{Stream: "choose"}) },
		"chains":   func(i uint64) float64 { return Uniform(1, Key{Stream: "choose", Chain: i}) },
		"branches": func(i uint64) float64 { return Uniform(1, Key{Stream: "rollout", Branch: i}) },
		"tokens":   func(i uint64) float64 { return Uniform(1, Key{Stream: "rollout", Branch: i << 32}) },
		"steps":    func(i uint64) float64 { return Uniform(1, Key{Stream: "rollout", Step: i}) },
		"streams":  func(i uint64) float64 { return Uniform(1, Key{Stream: fmt.Sprint(i)}) },
	} {
		const bins = 256
		var counts [bins]float64
		var mean, product float64
		before := at(n)
		for i := range uint64(n) {
			u := at(i)
			if u < 0 || u >= 1 {
				t.Fatalf("%s: %v is not in [0, 1)", name, u)
			}
			counts[int(u*bins)]++
			mean += u / n
			product += (u - .5) * (before - .5) / n
			before = u
		}
		var chi float64
		for _, c := range counts {
			chi += (c - n/bins) * (c - n/bins) / (n / bins)
		}
		// Five standard deviations each: 255 ± 5·√510, ½ ± 5/√(12n), 0 ± 5/(12√n).
		root := math.Sqrt(n)
		if math.Abs(chi-255) > 5*math.Sqrt(510) || math.Abs(mean-.5) > 5/(math.Sqrt(12)*root) || math.Abs(product) > 5/(12*root) {
			t.Errorf("%s: χ² of 256 bins %.0f, mean %.4f, covariance of neighbours %.5f", name, chi, mean, product)
		}
	}
}

func TestRandIsKeyed(t *testing.T) {
	k := Key{Stream: "chain", Chain: 2}
	a, b := Rand(1, k).Float64(), Rand(1, k).Float64()
	if c := Rand(2, k).Float64(); a != b || a == c {
		t.Errorf("seed 1 draws %v and %v, seed 2 %v", a, b, c)
	}
}
