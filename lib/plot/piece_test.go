package plot

import (
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
)

func TestReadableTokens(t *testing.T) {
	// Runs are joined by "", marks stand in ‹›.
	show := func(rs []run) string {
		s := ""
		for _, r := range rs {
			if r.mark {
				s += "‹" + r.text + "›"
			} else {
				s += r.text
			}
		}
		return s
	}
	for name, c := range map[string]struct {
		pieces []string
		want   []string
	}{
		"words":                              {[]string{"The", " cat"}, []string{"The", " cat"}},
		"a rune of two tokens":               {[]string{"\xe2\x82", "\xac"}, []string{"€", "‹↤›"}},
		"a rune of four tokens":              {[]string{"\xf0", "\x9f", "\x98", "\x80"}, []string{"😀", "‹↤›", "‹↤›", "‹↤›"}},
		"a rune between words":               {[]string{"costs \xe2", "\x82\xac5"}, []string{"costs €", "‹↤›5"}},
		"two runes across three tokens":      {[]string{"\xc3", "\xa9\xc3", "\xa9"}, []string{"é", "‹↤›é", "‹↤›"}},
		"half a rune at the end":             {[]string{"x", "\xf0\x9f"}, []string{"x", `‹\xf0\x9f›`}},
		"half a rune before a word":          {[]string{"\xf0\x9f", " x"}, []string{`‹\xf0\x9f›`, " x"}},
		"half of a surrogate pair":           {[]string{"\xed\xa0\xbd"}, []string{`‹\xed\xa0\xbd›`}},
		"a byte of no rune":                  {[]string{"a\xffb"}, []string{`a‹\xff›b`}},
		"line feeds":                         {[]string{"a\n\nb"}, []string{"a‹↵›\n‹↵›\nb"}},
		"tab, return, escape":                {[]string{"\t\r\x1b"}, []string{`‹⇥\r\x1b›`}},
		"only spaces":                        {[]string{"   "}, []string{"‹␣␣␣›"}},
		"a space that does not look odd":     {[]string{"\u00a0"}, []string{`‹\u00a0›`}},
		"right-to-left override":             {[]string{"\u202eabc"}, []string{`‹\u202e›abc`}},
		"nothing":                            {[]string{"", "a"}, []string{"‹⟨0⟩›", "a"}},
		"nothing, at the end":                {[]string{"a", ""}, []string{"a", "‹⟨end 1⟩›"}},
		"what a replacement character means": {[]string{"\ufffd"}, []string{"\ufffd"}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := llm.Record{End: llm.EndToken}
			for i, p := range c.pieces {
				rec.Steps = append(rec.Steps, llm.StepRecord{Token: llm.Token(i), Piece: []byte(p)})
			}
			for i, rs := range readable(rec) {
				if got := show(rs); got != c.want[i] {
					t.Errorf("token %d is shown as %q, want %q", i, got, c.want[i])
				}
			}
		})
	}
}

func TestQuotedTokens(t *testing.T) {
	for name, c := range map[string]struct {
		piece string
		end   bool
		limit int
		want  string
	}{
		"a word":              {" the", false, 20, `" the"`},
		"a line feed":         {"\n", false, 20, `"\n"`},
		"a quote":             {`"`, false, 20, `"\""`},
		"a stray byte":        {"\xff", false, 20, `"\xff"`},
		"letters stay":        {"é你שלום", false, 20, `"é你שלום"`},
		"exactly the limit":   {"abcd", false, 4, `"abcd"`},
		"one over the limit":  {"abcde", false, 4, `"abcd…"`},
		"cut before a letter": {"éééé", false, 2, `"éé…"`},
		"nothing":             {"", false, 20, "⟨7⟩"},
		"nothing, an end":     {"", true, 20, "⟨end 7⟩"},
		"an end with bytes":   {"</s>", true, 20, `"</s>"`},
	} {
		if got := quote([]byte(c.piece), 7, c.end, c.limit); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestVisualOrder(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"left to right": {"abc", "abc"},
		"hebrew":        {"שלום", "םולש"},
		"quoted hebrew": {`"שלום"`, `"םולש"`},
		"mixed":         {"a שלום b", "a םולש b"},
	} {
		if got := visual(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestDrawnTextHasNoEmptyBoxes(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"latin, greek, cyrillic":     {"é α ж", "é α ж"},
		"signs of this package":      {"↤ ↵ ⇥ ␣ ⟨⟩ ▸ … ± − ∞ ≥ ·", "↤ ↵ ⇥ ␣ ⟨⟩ ▸ … ± − ∞ ≥ ·"},
		"an accent after its letter": {"e\u0301", "\u00e9"},
		"an emoji that DejaVu has":   {"😀", "😀"},
		"chinese, which it has not":  {"a你b", `a\u{4f60}b`},
		"a new emoji":                {"🦀", `\u{1f980}`},
	} {
		if got := drawable(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
