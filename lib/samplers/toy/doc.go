// Package toy is a language model small enough to be solved exactly, and the
// oracle that every sampler is tested against.
//
// A [Model] is a Markov chain over a handful of tokens: the distribution of
// the next token depends on the last one only. It does all that a sampler
// asks of a language model (it is a samplers.Model), branches, room and
// cancellation included, and computes nothing but table look-ups.
//
// A [Law] is the enumeration of every completion of a prompt up to a horizon,
// each with its log-probability. From it follow without any sampling the
// power distribution π_α(y) ∝ p(y)^α, its next-token conditionals, and the
// look-ahead factor ζ, also cut at a depth. Any model whose completions can
// be counted has a Law, not only the Markov chain: see [Enumerate].
//
// The package never estimates: what it returns is exact up to rounding.
//
//	m, _ := toy.New(toy.Options{Seed: 1})
//	law, _ := m.Law(m.Prompt(), 5)
//	exact := law.Power(4)                       // of each of 1365 completions
//	next := law.Next(nil, 4, toy.Full)          // π_4 of the first token
//	cut := law.Next(nil, 4, 2)                  // with ζ cut at depth 2
package toy
