package enginetest

import (
	"fmt"
	"strings"
)

// block draws statements, in the scope around it.
func (g *grammar) block(lo, hi int) string {
	var b strings.Builder
	for range g.between(lo, hi) {
		b.WriteString(g.statement() + "\n")
	}
	return b.String()
}

// braces draws a block with a scope of its own.
func (g *grammar) braces() string {
	return g.scoped(func() string { return "{\n" + g.block(1, 3) + "}" })
}

// statement draws a statement of any kind.
func (g *grammar) statement() string {
	g.depth++
	defer func() { g.depth-- }()
	simple := []func() string{g.print, g.define, g.assign, g.assign, g.print, g.tuple}
	if g.pure {
		simple = []func() string{g.define, g.assign, g.define, g.tuple}
	}
	if g.depth > 3 {
		return one(g, simple...)()
	}
	flow := []func() string{g.ifStmt, g.loop, g.switchStmt, g.loop, g.typeSwitch}
	if !g.pure {
		flow = append(flow, g.callProc, g.traced, g.protected, g.deferred, g.closures, g.goroutines, g.selectStmt, g.pointers, g.methodValues,
			g.copies, g.generics, g.failures, g.gotoStmt, g.labels, g.maps, g.constants, g.setStmt,
			g.boxes, g.captures)
		if g.has(Exact) {
			flow = append(flow, g.instances, g.texts, g.embeds, g.shadows, g.leaves, g.unwinds, g.arrays, g.keyed, g.numbers, g.conversions, g.ordered, g.concurrent, g.wrong, g.formats, g.libraries)
		}
	}
	if g.canReturn {
		flow = append(flow, g.earlyReturn)
	}
	if g.depth == 1 && !g.chance(4) || g.chance(2) {
		return one(g, flow...)()
	}
	return one(g, simple...)()
}

func (g *grammar) print() string {
	var es []string
	for range g.between(1, 2) {
		if len(g.vars) > 0 && g.chance(2) {
			v := one(g, g.vars...)
			es = append(es, g.printed(v.name, v.t)...)
			continue
		}
		t := g.typ(1)
		for !t.printable() {
			t = g.typ(0)
		}
		es = append(es, t.typed(g.expr(t, 2).s))
	}
	if g.chance(4) && len(es) == 1 {
		g.trace++
		return fmt.Sprintf("fmt.Printf(\"%d %%v\\n\", %s)", g.trace, es[0])
	}
	return g.println(es...)
}

// define declares a variable of the block.
func (g *grammar) define() string {
	t := g.typ(2)
	name := g.fresh("v")
	e := g.expr(t, 2).s
	var s string
	switch g.between(0, 3) {
	case 0, 1:
		s = name + " := " + t.typed(e)
	case 2:
		s = "var " + name + " " + t.text + " = " + e
	case 3:
		s = "var " + name + " " + t.text
		if !t.zeroed() || t.kind == mapKind {
			s = "var " + name + " = " + t.typed(e)
		}
	}
	if g.depth == 1 && !g.inFunc {
		// between cells a name declared in a statement would be the package's
		s = "{ " + s + "; " + g.println(g.printed(name, t)...) + " }"
		return s
	}
	g.declare(name, t)
	return s + "; _ = " + name
}

// targets are the operands that can be assigned to.
func (g *grammar) targets() []*variable {
	var r []*variable
	for _, v := range g.vars {
		if v.fixed {
			continue
		}
		r = append(r, v)
		if v.t.kind == structKind {
			for _, f := range v.t.fields {
				r = append(r, &variable{name: v.name + "." + f.name, t: f.t})
			}
		}
		if v.t.kind == pointerKind {
			r = append(r, &variable{name: "*" + v.name, t: v.t.elem})
		}
		if v.t.kind == arrayKind {
			r = append(r, &variable{name: v.name + "[" + fmt.Sprint(g.between(0, v.t.n-1)) + "]", t: v.t.elem})
		}
	}
	return r
}

func (g *grammar) assign() string {
	ts := g.targets()
	if len(ts) == 0 {
		return g.define()
	}
	return g.assignTo(one(g, ts...))
}

func (g *grammar) assignTo(v *variable) string {
	switch v.t.kind {
	case intKind:
		switch g.between(0, 3) {
		case 0:
			return v.name + one(g, "++", "--")
		case 1:
			return v.name + one(g, " += ", " -= ", " *= ", " ^= ", " &= ", " |= ", " &^= ") + g.expr(v.t, 2).s
		case 2:
			return v.name + one(g, " <<= ", " >>= ") + g.expr(byteType, 1).s
		}
	case floatKind:
		if g.chance(2) {
			return v.name + one(g, " += ", " *= ", " -= ", " /= ") + "(" + g.binary(v.t, 1, "+").s + ")"
		}
	case stringKind:
		if g.chance(2) {
			return v.name + " = " + v.t.text + "(clip(string(" + v.name + ")+" + g.stringExpr(stringType, 1) + "))"
		}
	case sliceKind:
		if g.chance(2) {
			return v.name + " = append(" + v.name + ", " + g.expr(v.t.elem, 1).s + ")"
		}
	case mapKind:
		k := g.expr(v.t.key, 1).s
		return "if " + v.name + " != nil { " + one(g, v.name+"["+k+"] = "+g.expr(v.t.elem, 1).s, "delete("+v.name+", "+k+")", "clear("+v.name+")") + " }"
	}
	if v.t.shared() && v.t.kind != pointerKind || v.t.kind == funcKind {
		return v.name + " = " + g.scopedOut(func() string { return g.literal(v.t).s })
	}
	return v.name + " = " + g.expr(v.t, 2).s
}

// scopedOut draws without variables: what is assigned shares nothing.
func (g *grammar) scopedOut(f func() string) string {
	outer := g.vars
	g.vars = nil
	defer func() { g.vars = outer }()
	return f()
}

// tuple swaps, or assigns an index and what it indexes.
func (g *grammar) tuple() string {
	v, w := g.fresh("v"), g.fresh("v")
	t := g.typ(0)
	show := "_, _ = " + v + ", " + w
	if !g.pure {
		show = g.println(append(g.printed(v, t), g.printed(w, t)...)...)
	}
	switch g.between(0, 3) {
	case 0:
		return fmt.Sprintf("{ %s, %s := %s, %s; %s, %s = %s, %s; %s }", v, w, t.typed(g.expr(t, 1).s), t.typed(g.expr(t, 1).s), v, w, w, v, show)
	case 1:
		if !g.pure {
			show = g.println(v, w)
		}
		return fmt.Sprintf("{ %s, %s := 0, []int{4, 5, 6}; %s, %s[%s] = 2, %s; %s[0], %s = %s[%s], %s[1]; %s }", v, w, v, w, v, g.expr(intType, 1).s, w, v, w, v, w, show)
	case 2:
		return fmt.Sprintf("{ %s, %s := func() (%s, %s) { return %s, %s }(); %s = %s; %s }", v, w, t.text, t.text, g.expr(t, 1).s, g.expr(t, 1).s, v, w, show)
	}
	if !g.pure {
		show = g.println(v, w)
	}
	return fmt.Sprintf("{ %s, %s := map[string]int{\"a\": 1}[%s]; %s }", v, w, g.expr(stringType, 0).s, show)
}

func (g *grammar) ifStmt() string {
	head := ""
	return g.scoped(func() string {
		if t := g.typ(0); t.comparable() && g.chance(3) {
			v := g.fresh("v")
			head = v + " := " + t.typed("("+g.expr(t, 1).s+")") + "; " + v + " == " + v + " && "
			g.declare(v, t)
		}
		s := "if " + head + "(" + g.expr(boolType, 2).s + ") " + g.braces()
		switch g.between(0, 2) {
		case 1:
			s += " else " + g.braces()
		case 2:
			s += " else if (" + g.expr(boolType, 1).s + ") " + g.braces() + " else " + g.braces()
		}
		return s
	})
}

func (g *grammar) switchStmt() string {
	t := one(g, intType, stringType, byteType, boolType)
	return g.scoped(func() string {
		var head string
		tagless := g.chance(3)
		if !tagless {
			head = "(" + t.typed(g.expr(t, 2).s) + ")"
		}
		var b strings.Builder
		b.WriteString("switch " + head + " {\n")
		n := g.between(1, 3)
		values := map[*typ][]string{intType: {"0", "1, 2", "-1, 7, 100"}, stringType: {`""`, `"a", "bc"`, `"x"`}, byteType: {"0", "1, 'a'", "255"}, boolType: {"true", "false"}}[t]
		n = min(n, len(values))
		for i := range n {
			if tagless {
				b.WriteString("case " + g.expr(boolType, 1).s + ":\n")
			} else {
				b.WriteString("case " + values[i] + ":\n")
			}
			b.WriteString(g.scoped(func() string { return g.block(1, 2) }))
			if i < n-1 && g.chance(4) {
				b.WriteString("fallthrough\n")
			} else if g.chance(4) {
				b.WriteString("if (" + g.expr(boolType, 1).s + ") { break }\n" + g.scoped(func() string { return g.block(1, 1) }))
			}
		}
		if g.chance(2) {
			b.WriteString("default:\n" + g.scoped(func() string { return g.block(1, 2) }))
		}
		b.WriteString("}")
		return b.String()
	})
}

func (g *grammar) typeSwitch() string {
	v := g.fresh("v")
	var b strings.Builder
	fmt.Fprintf(&b, "switch %s := %s.(type) {\n", v, "("+g.literal(anyType).s+")")
	seen := map[string]bool{"byte": true, "rune": true}
	for range g.between(1, 3) {
		t := g.dynamic()
		if seen[t.text] || t.name && len(t.methods) == 0 && !g.has(NamedIdentity) {
			continue
		}
		seen[t.text] = true
		fmt.Fprintf(&b, "case %s:\n_ = %s\n", t.text, v)
		b.WriteString(g.scoped(func() string {
			g.declare(v, t)
			s := ""
			if !g.pure {
				s = g.println(g.printed(v, t)...) + "\n"
			}
			return s + g.block(0, 1)
		}))
	}
	for _, i := range g.ifaces {
		if !g.chance(3) || seen[i.text] {
			continue
		}
		seen[i.text] = true
		fmt.Fprintf(&b, "case %s:\n_ = %s\n", i.text, v)
		b.WriteString(g.scoped(func() string { g.declare(v, i); return g.block(1, 1) }))
	}
	fmt.Fprintf(&b, "case nil:\n%s", g.scoped(func() string { return g.block(1, 1) }))
	fmt.Fprintf(&b, "default:\n_ = %s\n%s}", v, g.scoped(func() string { return g.block(1, 1) }))
	return b.String()
}

// callProc calls a function that prints; its arguments are no calls of such.
func (g *grammar) callProc() string {
	if len(g.procs) == 0 || g.inFunc && (len(g.loops) > 0 || g.chance(2)) {
		return g.print()
	}
	f := one(g, g.procs...)
	c := g.call(f, 1)
	if len(f.results) == 0 {
		return c
	}
	var vs, shown []string
	for _, t := range f.results {
		v := g.fresh("v")
		vs = append(vs, v)
		shown = append(shown, g.printed(v, t)...)
	}
	return "{ " + strings.Join(vs, ", ") + " := " + c + "; " + g.println(shown...) + " }"
}
