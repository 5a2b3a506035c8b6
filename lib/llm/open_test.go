package llm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/catalog"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

// open opens a tiny model, and skips the test in a build without llama.cpp.
func open(tb testing.TB, tiny llmtest.Tiny, o llm.Options) *llm.Model {
	tb.Helper()
	return openPath(tb, llmtest.Write(tb, tiny), o)
}

// openReal opens SmolLM2-135M where its file is already here.
func openReal(tb testing.TB, o llm.Options) *llm.Model {
	tb.Helper()
	_, path, here, err := catalog.Locate("smollm2-135m", catalog.Options{})
	if err != nil || !here {
		skip(tb, "smollm2-135m is not here; get it with `branchbook models get smollm2-135m`")
	}
	return openPath(tb, path, o)
}

func openPath(tb testing.TB, path string, o llm.Options) *llm.Model {
	tb.Helper()
	m, err := llm.Open(context.Background(), path, o)
	if errors.Is(err, llm.ErrNoEngine) {
		skip(tb, err.Error())
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { m.Close() })
	return m
}

// skip skips, or fails where everything is required to run.
func skip(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

func TestBrokenFilesAreRefused(t *testing.T) {
	open(t, llmtest.Tiny{}, llm.Options{}) // or skip
	for _, f := range llmtest.Broken(t) {
		t.Run(f.Name, func(t *testing.T) {
			m, err := llm.Open(t.Context(), f.Path, llm.Options{})
			if m != nil || !errors.Is(err, f.Err) {
				t.Fatalf("Open gives %v, %v; want error %v", m, err, f.Err)
			}
			if !strings.Contains(err.Error(), filepath.Base(f.Path)) {
				t.Errorf("the error does not name the file: %v", err)
			}
			t.Log(err)
		})
	}
}

func TestBrokenFilesAreRefusedByTheirHeader(t *testing.T) {
	for _, f := range llmtest.Broken(t) {
		if f.Err == llm.ErrLoad || f.Err == llm.ErrArchitecture {
			continue // the header is sound
		}
		if _, err := llm.Inspect(f.Path); !errors.Is(err, f.Err) {
			t.Errorf("%s: Inspect gives %v, want %v", f.Name, err, f.Err)
		}
	}
}

func TestInspect(t *testing.T) {
	path := llmtest.Write(t, llmtest.Tiny{Layers: 2, Context: 77})
	f, err := llm.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	const width, vocabulary = 32, 7
	layer := 2*width + 7*width*width
	want := int64(2*width*vocabulary + width + 2*layer)
	if f.Architecture != "llama" || f.Name != "tiny" || f.Quantisation != "F32" || f.Parameters != want || f.Metadata["llama.context_length"] != "77" {
		t.Errorf("Inspect gives %+v, want %d parameters", f, want)
	}
	m := openPath(t, path, llm.Options{})
	if i := m.Info(); i.Parameters != f.Parameters || i.Quantisation != f.Quantisation || i.Bytes != f.Bytes || i.ContextTrain != 77 || i.Vocabulary != vocabulary {
		t.Errorf("Info is %+v, the header says %+v", i, f)
	}
}

func TestSplitModels(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, tiny llmtest.Tiny) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, tiny.File(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	second := write("m-00002-of-00002.gguf", llmtest.Tiny{Part: 2, Parts: 2})
	if _, err := llm.Inspect(second); !errors.Is(err, llm.ErrSplit) || !strings.Contains(err.Error(), "m-00001-of-00002.gguf") {
		t.Errorf("second part: %v", err)
	}
	first := write("m-00001-of-00003.gguf", llmtest.Tiny{Part: 1, Parts: 3})
	if _, err := llm.Inspect(first); !errors.Is(err, llm.ErrSplit) || !strings.Contains(err.Error(), "part 2 of 3 is missing") {
		t.Errorf("missing part: %v", err)
	}
	odd := write("odd.gguf", llmtest.Tiny{Part: 1, Parts: 3})
	if _, err := llm.Inspect(odd); !errors.Is(err, llm.ErrSplit) {
		t.Errorf("a part under another name: %v", err)
	}
}

func TestOpenReportsProgressAndStops(t *testing.T) {
	path := llmtest.Write(t, llmtest.Tiny{})
	var last llm.Progress
	openPath(t, path, llm.Options{Progress: func(p llm.Progress) { last = p }})
	if last != (llm.Progress{Stage: "load", Done: 1}) {
		t.Errorf("the last progress is %+v", last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m, err := llm.Open(ctx, path, llm.Options{Progress: func(llm.Progress) { cancel() }})
	if m != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a context cancelled at the first progress gives %v, %v", m, err)
	}
}

func TestUnknownNamesGetTheCataloguesAnswer(t *testing.T) {
	var unknown *catalog.UnknownError
	if _, err := llm.Open(t.Context(), "smollm", llm.Options{}); !errors.As(err, &unknown) {
		t.Errorf("Open gives %v", err)
	}
}

func TestClosedModel(t *testing.T) {
	m := open(t, llmtest.Tiny{}, llm.Options{})
	s, err := m.NewSession(llm.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("Close is not idempotent: %v", err)
		}
	}
	if _, err := m.Tokenize("a", llm.TokenizeOptions{}); !errors.Is(err, llm.ErrClosed) {
		t.Errorf("Tokenize after Close: %v", err)
	}
	if _, err := m.NewSession(llm.SessionOptions{}); !errors.Is(err, llm.ErrClosed) {
		t.Errorf("NewSession after Close: %v", err)
	}
	if p := m.Piece(0); p != nil {
		t.Errorf("Piece after Close is %q", p)
	}
	// The session keeps the weights until it is closed itself.
	br, _ := s.NewBranch()
	if _, err := s.Extend(t.Context(), []llm.Step{{Branch: br, Tokens: []llm.Token{0}, Top: 1}}); err != nil {
		t.Errorf("a session of a closed model: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestModelsAreUsedConcurrently(t *testing.T) {
	m := open(t, llmtest.Tiny{}, llm.Options{})
	done := make(chan error)
	for range 4 {
		go func() {
			s, err := m.NewSession(llm.SessionOptions{Branches: 2})
			for i := 0; err == nil && i < 20; i++ {
				var br llm.Branch
				if br, err = s.NewBranch(); err == nil {
					_, err = s.Extend(context.Background(), []llm.Step{{Branch: br, Tokens: []llm.Token{0, 1}, Top: 2}})
				}
				m.Piece(1)
				m.Info()
				err = errors.Join(err, s.Drop(br))
			}
			done <- errors.Join(err, s.Close())
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
