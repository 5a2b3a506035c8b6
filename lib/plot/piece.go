package plot

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"

	"github.com/branchbook/branchbook/lib/llm"
)

// A run is a stretch of a token as it is shown. A mark stands for something
// that cannot be seen or is not text: a control character, a byte outside
// UTF-8, an end token.
type run struct {
	text string
	mark bool
}

// newline is the run after the mark of a line feed.
const newline = "\n"

// tail marks a token whose bytes finish a character that begins in a token
// before it, where the character is shown.
const tail = "↤"

// readable returns what to show for each token. Characters that span several
// tokens are shown whole in the first; no token is left without a run.
func readable(rec llm.Record) [][]run {
	steps := rec.Steps
	var text []byte
	var owner []int // of each byte: its token
	for i, s := range steps {
		text = append(text, s.Piece...)
		for range s.Piece {
			owner = append(owner, i)
		}
	}
	shown := make([][]run, len(steps))
	add := func(i int, s string, mark bool) {
		rs := shown[i]
		if n := len(rs); n > 0 && rs[n-1].mark == mark && s != newline && rs[n-1].text != newline {
			rs[n-1].text += s
			return
		}
		shown[i] = append(rs, run{s, mark})
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		at := owner[0]
		switch {
		case r == utf8.RuneError && n == 1:
			add(at, fmt.Sprintf(`\x%02x`, text[0]), true)
		case r == '\n':
			add(at, "↵", true)
			add(at, newline, false)
		case r == '\t':
			add(at, "⇥", true)
		case strconv.IsPrint(r): // letters, marks, numbers, punctuation, symbols and the space
			add(at, string(r), false)
		default:
			add(at, strings.Trim(strconv.QuoteRune(r), "'"), true)
		}
		for k := 1; k < n; k++ {
			if owner[k] != owner[k-1] {
				add(owner[k], tail, true)
			}
		}
		text, owner = text[n:], owner[n:]
	}
	for i, s := range steps {
		switch {
		case len(s.Piece) == 0:
			shown[i] = []run{{wordless(s.Token, isEnd(rec, i)), true}}
		case strings.Trim(string(s.Piece), " ") == "":
			shown[i] = []run{{strings.Repeat("␣", len(s.Piece)), true}}
		}
	}
	return shown
}

// wordless names a token that has no bytes.
func wordless(t llm.Token, end bool) string {
	if end {
		return fmt.Sprintf("⟨end %d⟩", t)
	}
	return fmt.Sprintf("⟨%d⟩", t)
}

// isEnd reports whether the token of step i ended the generation.
func isEnd(rec llm.Record, i int) bool {
	if rec.End == llm.EndToken && i == len(rec.Steps)-1 {
		return true
	}
	c, ok := chosen(rec.Steps[i])
	return ok && c.End
}

// chosen returns the candidate that the step emitted.
func chosen(s llm.StepRecord) (llm.Candidate, bool) {
	for _, c := range s.Candidates {
		if c.Token == s.Token {
			return c, true
		}
	}
	return llm.Candidate{}, false
}

// rightToLeft reports whether most letters of the generation are written from
// right to left.
func rightToLeft(rec llm.Record) bool {
	balance := 0
	for _, s := range rec.Steps {
		for p := s.Piece; len(p) > 0; {
			properties, n := bidi.Lookup(p)
			switch properties.Class() {
			case bidi.R, bidi.AL:
				balance++
			case bidi.L:
				balance--
			}
			p = p[max(n, 1):]
		}
	}
	return balance > 0
}

// visual orders a line's characters from left to right, as they are seen.
func visual(line string) string {
	if !strings.ContainsFunc(line, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL
	}) {
		return line
	}
	var p bidi.Paragraph
	if _, err := p.SetString(line, bidi.DefaultDirection(bidi.LeftToRight)); err != nil {
		return line
	}
	order, err := p.Order()
	if err != nil {
		return line
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}

// quote returns a token on one line, as a Go string of at most limit
// characters between the quotes: what is cut off is marked by "…".
func quote(piece []byte, t llm.Token, end bool, limit int) string {
	if len(piece) == 0 {
		return wordless(t, end)
	}
	q := []rune(strconv.Quote(string(piece)))
	if len(q)-2 > limit {
		q = append(q[:limit+1], '…', '"')
	}
	return string(q)
}
