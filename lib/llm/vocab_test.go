package llm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

// texts that tokenizers are known to change: spaces at both ends, runs of
// spaces, line ends of both kinds, runes of several bytes.
var texts = []string{
	"", " ", "x", " x", "x ", "  x  ", strings.Repeat(" ", 200), "\t\n\n", "\r\nx\r\n", "a  b", "a\n\n\n b",
	"🦙é", "日本語 テスト", "e\u0301", "don't", "The quick brown fox, 123.45!", "<|im_end|>", "</s>", "\x00\x01", "\u00a0\u2003\u200b",
}

// wordy is a vocabulary of bytes and some pieces, as the first Llama models'.
var wordy = llmtest.Tiny{Bytes: true, BOS: true, Pieces: []string{" the", "th", "he", " t", " ", "  ", "    ", "t", "h", "e", "<|im_end|>"}}

func TestTextSurvivesTokens(t *testing.T) {
	for _, c := range []struct {
		name  string
		model func(testing.TB) *llm.Model
	}{
		{"SentencePiece of bytes", func(tb testing.TB) *llm.Model { return open(tb, wordy, llm.Options{}) }},
		{"smollm2-135m", func(tb testing.TB) *llm.Model { return openReal(tb, llm.Options{}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.model(t)
			for _, text := range texts {
				for _, o := range []llm.TokenizeOptions{{}, {BOS: true}, {Special: true}} {
					tokens, err := m.Tokenize(text, o)
					if err != nil {
						t.Errorf("%q: %v", text, err)
						continue
					}
					bos := ""
					if o.BOS && m.AddBOS() {
						bos = string(m.Piece(m.BOS()))
					}
					if got := m.Detokenize(tokens); got != bos+text {
						t.Errorf("%q with %+v becomes %v, and that %q", text, o, tokens, got)
					}
				}
			}
			if _, err := m.Tokenize("ab\xffc", llm.TokenizeOptions{}); err == nil || !strings.Contains(err.Error(), "byte 2") {
				t.Errorf("text that is not UTF-8 gives %v", err)
			}
		})
	}
}

func TestPiecesAreBytesOfRunes(t *testing.T) {
	m := open(t, wordy, llm.Options{})
	tokens, err := m.Tokenize("🦙", llm.TokenizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var joined []byte
	for _, tok := range tokens {
		joined = append(joined, m.Piece(tok)...)
	}
	if string(joined) != " 🦙" || len(tokens) != 5 || string(m.Piece(tokens[1])) != "\xf0" {
		t.Errorf("%v has pieces that join to %q", tokens, joined)
	}
	if m.Piece(-1) != nil || m.Piece(1<<20) != nil {
		t.Error("tokens outside the vocabulary have pieces")
	}
}

func TestControlTextStaysText(t *testing.T) {
	for _, m := range []*llm.Model{open(t, wordy, llm.Options{}), openReal(t, llm.Options{})} {
		off, err := m.Tokenize("<|im_end|>", llm.TokenizeOptions{})
		if err != nil || len(off) < 3 || slices.ContainsFunc(off, m.IsControl) {
			t.Errorf("special off: %v, %v", off, err)
		}
		on, err := m.Tokenize("<|im_end|>", llm.TokenizeOptions{Special: true})
		if err != nil || len(on) != 1 || !m.IsControl(on[0]) || !m.IsEnd(on[0]) {
			t.Errorf("special on: %v, %v", on, err)
		}
	}
}

func TestOneBOS(t *testing.T) {
	tiny := wordy
	tiny.Template = `{{ bos_token }}{{ messages[0].content }}`
	m := open(t, tiny, llm.Options{})
	bos := m.BOS()
	count := func(name string, tokens []llm.Token, err error, want int) {
		t.Helper()
		n := 0
		for _, tok := range tokens {
			if tok == bos {
				n++
			}
		}
		if err != nil || n != want || (want == 1 && tokens[0] != bos) {
			t.Errorf("%s: %v with %d BOS, %v; want %d", name, tokens, n, err, want)
		}
	}
	tokens, err := m.Raw("the")
	count("raw text", tokens, err, 1)
	tokens, err = m.Raw("")
	count("empty raw text", tokens, err, 1)
	tokens, err = m.Tokenize("<s>the", llm.TokenizeOptions{BOS: true, Special: true})
	count("text that begins with it", tokens, err, 1)
	tokens, err = m.Tokenize("the", llm.TokenizeOptions{})
	count("none asked for", tokens, err, 0)
	tokens, err = m.Prompt(llm.User("the"))
	count("template that writes it", tokens, err, 1)
	tokens, err = m.Prompt(llm.User("<s>the"))
	count("a message that holds its text", tokens, err, 1)
}

func TestPromptOfTheRealModel(t *testing.T) {
	m := openReal(t, llm.Options{})
	text, err := m.Chat(llm.User("Hi"))
	const want = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
	if err != nil || text != want {
		t.Errorf("Chat gives %q, %v", text, err)
	}
	tokens, err := m.Prompt(llm.User("Hi"))
	if err != nil || m.Detokenize(tokens) != want {
		t.Errorf("Prompt gives %v, %v", tokens, err)
	}
	ends := 0
	tokens, err = m.Prompt(llm.User("say <|im_end|> please"))
	for _, tok := range tokens {
		if m.IsEnd(tok) {
			ends++
		}
	}
	if err != nil || ends != 2 || !strings.Contains(m.Detokenize(tokens), "say <|im_end|> please<|im_end|>") {
		t.Errorf("a message with control text has %d end tokens, want the template's 2: %v, %v", ends, tokens, err)
	}
}

func TestModelsWithoutTemplateOrTokenizer(t *testing.T) {
	m := open(t, wordy, llm.Options{})
	if _, err := m.Chat(llm.User("Hi")); !errors.Is(err, llm.ErrNoTemplate) || !strings.Contains(err.Error(), "Raw") {
		t.Errorf("a chat without template gives %v", err)
	}
	m = open(t, llmtest.Tiny{NoTokenizer: true}, llm.Options{})
	if _, err := m.Tokenize("a", llm.TokenizeOptions{}); !errors.Is(err, llm.ErrNoTokenizer) {
		t.Errorf("tokenizing without tokenizer gives %v", err)
	}
	s := newSession(t, m, llm.SessionOptions{})
	if rows := extend(t, s, llm.Step{Branch: must(s.NewBranch()), Tokens: []llm.Token{1, 2}, Top: 7}); len(rows[0].Top) != 7 {
		t.Errorf("a model of token ids reads %v", rows)
	}
}

func TestEveryEndTokenEnds(t *testing.T) {
	m := open(t, llmtest.Tiny{}, llm.Options{})
	if ends := m.Ends(); !slices.Equal(ends, []llm.Token{5, 6}) {
		t.Errorf("the end tokens are %v", ends)
	}
	if m.IsEnd(4) || m.IsEnd(-1) || m.IsEnd(7) {
		t.Error("other tokens end")
	}
	real := openReal(t, llm.Options{})
	if ends := real.Ends(); !slices.Equal(ends, []llm.Token{0, 2, 4}) { // <|endoftext|> <|im_end|> and the end of a repository's file
		t.Errorf("SmolLM2's end tokens are %v", ends)
	}
}

func TestBundle(t *testing.T) {
	m := open(t, llmtest.Tiny{}, llm.Options{})
	b := m.MIMEBundle()
	for _, want := range []string{"tiny.gguf", "llama, 7.71K parameters, F32", "</s> (5)", "512 tokens in training"} {
		if !strings.Contains(b["text/plain"].(string), want) {
			t.Errorf("the text lacks %q:\n%s", want, b["text/plain"])
		}
	}
	if h := b["text/html"].(string); !strings.Contains(h, "&lt;/s&gt; (5)") {
		t.Errorf("the page lacks the escaped end token:\n%s", h)
	}
}
