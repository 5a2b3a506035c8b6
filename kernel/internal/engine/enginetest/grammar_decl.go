package enginetest

import (
	"fmt"
	"strings"
)

// typeItem declares a type with methods, or an interface.
func (g *grammar) typeItem() []item {
	if len(g.named) > 0 && g.chance(4) {
		if it, ok := g.interfaceItem(); ok {
			return it
		}
	}
	t := &typ{text: g.fresh("T"), name: true, methods: map[string]bool{}}
	var under string
	switch b := g.typ(1); {
	case g.between(0, 2) < 2:
		under = g.structType(t)
	case b.name || b.kind == anyKind || b.kind == pointerKind || b.kind == interfaceKind || b.kind == funcKind:
		t.kind, t.bits, t.signed, under = intKind, 64, true, "int"
	default:
		text, name := t.text, t.methods
		*t = *b
		t.text, t.name, t.methods, under = text, true, name, b.text
	}
	decl := "type " + t.text + " " + under
	if !g.has(NamedIdentity) && t.kind != structKind || g.chance(2) {
		decl += g.method(t, "Num", "() int", intType)
	}
	if g.chance(2) {
		decl += g.method(t, "Text", "(s string) string", stringType)
	}
	if g.chance(4) {
		decl += g.method(t, "String", "() string", stringType)
	}
	if g.chance(2) {
		decl += g.setter(t)
	}
	g.named = append(g.named, t)
	return []item{{cell: decl, decl: decl}}
}

// structType draws the fields of t.
func (g *grammar) structType(t *typ) string {
	t.kind = structKind
	var fs []string
	for range g.between(1, 3) {
		if len(g.named) > 0 && g.chance(4) {
			e := one(g, g.named...)
			if e.kind == structKind && !t.embeds() {
				t.fields = append(t.fields, field{e.text, e, true})
				fs = append(fs, e.text)
				for m := range e.methods {
					t.methods[m] = true
				}
				continue
			}
		}
		f := field{name: g.fresh(one(g, "F", "g")), t: g.typ(1)}
		t.fields = append(t.fields, f)
		fs = append(fs, f.name+" "+f.t.text)
	}
	return "struct { " + strings.Join(fs, "; ") + " }"
}

func (t *typ) embeds() bool {
	for _, f := range t.fields {
		if f.embedded {
			return true
		}
	}
	return false
}

// method draws a method without side effects.
func (g *grammar) method(t *typ, name, sig string, result *typ) string {
	defer g.inside(true, []*typ{result})()
	g.vars = []*variable{{name: "x", t: t, fixed: t.shared()}}
	if name == "Text" {
		g.declare("s", stringType)
	}
	body := g.ret(false)
	if name != "String" && g.chance(3) {
		body = g.block(1, 2) + body
	}
	t.methods[name] = true
	return fmt.Sprintf("\nfunc (x %s) %s%s {\n%s\n}", t.text, name, sig, body)
}

// setter draws a method that changes its receiver.
func (g *grammar) setter(t *typ) string {
	defer g.inside(true, nil)()
	v := &variable{name: "(*x)", t: t}
	g.vars = []*variable{v}
	n := g.declare("n", intType)
	n.fixed = true
	s := g.assignTo(v)
	t.methods["Set"] = true
	return fmt.Sprintf("\nfunc (x *%s) Set(n int) int { %s; return n + 1 }", t.text, s)
}

// interfaceItem declares an interface that a declared type has.
func (g *grammar) interfaceItem() ([]item, bool) {
	t := one(g, g.named...)
	i := &typ{kind: interfaceKind, text: g.fresh("I"), name: true, methods: map[string]bool{}}
	var ms []string
	for _, m := range []struct{ name, sig string }{{"Num", "Num() int"}, {"Text", "Text(s string) string"}, {"Set", "Set(n int) int"}} {
		if t.methods[m.name] && (len(ms) == 0 || g.chance(2)) {
			if m.name == "Set" && len(ms) == 0 {
				continue
			}
			i.methods[m.name] = true
			ms = append(ms, m.sig)
		}
	}
	if len(ms) == 0 {
		return nil, false
	}
	g.ifaces = append(g.ifaces, i)
	s := "type " + i.text + " interface { " + strings.Join(ms, "; ") + " }"
	return []item{{cell: s, decl: s}}, true
}

// implementers are the types of whose values, or pointers to them, i is an
// interface.
func (g *grammar) implementers(i *typ) []*typ {
	var r []*typ
types:
	for _, t := range g.named {
		for m := range i.methods {
			if !t.methods[m] {
				continue types
			}
		}
		r = append(r, t)
	}
	return r
}
