// Package random lets a notebook seed the random numbers of its cells.
package random

import (
	oldrand "math/rand"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
)

// Seed makes the functions of math/rand and math/rand/v2 return the same from
// here on in every run: the former what they return after rand.Seed(n), the
// latter, as far as they are taken from Functions, what the methods of
// rand.New(rand.NewPCG(n, 0)) return. Package math/rand is seeded for compiled
// code, too; math/rand/v2 has nothing to seed there.
func Seed(n uint64) {
	// Go 1.24 made Seed do nothing where this is not set.
	if setting := os.Getenv("GODEBUG"); !strings.Contains(setting, "randseednop=0") {
		os.Setenv("GODEBUG", strings.TrimPrefix(setting+",randseednop=0", ","))
	}
	oldrand.Seed(int64(n)) //lint:ignore SA1019 it is what cells call that is seeded
	seeded.Store(&locked{pcg: rand.NewPCG(n, 0)})
}

// locked is a source for several goroutines.
type locked struct {
	mu  sync.Mutex
	pcg *rand.PCG
}

var seeded atomic.Pointer[locked]

// source is the runtime's until Seed is called.
type source struct{}

func (source) Uint64() uint64 {
	s := seeded.Load()
	if s == nil {
		return rand.Uint64()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.Uint64()
}

// Functions returns the functions of math/rand/v2 by name, over a source that
// Seed can seed.
func Functions() map[string]reflect.Value {
	r := rand.New(source{})
	m := map[string]reflect.Value{}
	for name, f := range map[string]any{
		"ExpFloat64": r.ExpFloat64, "Float32": r.Float32, "Float64": r.Float64, "NormFloat64": r.NormFloat64,
		"Int": r.Int, "Int32": r.Int32, "Int32N": r.Int32N, "Int64": r.Int64, "Int64N": r.Int64N, "IntN": r.IntN,
		"Uint": r.Uint, "Uint32": r.Uint32, "Uint32N": r.Uint32N, "Uint64": r.Uint64, "Uint64N": r.Uint64N, "UintN": r.UintN,
		"Perm": r.Perm, "Shuffle": r.Shuffle,
	} {
		m[name] = reflect.ValueOf(f)
	}
	return m
}
