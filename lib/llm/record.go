package llm

// Record is one generation: what was asked, what ran, and for each emitted
// token what the sampler saw. It is plain data: comparing, saving and
// drawing it need no model.
type Record struct {
	Model   ModelInfo  `json:"model"`
	Engine  EngineInfo `json:"engine"`
	Sampler string     `json:"sampler"` // "importance", "plain", ...
	// Params are the sampler's parameters by name, as set after defaults.
	Params map[string]float64 `json:"params"`
	// Target is the law that the sampler draws from, or tends to, in words:
	// with candidates left out it is another than without.
	Target string `json:"target,omitempty"`
	Seed   uint64 `json:"seed"`

	Prompt       string  `json:"prompt"`
	PromptTokens []Token `json:"prompt_tokens"`

	Steps []StepRecord `json:"steps"`
	Text  string       `json:"text"` // the emitted tokens joined, end token left out
	End   EndReason    `json:"end"`

	Cost        Cost        `json:"cost"`
	Diagnostics Diagnostics `json:"diagnostics"`
	Warnings    []string    `json:"warnings,omitempty"`
}

// ModelInfo identifies the weights.
type ModelInfo struct {
	Name         string `json:"name"`
	Path         string `json:"path,omitempty"`
	Digest       string `json:"digest,omitempty"` // sha256 of the file, hex; empty until asked for
	Architecture string `json:"architecture"`
	Quantisation string `json:"quantisation"`
	Parameters   int64  `json:"parameters"`
	Bytes        int64  `json:"bytes"`
	Vocabulary   int    `json:"vocabulary"`
	ContextTrain int    `json:"context_train"`
}

// EngineInfo says what computed the logits.
type EngineInfo struct {
	Name    string `json:"name"` // "llama.cpp", "toy"
	Commit  string `json:"commit"`
	Build   string `json:"build"` // "native", "baseline", "system"
	CPU     string `json:"cpu"`   // instruction sets the build uses
	Threads int    `json:"threads"`
	Context int    `json:"context"` // tokens
}

// EndReason says why a generation stopped.
type EndReason string

const (
	EndToken     EndReason = "end token"
	EndLimit     EndReason = "token limit"
	EndContext   EndReason = "context full"
	EndCancelled EndReason = "cancelled"
)

// StepRecord is one emitted token.
type StepRecord struct {
	Token   Token   `json:"token"`
	Piece   []byte  `json:"piece"`    // the token's own bytes, perhaps part of a rune
	LogProb float64 `json:"log_prob"` // of the model itself
	Prob    float64 `json:"prob"`     // under which the sampler chose it
	Entropy float64 `json:"entropy"`  // of the model's distribution, nats

	Candidates []Candidate `json:"candidates"` // by falling base probability
	// ESS is the smallest effective sample size among the candidates' weights;
	// 0 where the sampler draws no rollouts.
	ESS float64 `json:"ess"`
	// Clamped is the negative mass that the jackknife set to zero.
	Clamped float64 `json:"clamped"`
	// Truncated is the base probability outside the candidates.
	Truncated float64 `json:"truncated"`
}

// Candidate is a next token as the sampler weighed it. The three
// probabilities are normalised over the step's candidates.
type Candidate struct {
	Token   Token   `json:"token"`
	Piece   []byte  `json:"piece"`
	LogProb float64 `json:"log_prob"` // of the model, over the whole vocabulary
	Base    float64 `json:"base"`     // p
	Power   float64 `json:"power"`    // p^α; p where the sampler has no α
	Prob    float64 `json:"prob"`     // p^α·ζ, or what the sampler draws from
	ProbSE  float64 `json:"prob_se"`  // standard error of Prob; 0 where it is exact
	LogZeta float64 `json:"log_zeta"` // log ζ̂; 0 where the sampler does not look ahead
	ESS     float64 `json:"ess"`
	End     bool    `json:"end"` // an end token
}

// Cost is what a generation took.
type Cost struct {
	Prompt        int     `json:"prompt"`         // prompt tokens decoded
	Decoded       int     `json:"decoded"`        // tokens decoded after the prompt, all branches
	Emitted       int     `json:"emitted"`        // tokens of the result
	DecodeSeconds float64 `json:"decode_seconds"` // inside the model
	TotalSeconds  float64 `json:"total_seconds"`
	// Forecast is the most that Decoded could have been, as it was estimated
	// before.
	Forecast int `json:"forecast"`
	// RolloutTokens counts the tokens of rollouts that had to be decoded, and
	// RolloutNodes those that were, since rollouts that are equal so far are
	// decoded once.
	RolloutTokens int `json:"rollout_tokens,omitempty"`
	RolloutNodes  int `json:"rollout_nodes,omitempty"`
}

// Diagnostics tell how far what a sampler did can be trusted. A field that is
// zero or empty does not apply, or could not be measured.
type Diagnostics struct {
	// ESS is the least effective sample size there was: of a candidate's
	// rollouts, of the particles, or of the blocks to choose from.
	ESS float64 `json:"ess,omitempty"`
	// Clamped and Truncated are the steps' means: mass that the jackknife set
	// to zero, and the model's probability outside the candidates.
	Clamped   float64 `json:"clamped,omitempty"`
	Truncated float64 `json:"truncated,omitempty"`
	// Errors is the standard error of the chosen probabilities against the
	// number of rollouts: for the first 2, 4, 8, ... of them, up to all.
	Errors []ErrorAt `json:"errors,omitempty"`

	// Proposed counts the moves of Markov chains, Acceptance is the share of
	// them that were accepted, and Swaps that of exchanges between replicas.
	Proposed   int     `json:"proposed,omitempty"`
	Acceptance float64 `json:"acceptance,omitempty"`
	Swaps      float64 `json:"swaps,omitempty"`
	// Chains holds the log-probability of each chain's completion after each
	// move, as soon as all moves were of whole completions. RHat is their
	// split potential scale reduction: near 1 where the chains agree.
	// Autocorrelation is the number of moves that count as one independent
	// draw.
	Chains          [][]float64 `json:"chains,omitempty"`
	RHat            float64     `json:"r_hat,omitempty"`
	Autocorrelation float64     `json:"autocorrelation,omitempty"`

	// Ancestors is the particles' genealogy: for each resampling the token
	// before which it was, and for each particle which one it continues.
	Ancestors []Resampling `json:"ancestors,omitempty"`
	// Scores is what each of several completions was worth: for best-of-n its
	// score, for a majority the share of its answer, for particles its weight.
	Scores []float64 `json:"scores,omitempty"`
}

// ErrorAt is the standard error of a probability for a number of rollouts: the
// largest among the candidates, averaged over the steps.
type ErrorAt struct {
	Rollouts int     `json:"rollouts"`
	SE       float64 `json:"se"`
}

// Resampling is one generation of particles.
type Resampling struct {
	At      int     `json:"at"`      // tokens drawn before it
	ESS     float64 `json:"ess"`     // of the particles that were replaced
	Parents []int   `json:"parents"` // by particle
}
