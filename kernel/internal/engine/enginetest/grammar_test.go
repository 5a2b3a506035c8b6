package enginetest

import "testing"

// What the grammar draws is Go, nearly always.
func TestGeneratedProgramsAreGo(t *testing.T) {
	const n = 200
	bad := 0
	for seed := range n {
		p := generate(seed, 0)
		if err := p.vet(); err != nil {
			bad++
			t.Logf("seed %d: %v\n%s", seed, err, p.program())
		}
	}
	if bad > n/20 {
		t.Errorf("%d of %d programs are no Go", bad, n)
	}
}
