package llm

// Token is an id in a model's vocabulary.
type Token int32

// Branch names a continuation held in a session's KV cache; branches that
// were forked from one another share the cells of their common prefix.
// A Branch is valid from NewBranch or Fork to Drop.
type Branch int32

// Step asks a model to append tokens to a branch, and says what to read off
// the next-token distribution p after the last of them. A Step that asks for
// nothing costs no output row.
type Step struct {
	Branch Branch
	Tokens []Token // appended in order; at least one

	// Top is how many of the most probable next tokens to return.
	Top int
	// Power is the exponent b of the proposal q_b ∝ p^b, which Draws and
	// Row.LogZ are about. Zero means 1, the model itself.
	Power float64
	// Draws holds one uniform in [0, 1) for each token to draw from q_b, by
	// inverse CDF over the vocabulary in order of token id.
	Draws []float64
	// Score lists tokens whose log-probabilities to return.
	Score []Token
}

// Reads reports whether the step reads its row.
func (s Step) Reads() bool { return s.Top > 0 || len(s.Draws) > 0 || len(s.Score) > 0 }

// Row is what a Step asked to read. All log-probabilities are natural, of
// the model's own distribution p over its whole vocabulary.
type Row struct {
	Top     []TokenLogProb // by falling probability, ties by rising id; len = min(Step.Top, V)
	Drawn   []TokenLogProb // one for each of Step.Draws, in its order
	Score   []float64      // one for each of Step.Score, in its order
	LogZ    float64        // log Σ_v p(v)^b, with b = Step.Power; 0 when b = 1
	Entropy float64        // −Σ_v p(v) log p(v), in nats
}

// TokenLogProb is a token and the natural logarithm of its probability.
type TokenLogProb struct {
	Token   Token
	LogProb float64
}
