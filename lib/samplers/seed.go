package samplers

import (
	"hash/fnv"
	"math/rand/v2"
)

// Key names one draw of a generation. Draws with different keys are
// independent, and a draw never depends on the order in which draws are made:
// this is what makes a seed's tokens the same whatever the batches were.
type Key struct {
	Stream string // what the draw is for: "choose", "rollout", ...
	Chain  uint64
	Branch uint64
	Step   uint64
}

// Uniform returns the draw of a key: a multiple of 2⁻⁵³ in [0, 1).
func Uniform(seed uint64, k Key) float64 {
	return float64(hash(seed, k)>>11) / (1 << 53)
}

// Rand returns a source of many draws for one key.
func Rand(seed uint64, k Key) *rand.Rand {
	h := hash(seed, k)
	return rand.New(rand.NewPCG(h, mix(h)))
}

// hash chains the words of a key through mix, which is a bijection, so keys
// that differ in one word never meet in that word's step.
func hash(seed uint64, k Key) uint64 {
	name := fnv.New64a()
	name.Write([]byte(k.Stream))
	h := mix(seed)
	for _, word := range [...]uint64{name.Sum64(), k.Chain, k.Branch, k.Step} {
		h = mix(h ^ word)
	}
	return h
}

// mix is one step of SplitMix64: Steele, Lea and Flood, OOPSLA 2014, with the
// constants of David Stafford's variant 13.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// newSeed draws a seed from the system's entropy. It stays below 2⁵³, so that
// a seed copied through JSON readers with floating-point numbers is the same.
func newSeed() uint64 { return rand.Uint64N(1<<53-1) + 1 }
