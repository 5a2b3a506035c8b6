package samplers

import (
	"context"

	"github.com/branchbook/branchbook/lib/llm"
)

// Model is all that a sampler needs of a language model. An llm.Session is
// one, and so is toy.Model, which enumerates its completions.
//
// A Model is used by one goroutine at a time.
type Model interface {
	// NewBranch opens an empty branch.
	NewBranch() (llm.Branch, error)
	// Fork opens n branches that continue br as it is now.
	Fork(br llm.Branch, n int) ([]llm.Branch, error)
	// Extend appends to many branches, each named at most once, in as few
	// batches as the model can. rows[i] answers steps[i]. A cancelled ctx
	// ends it with ctx's error; the branches it names must then be dropped.
	Extend(ctx context.Context, steps []llm.Step) (rows []llm.Row, err error)
	// Drop frees branches. A branch may be dropped once.
	Drop(brs ...llm.Branch) error

	// Len is the number of tokens in a branch.
	Len(br llm.Branch) int
	// Limit is the number of tokens that one branch may hold.
	Limit() int
	// Room is how many further tokens fit now, summed over all branches.
	Room() int
	// Branches is how many further branches can be opened now.
	Branches() int

	// IsEnd reports whether t ends a completion. Every end-of-generation
	// token does, not only the one named EOS.
	IsEnd(t llm.Token) bool
	// Piece is the token's own bytes, perhaps part of a rune.
	Piece(t llm.Token) []byte
	// Info describes the weights and what computes with them.
	Info() (llm.ModelInfo, llm.EngineInfo)
	// DecodeSeconds is the time spent in the model since it was opened.
	DecodeSeconds() float64
}
