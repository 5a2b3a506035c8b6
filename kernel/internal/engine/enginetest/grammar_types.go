package enginetest

import (
	"fmt"
	"strings"
)

// kind is what a type of the grammar is made of.
type kind int

const (
	boolKind kind = iota
	intKind
	floatKind
	stringKind
	structKind
	arrayKind
	sliceKind
	mapKind
	pointerKind
	funcKind
	anyKind
	interfaceKind
)

// typ is a type of the grammar; there is one for each text.
type typ struct {
	kind      kind
	text      string
	bits      int // of integers and floats
	signed    bool
	elem, key *typ
	n         int // elements of an array
	fields    []field
	result    *typ // of func(elem) result
	name      bool // the program declares it
	methods   map[string]bool
}

type field struct {
	name     string
	t        *typ
	embedded bool
}

var (
	boolType   = &typ{kind: boolKind, text: "bool"}
	intType    = &typ{kind: intKind, text: "int", bits: 64, signed: true}
	stringType = &typ{kind: stringKind, text: "string"}
	floatType  = &typ{kind: floatKind, text: "float64", bits: 64}
	anyType    = &typ{kind: anyKind, text: "any"}
	byteType   = &typ{kind: intKind, text: "byte", bits: 8}
	runeType   = &typ{kind: intKind, text: "rune", bits: 32, signed: true}
)

var basicTypes = []*typ{
	intType, stringType, boolType, floatType, byteType, runeType,
	{kind: intKind, text: "int8", bits: 8, signed: true},
	{kind: intKind, text: "int16", bits: 16, signed: true},
	{kind: intKind, text: "int64", bits: 64, signed: true},
	{kind: intKind, text: "uint", bits: 64},
	{kind: intKind, text: "uint16", bits: 16},
	{kind: intKind, text: "uint32", bits: 32},
	{kind: intKind, text: "uint64", bits: 64},
	{kind: floatKind, text: "float32", bits: 32},
}

// make returns the type with the text, which f makes where it is new.
func (g *grammar) make(t typ) *typ {
	if old := g.types[t.text]; old != nil {
		return old
	}
	g.types[t.text] = &t
	return &t
}

func (g *grammar) slice(elem *typ) *typ {
	return g.make(typ{kind: sliceKind, text: "[]" + elem.text, elem: elem})
}

func (g *grammar) mapOf(key, elem *typ) *typ {
	return g.make(typ{kind: mapKind, text: "map[" + key.text + "]" + elem.text, key: key, elem: elem})
}

// typ draws a type, composite ones to a depth.
func (g *grammar) typ(depth int) *typ {
	if depth == 0 || g.chance(2) {
		if len(g.named) > 0 && g.chance(3) {
			return one(g, g.named...)
		}
		return one(g, basicTypes...)
	}
	switch g.between(0, 7) {
	case 0, 1:
		return g.slice(g.typ(depth - 1))
	case 2:
		n, e := g.between(1, 3), g.typ(depth-1)
		return g.make(typ{kind: arrayKind, text: fmt.Sprintf("[%d]%s", n, e.text), elem: e, n: n})
	case 3:
		k, e := g.keyType(), g.typ(depth-1)
		return g.mapOf(k, e)
	case 4:
		e := g.typ(depth - 1)
		return g.make(typ{kind: pointerKind, text: "*" + e.text, elem: e})
	case 5:
		a, r := g.typ(0), g.typ(0)
		return g.make(typ{kind: funcKind, text: "func(" + a.text + ") " + r.text, elem: a, result: r})
	case 6:
		if len(g.ifaces) > 0 && g.chance(2) {
			return one(g, g.ifaces...)
		}
	}
	return anyType
}

// plainType draws a type whose values can be compared and print the same in
// each run.
func (g *grammar) plainType() *typ {
	t := g.typ(1)
	for !t.printable() || !t.comparable() {
		t = g.typ(0)
	}
	return t
}

// of draws an expression that has type t by itself.
func (g *grammar) of(t *typ, depth int) string { return t.typed(g.expr(t, depth).s) }

func (g *grammar) keyType() *typ {
	var ts []*typ
	for _, t := range append(append([]*typ(nil), basicTypes...), g.named...) {
		if t.kind == intKind || t.kind == stringKind {
			ts = append(ts, t)
		}
	}
	return one(g, ts...)
}

// typed is an expression that has type t by itself.
func (t *typ) typed(e string) string {
	switch t.text {
	case "int", "string", "bool", "float64":
		return e
	}
	if t.kind == funcKind || t.kind == pointerKind || strings.HasPrefix(t.text, "[") || strings.HasPrefix(t.text, "map") {
		return "(" + t.text + ")(" + e + ")"
	}
	return t.text + "(" + e + ")"
}

// shared tells types whose values share what they refer to.
func (t *typ) shared() bool {
	switch t.kind {
	case sliceKind, mapKind, pointerKind:
		return true
	case structKind:
		for _, f := range t.fields {
			if f.t.shared() {
				return true
			}
		}
	case arrayKind:
		return t.elem.shared()
	}
	return false
}

// comparable tells types with ==; of interfaces, none: a value that has no ==
// may be in them.
func (t *typ) comparable() bool {
	switch t.kind {
	case sliceKind, mapKind, funcKind, anyKind, interfaceKind, pointerKind:
		return false
	case arrayKind:
		return t.elem.comparable()
	case structKind:
		for _, f := range t.fields {
			if !f.t.comparable() {
				return false
			}
		}
	}
	return true
}

// printable tells types whose values print the same in each run.
func (t *typ) printable() bool {
	switch t.kind {
	case pointerKind, funcKind, anyKind, interfaceKind:
		return false
	case arrayKind, sliceKind, mapKind:
		return t.elem.printable()
	case structKind:
		for _, f := range t.fields {
			if !f.t.printable() {
				return false
			}
		}
	}
	return true
}

// printed are operands of Println that show e of type t.
func (g *grammar) printed(e string, t *typ) []string {
	if t.printable() {
		return []string{e}
	}
	switch t.kind {
	case structKind:
		var r []string
		for _, f := range t.fields {
			r = append(r, g.printed(e+"."+f.name, f.t)...)
		}
		return r
	case pointerKind:
		return g.printed("(*"+e+")", t.elem)
	case funcKind:
		return g.printed(e+"("+g.literal(t.elem).s+")", t.result)
	case arrayKind:
		return g.printed(e+"[0]", t.elem)
	case sliceKind, mapKind:
		return []string{"len(" + e + ")"}
	case interfaceKind:
		if t.methods["Num"] {
			return []string{e + ".Num()"}
		}
		return []string{e + ".Text(\"i\")"}
	}
	return []string{e + " != nil"}
}

// zeroed tells types whose zero value can be used like any other.
func (t *typ) zeroed() bool {
	switch t.kind {
	case pointerKind, funcKind, interfaceKind:
		return false
	case arrayKind, sliceKind, mapKind:
		return t.elem.zeroed()
	case structKind:
		for _, f := range t.fields {
			if !f.t.zeroed() {
				return false
			}
		}
	}
	return true
}
