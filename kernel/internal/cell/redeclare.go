package cell

import (
	"errors"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// Declares reports whether the cell declares what Redeclare would.
func (c *Cell) Declares() bool {
	return len(c.named)+len(c.dots) > 0 || slices.ContainsFunc(c.pieces, func(p *piece) bool { return p.kind != varChunk })
}

// Redeclare checks what the source of In[n] declares without running anything:
// its imports, types, constants, functions and methods, but init and main. It
// is for a process that takes the place of one that died, with the values that
// the names of variables had. A declaration that needs one of those does not
// check and is left out.
//
// The source of the cell that it returns is blank where the given one has
// anything else, so that the lines and columns of what it declares are the same;
// the cell is nil if nothing is left. The names in without are left out as if
// the source did not declare them; a method's is "T.Method". made and failed
// are the names of the rest, with what is wrong with those that failed.
func (s *Scope) Redeclare(n int, source string, without map[string]string) (c *Cell, made []string, failed map[string]string) {
	sp := splitCell(source)
	failed = map[string]string{}
	chunks := slices.DeleteFunc(slices.Clone(sp.chunks), func(ch chunk) bool {
		switch ch.kind {
		case stmtChunk, packageChunk, varChunk:
			return true
		}
		return slices.ContainsFunc(sp.declares(ch), func(name string) bool {
			_, out := without[name]
			return out || ch.kind == funcChunk && (name == "main" || name == "init")
		})
	})
	for len(chunks) > 0 {
		c, err := s.Check(n, sp.blank(chunks))
		if err == nil {
			for _, ch := range chunks {
				made = append(made, sp.declares(ch)...)
			}
			return c, made, failed
		}
		before := len(chunks)
		var wrong Diagnostics
		errors.As(err, &wrong)
		for _, d := range wrong {
			chunks = slices.DeleteFunc(chunks, func(ch chunk) bool {
				if !sp.holds(ch, d.Line, d.Col) {
					return false
				}
				for _, name := range sp.declares(ch) {
					failed[name] = d.Msg
				}
				return true
			})
		}
		if len(chunks) == before { // it is none of these that is wrong
			for _, ch := range chunks {
				for _, name := range sp.declares(ch) {
					failed[name] = err.Error()
				}
			}
			break
		}
	}
	return nil, nil, failed
}

// declares returns the names that a chunk declares; a method's with its type.
func (s *split) declares(c chunk) (names []string) {
	p := plan{split: &split{src: s.src, toks: s.toks, lines: s.lines, chunks: []chunk{c}}}
	for _, pc := range p.cutPieces(0) {
		name := pc.name()
		switch {
		case pc.kind == methodChunk:
			names = append(names, pc.recv+"."+name)
		case pc.kind == constChunk:
			names = append(names, pc.names...)
		default:
			names = append(names, name)
		}
	}
	return names
}

// blank returns the source with spaces where it has neither a line's end, nor a
// comment, nor one of the chunks.
func (s *split) blank(chunks []chunk) string {
	text := make([]byte, len(s.src))
	for i := range text {
		if text[i] = ' '; s.src[i] == '\n' {
			text[i] = '\n'
		}
	}
	show := func(from, to int) { copy(text[from:to], s.src[from:to]) }
	for _, c := range s.comments {
		show(c.off, c.end)
	}
	for _, ch := range chunks {
		show(s.toks[ch.first].off, s.toks[ch.last].end)
		if ch.semi && s.at(ch.last+1) == token.SEMICOLON {
			show(s.toks[ch.last+1].off, s.toks[ch.last+1].end)
		}
	}
	return string(text)
}

// holds reports whether a line and column lie in the chunk.
func (s *split) holds(c chunk, line, col int) bool {
	if line < 1 || line > len(s.lines) {
		return false
	}
	off := s.lines[line-1] + max(col, 1) - 1
	return s.toks[c.first].off <= off && off <= s.toks[c.last].end
}

// An Outline is what Redeclare would declare of a cell, and need for that.
type Outline struct {
	Names    []string // as Forget takes them; of a method "Type.Method"
	Imports  []string // import declarations, as they are written
	Mentions []string // names of others
}

// OutlineOf reads the source of a cell. What it mentions may be too much: names
// of parameters and fields, too.
func OutlineOf(source string) Outline {
	sp := splitCell(source)
	var o Outline
	mentions := map[string]bool{}
	for _, ch := range sp.chunks {
		switch ch.kind {
		case stmtChunk, packageChunk, varChunk:
			continue
		case importChunk:
			o.Imports = append(o.Imports, sp.src[sp.toks[ch.first].off:sp.toks[ch.last].end])
			continue
		}
		o.Names = append(o.Names, sp.declares(ch)...)
		for i := ch.first; i <= ch.last; i++ {
			if sp.at(i) == token.IDENT {
				mentions[sp.name(i)] = true
			}
		}
	}
	for _, name := range o.Names {
		delete(mentions, name[strings.IndexByte(name, '.')+1:])
	}
	o.Mentions = slices.Sorted(maps.Keys(mentions))
	return o
}
