package toy_test

import (
	"fmt"
	"log"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/samplers/toy"
)

// Low temperature is far from the power distribution, and a look-ahead of a
// few tokens gets near to it.
func Example() {
	m, err := toy.New(toy.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	law, err := m.Law(m.Prompt(), 5)
	if err != nil {
		log.Fatal(err)
	}
	exact := law.Power(4)
	fmt.Println(len(exact), "completions")
	for _, depth := range []int{0, 1, 2, 3, toy.Full} {
		cut := law.Compose(func(prefix []llm.Token) []float64 { return law.Next(prefix, 4, depth) })
		fmt.Printf("%.3f\n", toy.TotalVariation(exact, cut))
	}
	// Output:
	// 1365 completions
	// 0.923
	// 0.656
	// 0.542
	// 0.209
	// 0.000
}
