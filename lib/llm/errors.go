package llm

import (
	"errors"
	"fmt"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// Causes of a model that does not open. Test for them with errors.Is; a file
// that is not there gives fs.ErrNotExist.
var (
	// ErrNoEngine: the program was built without cgo. Build it with a C++
	// compiler, as `make build` does.
	ErrNoEngine = llama.ErrUnavailable
	// ErrNotGGUF: the file is of another kind, or older than GGUF 2. Get the
	// model as GGUF.
	ErrNotGGUF = errors.New("not a GGUF file")
	// ErrTruncated: the file ends before its header says. Get it again.
	ErrTruncated = errors.New("file is cut short")
	// ErrCorrupt: the header contradicts itself. Get the file again.
	ErrCorrupt = errors.New("broken GGUF header")
	// ErrDirectory: a directory was named where a file belongs.
	ErrDirectory = errors.New("is a directory")
	// ErrSplit: a part of a split model was named that is not the first, or a
	// part is missing.
	ErrSplit = errors.New("split model is not whole")
	// ErrArchitecture: this llama.cpp does not know the architecture, or it
	// does not generate text.
	ErrArchitecture = errors.New("unsupported model architecture")
	// ErrLoad: llama.cpp refused for another reason, in its own words.
	ErrLoad = errors.New("llama.cpp cannot load it")
)

// Causes of a refusal by an open model or session.
var (
	// ErrClosed: the model or session was closed.
	ErrClosed = errors.New("closed")
	// ErrInUse: a second goroutine called a session while the first was in
	// it. Give each goroutine its own session.
	ErrInUse = errors.New("in use by another goroutine")
	// ErrNoTemplate: the model has no chat template. Give it raw text to
	// continue: Model.Raw.
	ErrNoTemplate = errors.New("the model has no chat template; it is a base model, so give it raw text to continue with Raw(text)")
	// ErrNoTokenizer: the file holds weights without a vocabulary's text.
	ErrNoTokenizer = errors.New("the model has no tokenizer; use token ids")
	// ErrBranch: the branch was dropped or never opened here.
	ErrBranch = errors.New("no such branch: dropped, or of another session")
	// ErrBranches: no sequence is free. Drop a branch first.
	ErrBranches = errors.New("too many branches")
	// ErrStep: a step asks for what cannot be.
	ErrStep = errors.New("bad step")
)

// A FitError says that tokens do not fit: into one branch (Of is "context")
// or into what all branches share (Of is "KV cache"). A session with a larger
// SessionOptions.Context, or dropped branches, make room.
type FitError struct {
	Need int    // tokens that were asked for, those already there included
	Have int    // tokens that fit
	Of   string // "context" or "KV cache"
}

func (e *FitError) Error() string {
	if e.Of == "context" {
		return fmt.Sprintf("%d tokens do not fit the context of %d: shorten the text, or open the session with a larger Context", e.Need, e.Have)
	}
	return fmt.Sprintf("KV cache full: %d tokens needed, room for %d: drop branches, or open the session with a larger Context", e.Need, e.Have)
}
