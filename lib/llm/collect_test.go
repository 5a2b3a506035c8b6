package llm_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

// A notebook opens models again and again under one name, and closes none.
func TestWhatNobodyHoldsIsFreed(t *testing.T) {
	open(t, llmtest.Tiny{}, llm.Options{}) // or skip
	path := llmtest.Write(t, llmtest.Tiny{})
	inUse := func() func() int {
		m, err := llm.Open(t.Context(), path, llm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.NewSession(llm.SessionOptions{}); err != nil {
			t.Fatal(err)
		}
		return llm.WeightsInUse(m)
	}()
	if n := inUse(); n != 2 {
		t.Errorf("%d hold the weights of a model with a session", n)
	}
	for end := time.Now().Add(30 * time.Second); inUse() > 0; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d still hold the weights", inUse())
		}
	}
}
