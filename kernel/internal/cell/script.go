package cell

import (
	"go/scanner"
	"go/token"
	"go/types"
	"strings"
)

// A Script is a cell cut at its magics: what is done one after the other.
//
//	!ls data             Step{Magic: "!", Args: "ls data"}
//	rows := read()       Step{Go: "\nrows := read()\nlen(rows)\n"}
//	len(rows)
//	%time fit(rows)      Step{Magic: "time", Go: "\n\n\n      fit(rows)"}
//
// A magic stands at the start of a line, outside all brackets, where a
// statement could begin; so do the %% that make the rest of the cell a body of
// main. There a $ is a ! and :import an import, as in other Go kernels.
type Script struct {
	Steps []Step
	// Go is the Go of all steps but those of timeit, as one source.
	Go string
}

// A Step is one magic, Go, or a magic with the Go that it is about.
type Step struct {
	Magic     string // its name; "" for Go alone
	Args      string // the rest of the magic's line
	Body      string // of a magic that takes the rest of the cell and is not about Go
	Line, Col int    // of the magic, from 1
	// Go is a source in which each token stands at the line and column where
	// it stands in the cell.
	Go string
}

// maxMagics is how many magics a cell may hold: each cuts it once more.
const maxMagics = 200

// mainMagic is the name of the %% that has none.
const mainMagic = "main"

// ReadScript cuts a cell. The error, of unknown or misplaced magics, is
// Diagnostics. What is wrong with the Go is Check's to say.
func ReadScript(source string) (*Script, error) {
	r := newScriptReader(source)
	if !r.read() {
		return &Script{Steps: []Step{{Go: r.src}}, Go: r.src}, nil
	}
	if len(r.diags) > 0 {
		return nil, r.diags.tidy(r.split)
	}
	return &Script{Steps: append(r.steps, r.after...), Go: r.text(r.kept...)}, nil
}

// scriptReader reads a cell up to its end, magic by magic.
type scriptReader struct {
	*split // positions and diagnostics only
	bytes  []byte
	steps  []Step
	after  []Step // those that come when all Go has run
	kept   []span // of bytes that are Go
	loops  []span // the Go of timeit
	last   magicLine
	main   int    // where the %% of a body of main stands; -1 for none
	opens  string // the Go that stands there, and
	closes string // that after the body
	wrote  bool   // some Go came before
}

func newScriptReader(source string) *scriptReader {
	return &scriptReader{split: newSplit(source), bytes: []byte(source), main: -1}
}

// read cuts the cell, and reports whether it has magics at all.
func (r *scriptReader) read() bool {
	from, begun, found := 0, 0, 0 // begun is where the Go that is being read begins
	for {
		off, tokens := r.next(from)
		r.wrote = r.wrote || tokens
		if off < 0 {
			if found > 0 && (tokens || r.main >= begun) {
				r.goStep(Step{}, begun, len(r.src))
			}
			return found > 0
		}
		if found++; found > maxMagics {
			r.fail(off, "", "more than %d magics in one cell", maxMagics)
			return true
		}
		if r.main >= 0 {
			r.fail(off, "put it before the %%", "a magic cannot stand in the body of main")
			return true
		}
		m := r.magic(off)
		r.last = m
		if m.name == mainMagic {
			r.opens, r.closes = "{", "\n}"
			if m.args != "" {
				r.steps = append(r.steps, Step{Magic: "args", Args: m.args, Line: m.line, Col: m.col})
				r.opens = "{flag.Parse();"
			}
			if len(splitCell(r.src[m.end:]).diags) > 0 {
				r.opens, r.closes = "", "" // or Check would find fault with our brackets
			}
			r.main = m.off
			if !tokens {
				begun = m.off
			}
			from = m.end
			continue
		}
		if tokens {
			r.goStep(Step{}, begun, m.off)
		}
		from = r.take(m)
		begun = from
		if from >= len(r.src) {
			return true
		}
	}
}

// A magicLine is a line that holds a magic.
type magicLine struct {
	name, args string
	whole      bool // %%name
	off, end   int  // of the line, from the percent sign on
	argOff     int
	line, col  int
}

// next returns where the next magic from off on stands, -1 if there is none,
// and whether tokens of Go come before it.
func (r *scriptReader) next(off int) (at int, tokens bool) {
	rest := r.bytes[off:]
	file := token.NewFileSet().AddFile("", -1, len(rest))
	var sc scanner.Scanner
	sc.Init(file, rest, func(token.Position, string) {}, scanner.ScanComments)
	depth, last := 0, token.SEMICOLON
	for {
		pos, t, lit := sc.Scan()
		at := off + file.Offset(pos)
		if depth == 0 && last == token.SEMICOLON && r.startsLine(at) {
			switch {
			case t == token.REM || t == token.NOT:
				return at, tokens
			case t == token.COMMENT && strings.HasPrefix(lit, gonb) && len(lit) > len(gonb) && (lit[len(gonb)] == '%' || lit[len(gonb)] == '!'):
				return at + len(gonb), tokens
			case t == token.ILLEGAL && lit == "$":
				return at, tokens
			case t == token.COLON && strings.HasPrefix(r.src[at:], ":import"):
				r.bytes[at] = ' '
				r.src = string(r.bytes)
				continue
			}
		}
		switch t {
		case token.EOF:
			return -1, tokens
		case token.COMMENT:
			continue
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		tokens = tokens || t != token.SEMICOLON
		last = t
	}
}

// gonb begins comments that are magics, for tools that read the cell as Go.
const gonb = "//gonb:"

func (r *scriptReader) startsLine(off int) bool {
	line, _ := r.position(off)
	return strings.TrimLeft(r.src[r.lines[line-1]:off], " \t\ufeff") == ""
}

// magic reads the line of the magic at off.
func (r *scriptReader) magic(off int) magicLine {
	m := magicLine{off: off, end: r.lineEnd(off)}
	m.line, m.col = r.position(off)
	i := off + 1
	if r.src[off] == '!' || r.src[off] == '$' {
		m.name = Shell
		for m.end < len(r.src) && strings.HasSuffix(strings.TrimSuffix(r.src[off:m.end], "\r"), `\`) {
			m.end = r.lineEnd(m.end + 1)
		}
	} else {
		if strings.HasPrefix(r.src[i:], "%") {
			m.whole = true
			i++
		}
		n := strings.IndexFunc(r.src[i:m.end], func(c rune) bool { return c == ' ' || c == '\t' || c == '\r' })
		if n < 0 {
			n = m.end - i
		}
		m.name = r.src[i : i+n]
		i += n
		if m.whole && m.name == "" {
			m.name, m.whole = mainMagic, false
		}
	}
	m.args = strings.TrimSpace(r.src[i:m.end])
	m.argOff = i + len(r.src[i:m.end]) - len(strings.TrimLeft(r.src[i:m.end], " \t"))
	return m
}

// lineEnd returns where the line of off ends, without the newline.
func (r *scriptReader) lineEnd(off int) int {
	if i := strings.IndexByte(r.src[off:], '\n'); i >= 0 {
		return off + i
	}
	return len(r.src)
}

// take adds the step of a magic, and returns where the cell goes on.
func (r *scriptReader) take(m magicLine) int {
	known := findMagic(m.name, m.whole)
	step := Step{Magic: m.name, Args: m.args, Line: m.line, Col: m.col}
	rest := min(m.end+1, len(r.src))
	switch {
	case known == nil:
		sign := "%"
		if m.whole {
			sign = "%%"
		}
		r.fail(m.off, magicHint(m.name, m.whole), "unknown magic %s%s", sign, shorten(m.name, 30))
		return rest
	case m.whole && known.Runs != AroundGo:
		if r.wrote {
			r.fail(m.off, "give it a cell of its own", "%%%%%s must come first: it takes the rest of the cell", m.name)
			return rest
		}
		step.Body = r.src[rest:]
		r.steps = append(r.steps, step)
		return len(r.src)
	case m.whole && known.Name == "timeit":
		r.goStep(step, rest, len(r.src))
		return len(r.src)
	case (known.Name == "time" || known.Name == "timeit") && m.args != "" && !m.whole:
		start := m.argOff
		if known.Name == "timeit" {
			start = r.skipOptions(m.argOff, m.end)
		}
		step.Args = strings.TrimSpace(r.src[m.argOff:start])
		end := r.statementEnd(start)
		r.goStep(step, start, end)
		return end
	}
	if m.name == "exec" || m.name == "test" {
		r.after = append(r.after, step)
	} else {
		r.steps = append(r.steps, step)
	}
	return m.end
}

// skipOptions returns what follows the options, and their values, from off on.
func (r *scriptReader) skipOptions(off, end int) int {
	for off+1 < end && r.src[off] == '-' && (r.src[off+1] == 'n' || r.src[off+1] == 'r') {
		i := off + 2
		for i < end && (r.src[i] == ' ' || r.src[i] == '=') {
			i++
		}
		digits := i
		for i < end && r.src[i] >= '0' && r.src[i] <= '9' {
			i++
		}
		if i == digits {
			return off // an expression: -n * 2
		}
		for i < end && r.src[i] == ' ' {
			i++
		}
		off = i
	}
	return off
}

// statementEnd returns where the line of Go from off on ends, which may take
// several lines.
func (r *scriptReader) statementEnd(off int) int {
	rest := r.bytes[off:]
	file := token.NewFileSet().AddFile("", -1, len(rest))
	var sc scanner.Scanner
	sc.Init(file, rest, func(token.Position, string) {}, 0)
	for depth := 0; ; {
		pos, t, lit := sc.Scan()
		switch t {
		case token.EOF:
			return len(r.src)
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth <= 0 && lit == "\n" {
				return off + file.Offset(pos)
			}
		}
	}
}

// goStep adds a step with the Go from off to end.
func (r *scriptReader) goStep(step Step, off, end int) {
	if off < end && r.src[off] == '\n' {
		off++
	}
	step.Go = r.text(span{off, end})
	if step.Magic == "timeit" {
		r.loops = append(r.loops, span{off, end})
	} else {
		r.kept = append(r.kept, span{off, end})
	}
	r.steps = append(r.steps, step)
}

// text returns the source with nothing but the bytes of the spans, each at its
// line and column.
func (r *scriptReader) text(spans ...span) string {
	var b strings.Builder
	at, last := 0, 0
	for _, p := range spans {
		line, _ := r.position(p.first)
		lineAt, _ := r.position(at)
		if line > lineAt {
			b.WriteString(strings.Repeat("\n", line-lineAt))
			last = r.lines[line-1]
		}
		b.WriteString(strings.Repeat(" ", p.first-max(last, at)))
		if at = p.last; r.main >= p.first && r.main < p.last {
			b.WriteString(r.src[p.first:r.main] + r.opens + r.src[r.lineEnd(r.main):p.last] + r.closes)
		} else {
			b.WriteString(r.src[p.first:p.last])
		}
	}
	return b.String()
}

// Loop returns the cell's source with its statements between before and after,
// which may be the head and the end of a loop: the value of the last
// expression, which cannot stand there, is assigned to nothing.
func (c *Cell) Loop(before, after string) string {
	src := c.Source
	if c.Show != nil {
		if _, several := c.Info.Types[c.Show].Type.(*types.Tuple); !several {
			s := newSplit(src)
			at := c.Fset.Position(c.Show.Pos())
			off := s.lines[at.Line-1] + at.Column - 1
			src = src[:off] + "_ = " + src[off:]
		}
	}
	body := strings.TrimLeft(src, " \t\n")
	return src[:len(src)-len(body)] + before + body + after
}
