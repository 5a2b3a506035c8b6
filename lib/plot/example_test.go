package plot_test

import (
	"fmt"
	"math"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/plot"
)

// coin is a record of one step between two tokens: the model prefers "heads",
// looking ahead prefers "tails".
func coin() llm.Record {
	return llm.Record{
		Sampler: "importance",
		Params:  map[string]float64{"alpha": 2},
		Prompt:  "Toss:",
		Steps: []llm.StepRecord{{
			Token: 1, Piece: []byte(" tails"), LogProb: math.Log(.4), Prob: .75, Entropy: .673, ESS: 6,
			Candidates: []llm.Candidate{
				// p² is .36 and .16, ζ is 1/3 and 9/4: p²ζ is .12 and .36.
				{Token: 0, Piece: []byte(" heads"), LogProb: math.Log(.6), Base: .6, Power: .36 / .52, Prob: .25, ProbSE: .05, LogZeta: math.Log(1. / 3), ESS: 7},
				{Token: 1, Piece: []byte(" tails"), LogProb: math.Log(.4), Base: .4, Power: .16 / .52, Prob: .75, ProbSE: .05, LogZeta: math.Log(9. / 4), ESS: 6},
			},
		}},
		End: llm.EndLimit,
	}
}

func ExampleCandidates() {
	fig, err := plot.Candidates(coin(), 0, plot.CandidatesOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(fig)
	// Output:
	// Candidates at step 0, after "Toss:"
	// chosen: " tails" · α = 2 · smallest ESS 6.00
	//
	//   token                          p       p^α     p^α·ζ         ±
	//   " heads"                   0.600     0.692     0.250    0.0500 █████
	// > " tails"                   0.400     0.308     0.750    0.0500 ███████████████
}

func ExampleTokens() {
	fig, err := plot.Tokens(coin(), plot.TokensOptions{Color: plot.ByRatio})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(fig)
	// Output:
	// importance · α = 2
	// 1 token · log p = −0.916 · 0.916 nats a token · ended by token limit
	//
	//  tails
	//
	// step  token                          p         q   entropy       ESS  log q/p: the sampler against the model
	//    0  " tails"                   0.400     0.750     0.673      6.00  0.629 ███
	// (p is the model's probability, q what the sampler drew the token with)
}
