package cell

import (
	"bytes"
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A writer composes text whose every position leads back to the cell.
type writer struct {
	bytes.Buffer
	*plan
	n    int
	work []byte // the source, with edits that keep its length
	// renames are the names that stand for an earlier meaning, by the offset
	// of the identifier.
	renames map[int]string
	offs    []int // keys of renames, sorted
}

func newWriter(p *plan, n int, renames map[int]string) *writer {
	w := &writer{plan: p, n: n, work: []byte(p.src), renames: renames}
	for _, off := range p.directives {
		w.work[off] = 'L'
	}
	for _, list := range p.vars {
		for _, v := range list {
			if v.define != 0 {
				copy(w.work[p.toks[v.define].off:], " =")
			}
		}
	}
	for off := range renames {
		w.offs = append(w.offs, off)
	}
	slices.Sort(w.offs)
	return w
}

// source writes the cell's bytes from off to end under a line directive.
func (w *writer) source(off, end int) {
	for {
		w.directive(off)
		i, _ := slices.BinarySearch(w.offs, off)
		if i == len(w.offs) || w.offs[i] >= end {
			break
		}
		at := w.offs[i]
		w.Write(w.work[off:at])
		w.WriteString(w.renames[at])
		for off = at + 1; off < end && !w.endsToken(off); off++ {
		}
	}
	w.Write(w.work[off:end])
}

// endsToken reports whether a token ends at off.
func (w *writer) endsToken(off int) bool {
	_, ok := slices.BinarySearchFunc(w.toks, off, func(t tok, off int) int { return t.end - off })
	return ok
}

func (w *writer) directive(off int) {
	line, col := w.position(off)
	w.WriteString("/*line In[")
	w.WriteString(itoa(w.n))
	w.WriteString("]:")
	w.WriteString(itoa(line))
	w.WriteByte(':')
	w.WriteString(itoa(col))
	w.WriteString("*/")
}

func (w *writer) span(p span) { w.source(w.toks[p.first].off, w.toks[p.last].end) }

// file writes the cell as a Go file; implied are the imports that it does not
// name itself, by name.
func (w *writer) file(bodyName string, imps []importSpec) {
	w.WriteString("package main\n")
	for _, im := range imps {
		w.WriteString("import ")
		if im.end > 0 {
			w.directive(im.off)
		}
		if im.name != "" {
			w.WriteString(im.name)
			w.WriteByte(' ')
		}
		w.WriteString(strconv.Quote(im.path))
		w.WriteByte('\n')
	}
	for _, c := range w.chunks {
		switch c.kind {
		case typeChunk, constChunk, funcChunk, methodChunk:
		case varChunk:
			if w.body {
				continue
			}
		default:
			continue
		}
		w.span(span{c.first, c.last})
		w.WriteByte('\n')
	}
	if !w.body {
		return
	}
	w.WriteString("func " + bodyName + "() {\n")
	for i, c := range w.chunks {
		if c.kind != stmtChunk && c.kind != varChunk {
			continue
		}
		list := w.vars[i]
		if c.kind == stmtChunk || list == nil {
			w.span(span{c.first, c.last})
			w.WriteByte('\n')
			continue
		}
		for _, v := range list {
			w.assign(v)
			w.WriteByte('\n')
		}
	}
	w.WriteString("}\n")
}

// assign writes a var specification as the assignment that it is where the
// variables live in the package.
func (w *writer) assign(v *vars) {
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
	if v.values == nil {
		for i := range v.names {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteString("*new(")
			w.span(v.typ)
			w.WriteByte(')')
		}
		return
	}
	if blank > 0 && !v.typ.empty() && len(v.values) == len(v.names) {
		// A blank has no type of its own that nil or a constant would take.
		for i, val := range v.values {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteByte('(')
			w.span(v.typ)
			w.WriteString(")(")
			w.span(val)
			w.WriteByte(')')
		}
		return
	}
	w.span(span{v.values[0].first, v.values[len(v.values)-1].last})
}

// declarations writes the hoisted variables as package variables. This file
// is checked beside the cell's own and only tells their types.
func (w *writer) declarations(imps []importSpec) {
	w.WriteString("package main\n")
	for _, im := range imps {
		w.WriteString("import ")
		if im.name != "" {
			w.WriteString(im.name)
			w.WriteByte(' ')
		}
		w.WriteString(strconv.Quote(im.path))
		w.WriteByte('\n')
	}
	for i := range w.chunks {
		for _, v := range w.vars[i] {
			w.WriteString("var ")
			for k, n := range v.names {
				if k > 0 {
					w.WriteString(", ")
				}
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
}
