// Package samplers draws completions from a language model: from the model's
// own distribution, at low temperature, and from its power distribution.
//
// # The power distribution
//
// A completion y ends at its first end token, of which a model may have
// several, or at the token limit. The power distribution gives it the
// probability
//
//	π(y) ∝ p(y)^α
//
// where p is the model's own and α > 1 sharpens: likely completions become
// likelier. This is not low temperature, which sharpens each token on its
// own. The next token of π weighs the futures that each candidate leads to,
//
//	π(v | h) ∝ p(v | h)^α · ζ(h·v),  ζ(h') = Σ p(future | h')^α
//
// and is estimated by rollouts. A token whose few continuations are certain
// gains over one with many continuations that are each unlikely.
//
// # Where to start
//
// [Generate] draws one completion with a [Sampler] on a [Model] (an
// llm.Session, or the exact toy.Model) and returns an llm.Record:
//
//	s := samplers.Importance{Alpha: 4, Rollouts: 8, LookAhead: 16}
//	fmt.Println(samplers.Estimate(session, prompt, s, samplers.Options{MaxTokens: 40}))
//	rec, err := samplers.Generate(ctx, session, prompt, s, samplers.Options{MaxTokens: 40, Seed: 1})
//	fmt.Println(rec.Text)
//	fmt.Println(samplers.CostLine(rec.Cost), rec.Warnings)
//
// To go token by token, call a sampler's Init and Step.
//
// # The samplers
//
// Of the power distribution, one token or block at a time: [Importance], by
// weighed rollouts of each candidate, is the first to try; [Block] does the
// same for several tokens; [Power] takes its estimate of ζ from a
// [BranchSampler], such as [MetropolisBranch], or from a [BeamSampler], such
// as [BeamBranch].
//
// Of the power distribution, a whole completion at a time: [MCMC], [SMC] and
// [Tempering].
//
// Baselines: [Plain] with what [Candidates] makes of it (top-k, nucleus,
// min-p), [LowTemperature], [BestOf] and [Majority].
//
// Your own: a type with Sampler's methods, a [BranchSampler] or [BeamSampler],
// or a function, by [Adjust]. They work wherever those of the package do.
//
// A sampler is a struct of settings, whose zeros mean defaults. Init gives a
// [State], which is carried; Step gives the next one and an [Info], which is
// diagnosed and carried nowhere. Generate gathers what steps tell into the
// record's Diagnostics and Warnings.
//
// # What can be relied on
//
// All weights stay in log space. The log-probability of an end token counts
// like any other, and nothing is decoded past one. Every draw has a key made
// of the seed and of what it is for, so that a seed gives the same tokens
// however the work is spread over batches. Two runs differ only where the
// engine's logits do, and a draw falls between them: with float weights in
// batches of one token, or where the session is too small to hold all
// candidates at once. Whatever happens in Generate, the model's branches are
// afterwards as they were before.
//
// # What it never does
//
// The package has never heard of llama.cpp, prints nothing, and starts no
// goroutine. It does not cut silently: a generation that stops at the end of
// the context says so, and a look-ahead that was shortened leaves a warning.
package samplers
