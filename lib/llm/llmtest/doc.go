// Package llmtest makes models for tests: real GGUF files that llama.cpp
// loads, so small and so random that a test can enumerate everything they
// could say.
//
//	path := llmtest.Write(t, llmtest.Tiny{Seed: 1})
//	m, err := llm.Open(ctx, path, llm.Options{})
//
// Start at [Tiny]; [Broken] is a table of files that must not load, and
// [Read] the plain Go version of what a session reads off a row of logits.
//
// The package has no part in a program: it is imported by tests alone.
package llmtest
