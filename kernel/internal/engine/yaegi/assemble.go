package yaegi

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// place leads from text back to the source.
type place struct {
	off   int // in text
	piece *piece
	src   int // offset in the piece's source
	n     int // bytes that run in parallel with the source
}

// spot is a place in a user's source. It follows a declaration that is run
// again unchanged.
type spot struct {
	at        *origin
	fn        string
	line, col int // line is relative to at
}

func (s *spot) frame() engine.Frame {
	return engine.Frame{Cell: s.at.cell, File: s.at.file, Line: s.at.line + s.line, Col: s.col, Func: s.fn}
}

// origin is where the piece stands: in its cell, or in an earlier one from
// which the checker carried it along.
func (p *piece) origin() *origin {
	pos := p.src.fset.Position(p.pos)
	o := &origin{cell: p.src.cell, line: pos.Line}
	switch {
	case p.src.path != "":
		o.cell, o.file = 0, pos.Filename
	case p.src.cell != none:
		if n, ok := cellNumber(pos.Filename); ok {
			o.cell = n
		}
	}
	return o
}

// cellNumber reads the name of a cell in positions, "In[3]".
func cellNumber(file string) (int, bool) {
	s, ok := strings.CutPrefix(strings.TrimSuffix(file, "]"), "In[")
	n, err := strconv.Atoi(s)
	return n, ok && err == nil
}

// relative is the text with marks that do not change when it moves as a whole.
func (p *piece) relative() string {
	base := p.src.fset.Position(p.pos).Line
	return eachMark(p.text, func(off, n int) string {
		pos := p.src.position(off)
		return mark(pos.Line-base, pos.Column)
	})
}

// position is the place in the user's source of an offset.
func (s *source) position(off int) token.Position {
	f := s.fset.File(s.file.Pos())
	return s.fset.Position(f.Pos(min(off, f.Size())))
}

// eachMark replaces the marks of positions in s.
func eachMark(s string, f func(off, n int) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, markOpen)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		k := i + strings.IndexByte(s[i:], markClose)
		o, n, _ := strings.Cut(s[i+1:k], ",")
		off, _ := strconv.Atoi(o)
		ln, _ := strconv.Atoi(n)
		b.WriteString(f(off, ln))
		s = s[k+1:]
	}
}

// assemble joins the pieces, spells names and collects places.
func (p *program) assemble(l *lowering, pieces []*piece) {
	renamed := map[int]string{}
	for _, r := range p.renames {
		for _, n := range l.draft.notebook.names {
			if n.current == r[0] {
				renamed[n.id] = r[1]
			}
		}
	}
	var b strings.Builder
	b.WriteString("package main\n")
	for _, path := range slices.Sorted(maps.Keys(l.imports)) {
		b.WriteString("import " + l.imports[path] + " " + strconv.Quote(path) + "\n")
	}
	b.WriteString("import " + hostPackage + " \"" + hostPackage + "\"\n")
	for _, q := range pieces {
		if q.at == nil && q.src != nil {
			q.at = q.origin()
		}
		if q.name != nil && !slices.Contains(p.declare, q.name.current) {
			p.declare = append(p.declare, q.name.current)
		}
		text := spell(q.text, func(id int) string {
			if s := renamed[id]; s != "" {
				return s
			}
			return l.byID(id).current
		})
		if q.src != nil {
			p.places = append(p.places, place{off: b.Len(), piece: q, src: q.src.off(q.pos)})
		} else {
			p.places = append(p.places, place{off: b.Len()})
		}
		for {
			i := strings.IndexByte(text, markOpen)
			if i < 0 {
				break
			}
			b.WriteString(text[:i])
			k := i + strings.IndexByte(text[i:], markClose)
			o, n, _ := strings.Cut(text[i+1:k], ",")
			off, _ := strconv.Atoi(o)
			ln, _ := strconv.Atoi(n)
			p.places = append(p.places, place{off: b.Len(), piece: q, src: off, n: ln})
			text = text[k+1:]
		}
		b.WriteString(text + "\n")
	}
	var start []string // of the program
	for _, s := range slices.Concat(l.methods, l.lazy, l.starts) {
		start = append(start, spell(s, func(id int) string { return l.byID(id).current }))
	}
	if p.run != "" {
		set := ""
		if n := l.live["ctx"]; n != nil && p.live["ctx"] == nil && n.key == "context.Context" && n.at[0].cell == 0 {
			// the prelude's, which In[0] declares: it is this run's context
			set = n.current + " = " + host("Context") + "(); "
		}
		start = append(start, set+host("Cell")+"("+p.run+")")
	}
	if len(start) > 0 {
		b.WriteString("func init() { " + strings.Join(start, "; ") + " }\n")
	}
	p.text = b.String()
	p.types = map[string]types.Type{}
	for name, t := range l.known {
		p.types[spell(name, func(id int) string { return l.byID(id).current })] = t
	}
	p.draftImports = l.imports
	old := map[*name]string{}
	for id, s := range renamed {
		old[l.draft.names[id]] = s
	}
	p.moved = append(p.moved, func() {
		for n, s := range old {
			n.current = s
		}
	})
}

// spell replaces names in s.
func spell(s string, f func(id int) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, nameOpen)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		k := i + strings.IndexByte(s[i:], nameClose)
		id, _ := strconv.Atoi(s[i+1 : k])
		b.WriteString(f(id))
		s = s[k+1:]
	}
}

// at finds the place that an offset in the text belongs to; nil for none.
func (p *program) at(off int) *place {
	i, found := slices.BinarySearchFunc(p.places, off, func(q place, off int) int { return q.off - off })
	for found && i+1 < len(p.places) && p.places[i+1].off == off {
		i++ // marks at one offset: the last is the innermost
	}
	if !found {
		i--
	}
	if i < 0 || p.places[i].piece == nil {
		return nil
	}
	return &p.places[i]
}

// placed is the piece that an offset in the text lies in; nil for none.
func (p *program) placed(off int) *piece {
	if pl := p.at(off); pl != nil {
		return pl.piece
	}
	return nil
}

// spot finds where an offset in the text comes from; nil for what is no
// user's, nor a module's.
func (p *program) spot(off int) *spot {
	pl := p.at(off)
	if pl == nil || pl.piece.src.cell == none && pl.piece.src.path == "" {
		return nil
	}
	if off-pl.off > pl.n {
		return nil // lowering's own text
	}
	q := pl.piece
	pos := q.src.position(pl.src + off - pl.off)
	return &spot{at: q.at, fn: q.fn, line: pos.Line - q.at.line, col: pos.Column}
}
