// Package llm loads language models and decodes branches of text with them.
//
// A [Model] is weights with a vocabulary, metadata and a chat template; Open
// finds it by path or catalogue name. A [Session] is a KV cache in which
// branches of text grow: Fork shares a prefix, Extend appends to many branches
// in one batch, Drop frees. Each step of Extend says what it wants to know of
// the next token's distribution: the most probable tokens, draws from a power
// of it, the log-probabilities of given tokens. Those are computed beside the
// logits, in C; rows of logits come to Go only where they are asked for.
//
//	m, err := llm.Open(ctx, "smollm2-135m", llm.Options{})
//	prompt, err := m.Prompt(llm.User("Why is the sky blue?"))
//	s, err := m.NewSession(llm.SessionOptions{})
//	br, err := s.NewBranch()
//	rows, err := s.Extend(ctx, []llm.Step{{Branch: br, Tokens: prompt, Top: 5}})
//
// # Types to start from
//
// [Open], [Model.NewSession] and [Session.Extend] with [Step] and [Row].
// [Record] is what a sampler leaves of a generation. [Inspect] reads a file's
// header without loading it.
//
// # What the numbers are
//
// Log-probabilities are natural logarithms, of the model's own distribution
// over its whole vocabulary, exact to about 2e-7. With quantised weights the
// embedded engine gives bit-equal results whatever else is in a batch, in any
// chunks of the prompt and with any number of threads; with float weights a
// batch of one token differs from larger ones by about 1e-6.
//
// # What it never does
//
// It does not choose tokens: that is package samplers. It knows of no kernel
// and no notebook beyond MIMEBundle, prints nothing, and reaches the network
// only through package catalog, for a catalogue name that is not here yet.
// Only internal/llama knows where llama.cpp comes from: it is compiled in,
// or with the build tag llama_system found by pkg-config.
package llm
