package llm

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// TokenizeOptions say how text becomes tokens. The zero value takes text as
// text: nothing is added, and the text of a control token stays text.
type TokenizeOptions struct {
	// Special makes the text of a control token ("<|im_end|>") that token.
	// It is for templates, never for what a user wrote.
	Special bool
	// BOS begins with the model's BOS token if the model wants one, and if
	// the text does not begin with it.
	BOS bool
}

// Tokenize splits text into tokens. Detokenize gives the same bytes back, if
// text is the beginning of a prompt: there a tokenizer of the SentencePiece
// kind puts a space before it. Text that is not valid UTF-8 is an error.
func (m *Model) Tokenize(text string, o TokenizeOptions) ([]Token, error) {
	tokens, err := m.tokenize(text, o)
	if err != nil {
		return nil, fmt.Errorf("llm: tokenize: %w", err)
	}
	return tokens, nil
}

func (m *Model) tokenize(text string, o TokenizeOptions) ([]Token, error) {
	release, err := m.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if !m.facts.Tokenizer {
		return nil, ErrNoTokenizer
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("text is not valid UTF-8 from byte %d on", invalidAt(text))
	}
	ids, err := m.m.Tokenize(text, o.Special)
	if err != nil {
		return nil, fmt.Errorf("no tokens for %q: %w", cut(text, 40), err)
	}
	out := make([]Token, 0, len(ids)+1)
	if bos := Token(m.facts.BOS); o.BOS && m.facts.AddBOS && bos >= 0 && (len(ids) == 0 || Token(ids[0]) != bos) {
		out = append(out, bos)
	}
	for _, id := range ids {
		out = append(out, Token(id))
	}
	return out, nil
}

// Detokenize joins the tokens' bytes to text; control tokens show as their
// own text. It undoes Tokenize, so tokens are taken as the beginning of a
// prompt: use Piece for the bytes of one token within a text.
//
// Tokens that end within a rune give bytes that are not valid UTF-8.
func (m *Model) Detokenize(tokens []Token) string {
	var b bytes.Buffer
	first := 0
	if len(tokens) > 0 && tokens[0] == m.BOS() {
		first = 1
	}
	for i, t := range tokens {
		piece := m.Piece(t)
		if i == first && m.prefix {
			piece = bytes.TrimPrefix(piece, []byte(" "))
		}
		b.Write(piece)
	}
	return b.String()
}

// Piece is the token's own bytes, perhaps part of a rune; a control token's
// are its text. It is nil outside the vocabulary and after Close.
func (m *Model) Piece(t Token) []byte {
	release, err := m.use()
	if err != nil {
		return nil
	}
	defer release()
	return m.m.Piece(int32(t))
}

// IsEnd reports whether t ends a completion. Every end-of-generation token
// does, not only the one named EOS.
func (m *Model) IsEnd(t Token) bool {
	return t >= 0 && int(t) < len(m.facts.End) && m.facts.End[t]
}

// IsControl reports whether t is a control token, which text does not become
// unless TokenizeOptions.Special is set.
func (m *Model) IsControl(t Token) bool {
	return t >= 0 && int(t) < len(m.facts.Control) && m.facts.Control[t]
}

// Ends are all tokens that end a completion, by rising id.
func (m *Model) Ends() []Token {
	var ends []Token
	for t, end := range m.facts.End {
		if end {
			ends = append(ends, Token(t))
		}
	}
	return ends
}

// BOS is the token that begins a text, or -1 if the model has none. Whether
// the model wants it is in AddBOS.
func (m *Model) BOS() Token { return Token(m.facts.BOS) }

// AddBOS reports whether the model was trained on texts that begin with BOS.
func (m *Model) AddBOS() bool { return m.facts.AddBOS }

// Vocabulary is the number of tokens.
func (m *Model) Vocabulary() int { return m.facts.Vocabulary }

// addsSpace reports whether the tokenizer puts a space before a text. It is
// asked by example, because each kind of vocabulary has its own rule.
func (m *Model) addsSpace() bool {
	if !m.facts.Tokenizer {
		return false
	}
	for _, text := range []string{"a", "1", "."} { // one of which every vocabulary has
		ids, err := m.m.Tokenize(text, false)
		if err != nil {
			continue
		}
		var joined []byte
		for _, id := range ids {
			joined = append(joined, m.m.Piece(id)...)
		}
		if string(joined) == text {
			return false
		}
		if string(joined) == " "+text {
			return true
		}
	}
	return false
}

func invalidAt(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(s)
}

// cut shortens s to about n bytes, for a message.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
