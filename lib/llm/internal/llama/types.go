// Package llama is the boundary to llama.cpp: Go types in, Go types out.
//
// It checks every length before C sees it, turns return codes into errors and
// keeps no policy: which branch owns which sequence, what fits and what an
// option means are package llm's. No other package knows where llama.cpp
// comes from.
package llama

import "errors"

// LoadParams say how to load a model.
type LoadParams struct {
	Map       bool                    // map the file rather than read it
	GPULayers int                     // layers to place on a GPU; -1 leaves it to llama.cpp
	Progress  func(done float32) bool // called with 0..1; false cancels
}

// Facts are what a loaded model says of itself.
type Facts struct {
	Vocabulary             int
	ContextTrain           int
	Parameters             uint64
	HasEncoder, HasDecoder bool
	Recurrent, Hybrid      bool
	Tokenizer              bool // the file has a vocabulary's text
	AddBOS                 bool
	BOS, EOS               int32 // -1 where there is none
	Template               string
	Metadata               map[string]string // scalar and string values; arrays are left out
	End, Control           []bool            // by token
}

// ContextParams say how much a Context holds.
type ContextParams struct {
	Cells      int // tokens of KV cache, shared by all sequences
	Batch      int // tokens of one decode
	MicroBatch int // tokens computed at a time
	Sequences  int
	Threads    int
	Poll       int // 0..100: how long an idle thread spins before it sleeps
}

// Batch is the tokens of one decode; its slices have one length.
type Batch struct {
	Token, Pos, Seq []int32
	Out             []int8 // 1 where a row of logits is wanted
}

// Query asks what to read off a row; see llm.Step.
type Query struct {
	Power float64
	Top   int
	Draws []float64
	Score []int32
}

// Answer is what Read found. Log-probabilities are of the softmax.
type Answer struct {
	Top     []int32
	TopLP   []float64
	Drawn   []int32
	DrawnLP []float64
	ScoreLP []float64
	LogZ    float64
	Entropy float64
}

// Errors that a caller tells apart.
var (
	ErrUnavailable = errors.New("built without cgo, so without llama.cpp: build with CGO_ENABLED=1 and a C++ compiler")
	ErrAborted     = errors.New("decode stopped")
	ErrNoSlot      = errors.New("no room in the KV cache")
	ErrNotFinite   = errors.New("logits name no distribution: a NaN, an infinity, or every token at -inf")
)
