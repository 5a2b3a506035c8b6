package random

import (
	oldrand "math/rand"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"
)

// draws calls functions of both packages.
func draws() []any {
	f := Functions()
	return []any{
		f["IntN"].Interface().(func(int) int)(1000), f["Float64"].Interface().(func() float64)(), f["Perm"].Interface().(func(int) []int)(4),
		oldrand.Intn(1000), oldrand.Float64(),
	}
}

func TestSeed(t *testing.T) {
	t.Setenv("GODEBUG", os.Getenv("GODEBUG"))
	Seed(7)
	got := draws()
	Seed(7)
	if again := draws(); !reflect.DeepEqual(got, again) {
		t.Errorf("%v, and again %v", got, again)
	}
	r, old := rand.New(rand.NewPCG(7, 0)), oldrand.New(oldrand.NewSource(7))
	want := []any{r.IntN(1000), r.Float64(), r.Perm(4), old.Intn(1000), old.Float64()}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want what generators with that seed give, %v", got, want)
	}
	Seed(8)
	if other := draws(); reflect.DeepEqual(got, other) {
		t.Errorf("another seed gives the same: %v", other)
	}
}

// TestWithoutASeed runs in a process that is not seeded.
func TestWithoutASeed(t *testing.T) {
	if os.Getenv("RANDOM_UNSEEDED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWithoutASeed$")
		cmd.Env = append(os.Environ(), "RANDOM_UNSEEDED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	var all []uint64
	for range 100 {
		all = append(all, Functions()["Uint64"].Interface().(func() uint64)())
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 100 {
		t.Errorf("%d different of 100", n)
	}
}

// TestAllFunctions compares the functions with the methods of rand.Rand, which
// the package's own functions have the names of.
func TestAllFunctions(t *testing.T) {
	f, r := Functions(), reflect.TypeFor[*rand.Rand]()
	if len(f) != r.NumMethod() {
		t.Errorf("%d functions, want %d", len(f), r.NumMethod())
	}
	for i := range r.NumMethod() {
		m := reflect.ValueOf(rand.New(rand.NewPCG(1, 1))).Method(i)
		if got := f[r.Method(i).Name]; !got.IsValid() || got.Type() != m.Type() {
			t.Errorf("%s is %v, want %v", r.Method(i).Name, got, m.Type())
		}
	}
}
