package cell

import (
	"bytes"
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// fileName is the name of a cell in positions.
func fileName(n int) string { return "In[" + itoa(n) + "]" }

// An edit puts text in the place of del bytes of a cell's source.
type edit struct {
	text string
	del  int
}

// A writer copies source of one cell, under line directives that lead every
// position back to it.
type writer struct {
	*bytes.Buffer
	src   *split
	n     int    // In[n]
	bytes []byte // of the source, after edits that keep its length
	edits map[int]edit
	offs  []int // keys of edits, sorted
}

func newWriter(b *bytes.Buffer, s *split, n int, edits map[int]edit) *writer {
	w := &writer{Buffer: b, src: s, n: n, bytes: []byte(s.src), edits: edits}
	for _, off := range s.directives {
		w.bytes[off] = 'L'
	}
	for off := range edits {
		w.offs = append(w.offs, off)
	}
	slices.Sort(w.offs)
	return w
}

// source writes the bytes from off to end.
func (w *writer) source(off, end int) {
	w.directive(off)
	i, _ := slices.BinarySearch(w.offs, off)
	for ; i < len(w.offs) && w.offs[i] < end; i++ {
		at := w.offs[i]
		w.Write(w.bytes[off:at])
		w.WriteString(w.edits[at].text)
		off = at + w.edits[at].del
		w.directive(off)
	}
	w.Write(w.bytes[off:end])
}

func (w *writer) span(p span) { w.source(w.src.toks[p.first].off, w.src.toks[p.last].end) }

func (w *writer) directive(off int) {
	line, col := w.src.position(off)
	w.WriteString("/*line " + fileName(w.n) + ":" + itoa(line) + ":" + itoa(col) + "*/")
}

// A composer writes the files that a cell is checked as.
type composer struct {
	*writer
	*plan
	imps    []importSpec
	carried []*piece
	edits   func(*split) map[int]edit
}

// compose returns a composer with an empty buffer.
func (k *check) compose() *composer {
	w := newWriter(new(bytes.Buffer), k.split, k.n, k.edits(k.split))
	for _, list := range k.vars {
		for _, v := range list {
			if v.define != 0 {
				copy(w.bytes[k.toks[v.define].off:], " =")
			}
		}
	}
	return &composer{writer: w, plan: k.plan, imps: k.imps, carried: k.carried, edits: k.edits}
}

// file writes the cell as a Go file: imports, declarations carried from
// earlier cells, its own, and the function of its statements.
func (w *composer) file(bodyName string) []byte {
	w.Reset()
	w.WriteString("package main\n")
	w.imports(true)
	for _, p := range w.carried {
		w.piece(p)
	}
	for _, p := range w.pieces {
		w.piece(p)
	}
	if w.body {
		w.WriteString("func " + bodyName + "() {\n")
		for i, c := range w.chunks {
			if c.kind == stmtChunk || c.kind == varChunk {
				w.statement(c, w.vars[i])
			}
		}
		w.WriteString("}\n")
	}
	return bytes.Clone(w.Bytes())
}

func (w *composer) imports(mapped bool) {
	for _, im := range w.imps {
		w.WriteString("import ")
		if mapped && im.end > 0 {
			w.directive(im.off)
		}
		if im.name != "" {
			w.WriteString(im.name + " ")
		}
		w.WriteString(strconv.Quote(im.path) + "\n")
	}
}

// piece writes one declaration, which may be of an earlier cell.
func (w *composer) piece(p *piece) {
	if p.kind == typeChunk {
		w.WriteString("type ")
	}
	from := w.writer
	if p.src != w.split {
		from = newWriter(w.Buffer, p.src, p.n, w.edits(p.src))
	}
	from.span(p.span)
	w.WriteByte('\n')
}

// statement writes a chunk of the cell's function; vars are what it declares
// and the package holds.
func (w *composer) statement(c chunk, vars []*vars) {
	if c.kind == stmtChunk || vars == nil {
		w.span(span{c.first, c.last})
		if c.semi {
			w.WriteByte(';') // x := ; must not go on in the next line
		}
		w.WriteByte('\n')
		return
	}
	for _, v := range vars {
		w.assign(v)
		w.WriteByte('\n')
	}
}

// assign writes a var specification as the assignment that it is where the
// variables live in the package.
func (w *composer) assign(v *vars) {
	blank := 0
	for _, n := range v.names {
		if w.name(n) == "_" {
			blank++
		}
	}
	if blank == len(v.names) {
		w.WriteString("var ")
		w.span(span{v.start, v.end - 1})
		return
	}
	w.span(span{v.names[0], v.names[len(v.names)-1]})
	w.WriteString(" = ")
	switch {
	case v.values == nil:
		for i := range v.names {
			w.comma(i)
			w.WriteString("*new(")
			w.span(v.typ)
			w.WriteByte(')')
		}
	case blank > 0 && !v.typ.empty() && len(v.values) == len(v.names):
		// A blank has no type of its own that nil or a constant would take.
		for i, val := range v.values {
			w.comma(i)
			w.WriteByte('(')
			w.span(v.typ)
			w.WriteString(")(")
			w.span(val)
			w.WriteByte(')')
		}
	default:
		w.span(span{v.values[0].first, v.values[len(v.values)-1].last})
	}
}

func (w *composer) comma(i int) {
	if i > 0 {
		w.WriteString(", ")
	}
}

// declarations writes the hoisted variables as package variables. This file
// is checked beside the cell's own and only tells their types.
func (w *composer) declarations() []byte {
	w.Reset()
	w.WriteString("package main\n")
	w.imports(false)
	for i := range w.chunks {
		for _, v := range w.vars[i] {
			w.WriteString("var ")
			for k, n := range v.names {
				w.comma(k)
				if v.reused[k] {
					w.WriteByte('_')
				} else {
					w.source(w.toks[n].off, w.toks[n].end)
				}
			}
			if !v.typ.empty() {
				w.WriteByte(' ')
				w.span(v.typ)
			}
			if v.values != nil {
				w.WriteString(" = ")
				w.span(span{v.values[0].first, v.values[len(v.values)-1].last})
			}
			w.WriteByte('\n')
		}
	}
	return bytes.Clone(w.Bytes())
}
