package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/branchbook/branchbook/lib/llm/catalog"
	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// Options say how to open a model. The zero value is right for most.
type Options struct {
	// Context is the number of tokens that a session of the model holds
	// unless its own options say otherwise; see SessionOptions.Context.
	Context int
	// Threads is the number of threads that compute, always. Zero means up to
	// the number of cores that the process may use, and fewer while fewer are
	// faster: on a machine that others use too, threads that wait for one
	// another can be slower than one alone. The results do not depend on it.
	Threads int
	// Progress is called from time to time while the model is fetched and
	// loaded, from one goroutine at a time.
	Progress func(p Progress)
	// ReadWhole reads the file into memory rather than mapping it, which is
	// better on some network file systems.
	ReadWhole bool
}

// Progress says how the opening of a model stands.
type Progress struct {
	Stage string  // "download", "unpack", "load"
	Done  float64 // share of the stage, in [0, 1]
}

// Model is weights with their vocabulary and metadata. It is safe for
// concurrent use; what decodes with it is a Session.
type Model struct {
	m       *llama.Model
	facts   llama.Facts
	opt     Options
	threads int
	info    ModelInfo
	build   string // "native", "baseline", "system"
	cpu     string
	prefix  bool // the tokenizer puts a space before a text

	weights *weights
	cleanup runtime.Cleanup

	mu     sync.Mutex
	closed bool
	digest string
	chat   *template // compiled at first use
}

// weights counts what uses a llama_model: the Model, its sessions, and calls
// that run. The last to release it frees the memory.
type weights struct {
	mu   sync.Mutex
	refs int
	m    *llama.Model
}

func (w *weights) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refs--; w.refs == 0 {
		w.m.Free()
	}
}

// Open loads the model called name: the path of a GGUF file, or a name of the
// catalogue, whose file is fetched if it is not here yet. A cancelled ctx ends
// both.
//
// Close frees it; a model that becomes unreachable is freed too.
func Open(ctx context.Context, name string, o Options) (*Model, error) {
	path, err := find(ctx, name, o)
	if err != nil {
		return nil, err
	}
	m, err := open(ctx, name, path, o)
	if err != nil {
		return nil, fmt.Errorf("llm: open model %q: %w", name, err)
	}
	return m, nil
}

// find turns a name into a path; its errors name the model.
func find(ctx context.Context, name string, o Options) (string, error) {
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return "", fmt.Errorf("llm: open model %q: %w; name a .gguf file in it", name, ErrDirectory)
	}
	c := catalog.Options{}
	if o.Progress != nil {
		c.Progress = func(p catalog.Progress) {
			o.Progress(Progress{Stage: string(p.Stage), Done: float64(p.Done) / float64(max(p.Done, p.Total, 1))})
		}
	}
	return catalog.Resolve(ctx, name, c)
}

func open(ctx context.Context, name, path string, o Options) (*Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Context < 0 || o.Threads < 0 {
		return nil, fmt.Errorf("negative option: Context %d, Threads %d", o.Context, o.Threads)
	}
	head, err := inspect(path)
	if err != nil {
		return nil, err
	}
	lm, err := llama.Load(path, llama.LoadParams{
		Map: !o.ReadWhole, GPULayers: -1,
		Progress: func(done float32) bool {
			if o.Progress != nil {
				o.Progress(Progress{Stage: "load", Done: float64(done)})
			}
			return ctx.Err() == nil
		},
	})
	switch {
	case ctx.Err() != nil:
		if err == nil {
			lm.Free()
		}
		return nil, ctx.Err()
	case errors.Is(err, llama.ErrUnavailable):
		return nil, err
	case err != nil && strings.Contains(err.Error(), "unknown model architecture"):
		return nil, fmt.Errorf("%w: %q is not among those of llama.cpp %s", ErrArchitecture, head.Architecture, llama.Commit)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrLoad, err)
	case !lm.Facts.HasDecoder || lm.Facts.HasEncoder:
		lm.Free()
		return nil, fmt.Errorf("%w: %q does not continue text", ErrArchitecture, head.Architecture)
	}
	return newModel(lm, name, path, head, o), nil
}

func newModel(lm *llama.Model, name, path string, head *File, o Options) *Model {
	m := &Model{m: lm, facts: lm.Facts, opt: o, threads: o.Threads, weights: &weights{refs: 1, m: lm}}
	if m.threads == 0 {
		m.threads = cores()
	}
	m.build, m.cpu = llama.Build()
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	m.info = ModelInfo{
		Name: name, Path: path, Architecture: head.Architecture, Quantisation: head.Quantisation,
		Parameters: int64(lm.Facts.Parameters), Bytes: head.Bytes,
		Vocabulary: lm.Facts.Vocabulary, ContextTrain: lm.Facts.ContextTrain,
	}
	m.prefix = m.addsSpace()
	m.cleanup = runtime.AddCleanup(m, (*weights).release, m.weights)
	return m
}

// use keeps the weights until release is called.
func (m *Model) use() (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	m.weights.mu.Lock()
	defer m.weights.mu.Unlock()
	m.weights.refs++
	return m.weights.release, nil
}

// Close gives up the model. Its memory is freed when its sessions are closed
// too. Closing twice does nothing.
func (m *Model) Close() error {
	m.mu.Lock()
	closed := m.closed
	m.closed = true
	m.mu.Unlock()
	if !closed {
		m.cleanup.Stop()
		m.weights.release()
	}
	return nil
}

// Info describes the weights. Digest is empty until Model.Digest was called.
func (m *Model) Info() ModelInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := m.info
	info.Digest = m.digest
	return info
}

// Engine describes what computes with the weights; Context is what a session
// opened with the zero SessionOptions asks for.
func (m *Model) Engine() EngineInfo {
	return EngineInfo{Name: llama.Name, Commit: llama.Commit, Build: m.build, CPU: m.cpu, Threads: m.threads, Context: m.context()}
}

// Metadata is the file's own key-value pairs, with values as text; arrays
// (the vocabulary among them) are left out. The map is the caller's.
func (m *Model) Metadata() map[string]string { return maps.Clone(m.facts.Metadata) }

// Warnings are things about the model or the build that a user should know,
// each with its remedy.
func (m *Model) Warnings() []string {
	var w []string
	if m.build == "baseline" {
		w = append(w, "llama.cpp was built for any x86-64 CPU and runs at about a tenth of what this one can: build with `make build`")
	}
	if !m.facts.Tokenizer {
		w = append(w, "the model has no tokenizer: it takes token ids only")
	}
	if m.facts.Recurrent || m.facts.Hybrid {
		w = append(w, "the model is recurrent: a branch whose decode was cancelled cannot be continued")
	}
	return w
}

// Digest returns the sha256 of the model's file, in hexadecimal. The first
// call reads the file.
func (m *Model) Digest(ctx context.Context) (string, error) {
	m.mu.Lock()
	digest := m.digest
	m.mu.Unlock()
	if digest != "" {
		return digest, nil
	}
	digest, err := catalog.Digest(ctx, m.info.Path)
	if err != nil {
		return "", fmt.Errorf("llm: digest model: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.digest = digest
	return digest, nil
}

// context is how many tokens a session holds that does not say.
func (m *Model) context() int {
	if m.opt.Context > 0 {
		return m.opt.Context
	}
	if m.facts.ContextTrain > 0 {
		return min(defaultContext, m.facts.ContextTrain)
	}
	return defaultContext
}
