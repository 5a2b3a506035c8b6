package llm_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

// tinyModel stands for a model of yours: seven tokens, random weights.
func tinyModel() *llm.Model {
	dir, err := os.MkdirTemp("", "llm")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tiny.gguf")
	if err := os.WriteFile(path, llmtest.Tiny{Seed: 1}.File(), 0o644); err != nil {
		log.Fatal(err)
	}
	m, err := llm.Open(context.Background(), path, llm.Options{ReadWhole: true})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleSession_Extend() {
	m := tinyModel()
	defer m.Close()
	s, err := m.NewSession(llm.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	prompt, err := m.Raw("abc")
	if err != nil {
		log.Fatal(err)
	}
	br, err := s.NewBranch()
	if err != nil {
		log.Fatal(err)
	}
	rows, err := s.Extend(context.Background(), []llm.Step{{Branch: br, Tokens: prompt, Top: 3}})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range rows[0].Top {
		fmt.Printf("%q %.3f\n", m.Piece(t.Token), t.LogProb)
	}
	// Output:
	// "b" -1.020
	// "e" -1.046
	// "d" -2.094
}

// Two continuations of one prompt grow in one batch; each draws its next
// token from the square of the model's distribution.
func ExampleSession_Fork() {
	m := tinyModel()
	defer m.Close()
	s, err := m.NewSession(llm.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	br, err := s.NewBranch()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := s.Extend(ctx, []llm.Step{{Branch: br, Tokens: []llm.Token{0, 1}}}); err != nil {
		log.Fatal(err)
	}
	two, err := s.Fork(br, 2)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := s.Extend(ctx, []llm.Step{
		{Branch: two[0], Tokens: []llm.Token{2}, Power: 2, Draws: []float64{0.4}},
		{Branch: two[1], Tokens: []llm.Token{3}, Power: 2, Draws: []float64{0.4}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for i, r := range rows {
		fmt.Printf("branch of %d tokens, then %q\n", s.Len(two[i]), m.Piece(r.Drawn[0].Token))
	}
	// Output:
	// branch of 3 tokens, then "b"
	// branch of 3 tokens, then "b"
}

func ExampleModel_Tokenize() {
	m := tinyModel()
	defer m.Close()
	tokens, err := m.Tokenize("bad</s>", llm.TokenizeOptions{Special: true})
	fmt.Println(tokens, err, m.IsEnd(tokens[3]))
	// Output: [1 0 3 5] <nil> true
}
