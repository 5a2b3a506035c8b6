package samplers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/branchbook/branchbook/lib/llm"
)

// Sampler chooses the tokens of a completion. [Plain], [LowTemperature] and
// [Importance] are samplers, and so is any type of your own with these four
// methods: what it needs of a model is in [Model], and [Begin] and [Emit] do
// what all of them have in common.
//
// A Sampler is a value that describes what to do. What changes during a
// generation is in the State, so one Sampler serves many generations.
type Sampler interface {
	// Name is the sampler's name in records.
	Name() string
	// Params are its parameters by name, as set after defaults.
	Params() map[string]float64
	// Init checks the parameters, decodes the prompt and returns the State
	// before the first token.
	Init(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, error)
	// Step goes one step on from s, which must not be used again. It emits
	// one token, or several, or none yet. After an error the branches that
	// it opened, and those of s, are still to be dropped; Generate does so.
	Step(ctx context.Context, m Model, s State) (State, Info, error)
}

// State is where a generation stands between two steps. Everything random
// that follows is a function of it, by way of Seed and len(Tokens), and for
// samplers of whole completions of the moves made.
//
// It is carried and never diagnosed: what a step has to tell is in its Info.
type State struct {
	// Branch holds the prompt and the emitted tokens. Samplers of whole
	// completions, which emit all at once, keep it without the prompt's last.
	Branch llm.Branch
	Row    llm.Row     // read after the last token of Branch
	Tokens []llm.Token // emitted so far
	Seed   uint64

	// Horizon is the most tokens that will be emitted: Options.MaxTokens, or
	// as many as the model's context leaves, and then Clipped is true.
	Horizon int
	Clipped bool
	// End is why the generation ended; empty while it goes on. The last
	// token of an ended generation is not in Branch.
	End llm.EndReason

	carried any // see With
}

// With returns the state with what a sampler of your own carries from step to
// step beside it: chains, particles, a memory.
func (s State) With(carried any) State {
	s.carried = carried
	return s
}

// Carried is what With was given; nil in a state that Begin made.
func (s State) Carried() any { return s.carried }

// Left is how many more tokens may be emitted.
func (s State) Left() int { return s.Horizon - len(s.Tokens) }

// Uniform returns the state's draw for the named stream: a number in [0, 1)
// that depends on Seed, on the name and on how many tokens are emitted, and on
// nothing else.
func (s State) Uniform(stream string) float64 {
	return Uniform(s.Seed, Key{Stream: stream, Step: uint64(len(s.Tokens))})
}

// Info is what a step has to tell. Zero fields tell nothing.
type Info struct {
	Steps    []llm.StepRecord // the tokens it emitted, in order
	Warnings []string         // each is recorded once, however often it comes

	// Draft is the completion as it stands, of a sampler that emits at the
	// end.
	Draft []llm.Token
	// Moves of Markov chains, and exchanges of replicas.
	Proposed, Accepted int
	Swaps, Swapped     int
	// LogProbs is of each chain's whole completion after the step's move.
	LogProbs []float64
	// ESS is that of the step's particles or blocks; what candidates have is
	// in Steps.
	ESS       float64
	Resampled []llm.Resampling
	Scores    []float64
	// Rollouts as decoded with and without sharing, and the error that their
	// number leaves.
	RolloutTokens, RolloutNodes int
	Errors                      []llm.ErrorAt
}

// Options say how far to generate, and from which seed.
type Options struct {
	// MaxTokens is the most tokens to emit; 0 means 128. An end token
	// counts as one.
	MaxTokens int
	// Seed makes the draws. 0 means a seed taken from the system's entropy;
	// the record tells which, and asking again for that one gives the same
	// tokens.
	Seed uint64
	// OnStep, where set, is called after each step.
	OnStep func(Progress)
}

const defaultMaxTokens = 128

// Progress is a generation under way.
type Progress struct {
	Steps     []llm.StepRecord // what the last step emitted
	Text      string           // all text so far; a draft's, while nothing is emitted
	Emitted   int              // tokens so far
	MaxTokens int
	Cost      llm.Cost // so far
}

// ErrPrompt is the error for a prompt without tokens: a model tells what
// comes next only after a token. Give it at least one, such as the token that
// begins a text.
var ErrPrompt = errors.New("the prompt is empty")

// ParamError is the error for a parameter that has no meaning.
type ParamError struct {
	Name  string // "alpha"
	Value float64
	Want  string // "a finite number above 0"
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s is %v, want %s", e.Name, e.Value, e.Want)
}

// Begin opens a branch, decodes prompt into it and reads what reads asks for
// (its Branch and Tokens are ignored).
//
// Errors: [ErrPrompt], [*llm.FitError] for a prompt that does not fit the
// context, [*ParamError] for a negative
// MaxTokens, and the model's own. No branch is left open after an error.
func Begin(ctx context.Context, m Model, prompt []llm.Token, opt Options, reads llm.Step) (State, error) {
	s, err := open(m, prompt, opt)
	if err != nil {
		return State{}, err
	}
	reads.Branch, reads.Tokens = s.Branch, prompt
	rows, err := m.Extend(ctx, []llm.Step{reads})
	if err != nil {
		return State{}, errors.Join(fmt.Errorf("samplers: begin: %w", err), m.Drop(s.Branch))
	}
	s.Row = rows[0]
	return s, nil
}

// beginWhole is Begin for samplers of whole completions: it leaves out the
// prompt's last token, which every first token's draw decodes again.
func beginWhole(ctx context.Context, m Model, prompt []llm.Token, opt Options) (State, origin, error) {
	s, err := open(m, prompt, opt)
	if err != nil {
		return State{}, origin{}, err
	}
	n := len(prompt) - 1
	if n > 0 {
		if _, err := m.Extend(ctx, []llm.Step{{Branch: s.Branch, Tokens: prompt[:n]}}); err != nil {
			return State{}, origin{}, errors.Join(fmt.Errorf("samplers: begin: %w", err), m.Drop(s.Branch))
		}
	}
	if room := m.Room(); room < s.Horizon {
		if room < 1 {
			return State{}, origin{}, errors.Join(fmt.Errorf("samplers: begin: %w", &llm.FitError{Need: len(prompt), Have: n, Of: "KV cache"}), m.Drop(s.Branch))
		}
		s.Horizon, s.Clipped = room, true
	}
	return s, origin{s.Branch, prompt[n]}, nil
}

// open checks what Begin promises and opens the branch.
func open(m Model, prompt []llm.Token, opt Options) (State, error) {
	opt, err := opt.resolve()
	if err != nil {
		return State{}, fmt.Errorf("samplers: begin: %w", err)
	}
	if len(prompt) == 0 {
		return State{}, fmt.Errorf("samplers: begin: %w", ErrPrompt)
	}
	if limit := m.Limit(); len(prompt) > limit {
		return State{}, fmt.Errorf("samplers: begin: %w", &llm.FitError{Need: len(prompt), Have: limit, Of: "context"})
	}
	s := State{Seed: opt.Seed, Horizon: opt.MaxTokens}
	// The last token needs no place in the context: nothing follows it.
	if most := m.Limit() - len(prompt) + 1; most < s.Horizon {
		s.Horizon, s.Clipped = most, true
	}
	if s.Branch, err = m.NewBranch(); err != nil {
		return State{}, fmt.Errorf("samplers: begin: %w", err)
	}
	return s, nil
}

// Emit adds step to the generation. Unless that ends it, the token is decoded
// and what reads asks for is read (its Branch and Tokens are ignored).
func Emit(ctx context.Context, m Model, s State, step llm.StepRecord, reads llm.Step) (State, Info, error) {
	s = s.push(m, step.Token)
	info := Info{Steps: []llm.StepRecord{step}}
	if s.End == "" && m.Room() < 1 {
		s.End = llm.EndContext
	}
	if s.End != "" {
		return s, info, nil
	}
	reads.Branch, reads.Tokens = s.Branch, []llm.Token{step.Token}
	rows, err := m.Extend(ctx, []llm.Step{reads})
	if err != nil {
		return s, info, fmt.Errorf("samplers: emit: %w", err)
	}
	s.Row = rows[0]
	return s, info, nil
}

// push adds a token to the list of emitted ones and sees whether it is the
// last.
func (s State) push(m Model, t llm.Token) State {
	s.Tokens = append(slices.Clip(s.Tokens), t)
	switch {
	case m.IsEnd(t):
		s.End = llm.EndToken
	case s.Left() > 0:
	case s.Clipped:
		s.End = llm.EndContext
	default:
		s.End = llm.EndLimit
	}
	return s
}

func (o Options) resolve() (Options, error) {
	if o.MaxTokens < 0 {
		return o, &ParamError{"max tokens", float64(o.MaxTokens), "0 or more"}
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	if o.Seed == 0 {
		o.Seed = newSeed()
	}
	return o, nil
}
