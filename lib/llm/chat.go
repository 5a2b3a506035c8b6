package llm

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// Message is one turn of a chat.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// User is a chat of one message from the user.
func User(text string) []Message { return []Message{{Role: "user", Content: text}} }

// Chat renders messages with the model's own chat template, up to where the
// assistant's answer begins. A model without a template gives ErrNoTemplate;
// one that refuses the messages (some want user and assistant to take turns)
// gives its own words.
func (m *Model) Chat(messages []Message) (string, error) {
	text, err := m.render(messages)
	if err != nil {
		return "", fmt.Errorf("llm: render chat: %w", err)
	}
	return text, nil
}

// Prompt renders messages and gives the tokens to start a branch with. The
// template's control tokens become tokens; their text in a message does not.
func (m *Model) Prompt(messages []Message) ([]Token, error) {
	text, err := m.render(messages)
	if err != nil {
		return nil, fmt.Errorf("llm: render chat: %w", err)
	}
	tokens, err := m.tokenizeChat(text, messages)
	if err != nil {
		return nil, fmt.Errorf("llm: tokenize chat: %w", err)
	}
	return tokens, nil
}

// Raw gives the tokens that start a branch which continues text as it is:
// text alone, after BOS if the model wants that.
func (m *Model) Raw(text string) ([]Token, error) {
	return m.Tokenize(text, TokenizeOptions{BOS: true})
}

// Template is the source of the model's chat template; empty without one.
func (m *Model) Template() string { return m.facts.Template }

func (m *Model) render(messages []Message) (string, error) {
	if m.facts.Template == "" {
		return "", ErrNoTemplate
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return "", ErrClosed
	}
	if m.chat == nil {
		t, err := newTemplate(m.facts.Template)
		if err != nil {
			return "", fmt.Errorf("parse the model's template: %w", err)
		}
		m.chat = t
	}
	text := func(t int32) string { return string(m.m.Piece(t)) }
	return m.chat.render(messages, text(m.facts.BOS), text(m.facts.EOS))
}

// tokenizeChat tokenizes a rendered chat with control tokens on, except
// within a message that holds the text of one: that stays text.
func (m *Model) tokenizeChat(text string, messages []Message) ([]Token, error) {
	var out []Token
	add := func(s string, special bool) error {
		tokens, err := m.tokenize(s, TokenizeOptions{Special: special, BOS: special && len(out) == 0})
		out = append(out, tokens...)
		return err
	}
	for _, msg := range messages {
		content := msg.Content
		if !m.holdsControl(content) {
			continue
		}
		at := strings.Index(text, content)
		if at < 0 { // many templates trim
			content = strings.TrimSpace(content)
			at = strings.Index(text, content)
		}
		if at < 0 {
			return nil, fmt.Errorf("the %s message holds the text of a control token, and the template changes the message", msg.Role)
		}
		if err := errors.Join(add(text[:at], true), add(content, false)); err != nil {
			return nil, err
		}
		text = text[at+len(content):]
	}
	if text == "" && len(out) > 0 {
		return out, nil
	}
	return out, add(text, true)
}

// holdsControl reports whether text holds that of a control token.
func (m *Model) holdsControl(text string) bool {
	for t, control := range m.facts.Control {
		if !control {
			continue
		}
		if piece := m.Piece(Token(t)); len(piece) > 0 && strings.Contains(text, string(piece)) {
			return true
		}
	}
	return false
}

// template is a chat template in Jinja, with what templates expect around
// it: transformers' apply_chat_template sets the rules (blocks are trimmed;
// raise_exception and strftime_now exist).
type template struct {
	source string
	t      *exec.Template // nil: llama.cpp renders it
}

// newTemplate parses source. What gonja does not parse (it knows no
// conditional within parentheses, which Gemma's template has) llama.cpp may
// recognise as one of the families that it renders itself.
func newTemplate(source string) (*template, error) {
	t, err := parseTemplate(source)
	if err != nil {
		if _, known := llama.BuiltinChat(source, [][2]string{{"user", ""}}, true); known {
			return &template{source: source}, nil
		}
		return nil, err
	}
	return &template{source, t}, nil
}

func parseTemplate(source string) (t *exec.Template, err error) {
	defer recoverTo(&err)
	c := config.New()
	c.TrimBlocks, c.LeftStripBlocks = true, true
	globals := exec.EmptyContext().Update(builtins.GlobalFunctions).Update(builtins.GlobalVariables).Update(exec.NewContext(map[string]any{
		"raise_exception": func(_ *exec.Evaluator, args *exec.VarArgs) (string, error) {
			var why string
			for _, a := range args.Args {
				why += a.String()
			}
			return "", fmt.Errorf("the model's template refuses: %s", why)
		},
		"strftime_now": func(_ *exec.Evaluator, args *exec.VarArgs) string {
			if len(args.Args) == 0 {
				return ""
			}
			return strftime(time.Now(), args.Args[0].String())
		},
	}))
	return exec.NewTemplate("chat", c, onlyTemplate{source}, &exec.Environment{
		Context: globals, Filters: builtins.Filters, Tests: builtins.Tests,
		ControlStructures: builtins.ControlStructures, Methods: builtins.Methods,
	})
}

func (t *template) render(messages []Message, bos, eos string) (text string, err error) {
	defer recoverTo(&err)
	if t.t == nil {
		var pairs [][2]string
		for _, m := range messages {
			pairs = append(pairs, [2]string{m.Role, m.Content})
		}
		text, _ = llama.BuiltinChat(t.source, pairs, true)
		return text, nil
	}
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = map[string]any{"role": m.Role, "content": m.Content}
	}
	return t.t.ExecuteToString(exec.NewContext(map[string]any{
		"messages": list, "add_generation_prompt": true, "bos_token": bos, "eos_token": eos,
	}))
}

// recoverTo makes an error of a panic in the template engine: templates come
// with downloaded files.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("template engine: %v", r)
	}
}

// onlyTemplate is a loader that knows one template and reads no files, so
// that a downloaded model's template cannot include one.
type onlyTemplate struct{ source string }

func (l onlyTemplate) Read(path string) (io.Reader, error) {
	if path != "chat" {
		return nil, fmt.Errorf("a chat template may not read %q", path)
	}
	return strings.NewReader(l.source), nil
}
func (l onlyTemplate) Resolve(path string) (string, error)    { return path, nil }
func (l onlyTemplate) Inherit(string) (loaders.Loader, error) { return l, nil }

// strftime formats t by the directives that chat templates use.
func strftime(t time.Time, format string) string {
	return strings.NewReplacer(
		"%Y", t.Format("2006"), "%y", t.Format("06"), "%m", t.Format("01"), "%d", t.Format("02"),
		"%B", t.Format("January"), "%b", t.Format("Jan"), "%A", t.Format("Monday"), "%a", t.Format("Mon"),
		"%H", t.Format("15"), "%I", t.Format("03"), "%M", t.Format("04"), "%S", t.Format("05"), "%p", t.Format("PM"),
		"%%", "%",
	).Replace(format)
}
