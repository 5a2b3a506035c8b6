package plot

import (
	"math"

	"github.com/branchbook/branchbook/lib/llm"
)

// A weighed is a candidate given by what it is made of: the model's
// probability and the look-ahead estimate.
type weighed struct {
	piece string
	p     float64 // of the model, over its whole vocabulary
	zeta  float64
	se    float64 // relative standard error of ζ
	end   bool
}

// step computes a record's step from its parts, as the definition says: base
// ∝ p, power ∝ p^α and prob ∝ p^α·ζ, each over the candidates.
func step(alpha float64, chosen int, cs ...weighed) llm.StepRecord {
	var base, power, prob float64
	for _, c := range cs {
		base += c.p
		power += math.Pow(c.p, alpha)
		prob += math.Pow(c.p, alpha) * c.zeta
	}
	s := llm.StepRecord{Truncated: 1 - base, ESS: 8}
	for i, c := range cs {
		q := math.Pow(c.p, alpha) * c.zeta / prob
		s.Entropy -= c.p * math.Log(c.p)
		s.Candidates = append(s.Candidates, llm.Candidate{
			Token: llm.Token(100 + i), Piece: []byte(c.piece), LogProb: math.Log(c.p), End: c.end,
			Base: c.p / base, Power: math.Pow(c.p, alpha) / power, Prob: q, ProbSE: q * (1 - q) * c.se,
			LogZeta: math.Log(c.zeta), ESS: 8 - float64(i)/2,
		})
	}
	c := s.Candidates[chosen]
	s.Token, s.Piece, s.LogProb, s.Prob = c.Token, c.Piece, c.LogProb, c.Prob
	return s
}

// answer is a generation of a few words, with look-ahead that changes its mind
// at one step.
func answer() llm.Record {
	const alpha = 4
	sure := func(piece string, p float64) llm.StepRecord {
		return step(alpha, 0, weighed{piece, p, 1, .1, false}, weighed{" the", (1 - p) * .6, .8, .2, false}, weighed{" a", (1 - p) * .3, 1.1, .2, false})
	}
	rec := llm.Record{
		Model:   llm.ModelInfo{Name: "SmolLM2-135M-Instruct", Quantisation: "Q8_0"},
		Engine:  llm.EngineInfo{Name: "llama.cpp"},
		Sampler: "importance",
		Params:  map[string]float64{"alpha": alpha, "rollouts": 8, "horizon": 16},
		Seed:    1,
		Prompt:  "What is the capital of France?",
		End:     llm.EndToken,
		Cost:    llm.Cost{Prompt: 9, Decoded: 1320, Emitted: 14, DecodeSeconds: 6.1, TotalSeconds: 6.4},
	}
	rec.Steps = []llm.StepRecord{
		sure("The", .62),
		step(alpha, 1, weighed{" city", .31, .55, .25, false}, weighed{" capital", .29, 3.4, .3, false}, weighed{" answer", .12, 1.2, .4, false},
			weighed{" largest", .06, .9, .3, false}, weighed{" French", .04, 1.1, .5, false}, weighed{" name", .03, 1, .4, false}),
		sure(" of", .97), sure(" France", .93), sure(" is", .88),
		step(alpha, 0, weighed{" Paris", .81, 1.3, .1, false}, weighed{" located", .05, .4, .4, false}, weighed{" the", .04, .7, .3, false}, weighed{" **", .02, 1.9, .5, false}),
		step(alpha, 1, weighed{".", .45, .9, .2, false}, weighed{",", .42, 1.2, .2, false}, weighed{" (", .02, .8, .4, false}),
		step(alpha, 0, weighed{" a", .2, 1, .3, false}, weighed{" which", .19, .9, .3, false}, weighed{" and", .13, 1.1, .3, false}, weighed{" the", .1, 1.4, .3, false}),
		step(alpha, 0, weighed{" city", .5, 1, .2, false}, weighed{" place", .1, .6, .3, false}),
		step(alpha, 2, weighed{" of", .3, .8, .3, false}, weighed{" with", .2, 1, .3, false}, weighed{" on", .05, 900, .5, false}),
		sure(" the", .9),
		sure(" Seine", .77),
		sure(".", .95),
		step(alpha, 0, weighed{"<|im_end|>", .83, 1, 0, true}, weighed{"\n", .1, 1, 0, false}),
	}
	return rec
}
