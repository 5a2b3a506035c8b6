package enginetest

import (
	"fmt"
	"strings"
)

// ex is an expression; constant ones are not joined by operators, because a
// compiler would refuse those that overflow.
type ex struct {
	s     string
	fixed bool // constant
}

// value draws an expression of type t that is no constant, or ok is false.
func (g *grammar) value(t *typ) (string, bool) {
	var of []string
	for _, v := range g.vars {
		of = append(of, g.paths(v.name, v.t, t, 2)...)
	}
	if len(of) == 0 {
		return "", false
	}
	return one(g, of...), true
}

// paths are the ways from e of type from to values of type to.
func (g *grammar) paths(e string, from, to *typ, depth int) []string {
	if from == to {
		return []string{e}
	}
	if depth == 0 {
		return nil
	}
	switch from.kind {
	case structKind:
		var r []string
		for _, f := range from.fields {
			r = append(r, g.paths(e+"."+f.name, f.t, to, depth-1)...)
			if f.embedded {
				for _, p := range f.t.fields {
					r = append(r, g.paths(e+"."+p.name, p.t, to, depth-2)...)
				}
			}
		}
		return r
	case arrayKind:
		return g.paths(fmt.Sprintf("%s[%d]", e, from.n-1), from.elem, to, depth-1)
	case pointerKind:
		if from.elem.kind == structKind && from.elem != to {
			return g.paths(e, from.elem, to, depth)
		}
		return g.paths("(*"+e+")", from.elem, to, depth-1)
	case sliceKind, mapKind, stringKind:
		if to == intType {
			return []string{"len(" + e + ")"}
		}
	}
	return nil
}

// literal draws an expression without names of variables.
func (g *grammar) literal(t *typ) ex {
	g.nest++
	defer func() { g.nest-- }()
	switch t.kind {
	case boolKind:
		return ex{g.conv(t, one(g, "false", "true")), true}
	case intKind:
		s := fmt.Sprint(one(g, 0, 1, 2, 3, 5, 7, 10, 64, 100, 127))
		if t.signed && s != "0" && g.chance(4) {
			s = "-" + s
		}
		if t.text == "rune" && g.chance(2) {
			s = one(g, "'a'", "'é'", "'世'", `'\n'`)
		}
		return ex{g.conv(t, s), true}
	case floatKind:
		return ex{g.conv(t, one(g, "0.0", "1.5", "-2.25", "0.1", "1e10", "3.0", "1e-7")), true}
	case stringKind:
		return ex{g.conv(t, one(g, `""`, `"a"`, `"bc"`, `"héllo"`, `"世界"`, `"x\ty"`, "`r`", `"\xffz"`)), true}
	case structKind:
		var es []string
		keyed := g.chance(2)
		for _, f := range t.fields {
			e := g.expr(f.t, 0).s
			if keyed {
				e = f.name + ": " + e
			}
			es = append(es, e)
		}
		return ex{s: t.text + "{" + strings.Join(es, ", ") + "}"}
	case arrayKind, sliceKind:
		n := t.n
		if t.kind == sliceKind {
			n = g.between(0, 3)
		}
		var es []string
		for range n {
			es = append(es, g.expr(t.elem, 0).s)
		}
		return ex{s: t.text + "{" + strings.Join(es, ", ") + "}"}
	case mapKind:
		var es []string
		seen := map[string]bool{}
		for range g.between(0, 2) {
			k := g.literal(t.key).s
			if t.key.text == "byte" || t.key.bits == 8 || t.key.text == "rune" {
				k = g.conv(t.key, fmt.Sprint(len(seen)+1))
			}
			if !seen[k] {
				seen[k] = true
				es = append(es, k+": "+g.expr(t.elem, 0).s)
			}
		}
		return ex{s: t.text + "{" + strings.Join(es, ", ") + "}"}
	case pointerKind:
		e := g.literal(t.elem).s
		if k := t.elem.kind; k == structKind || k == arrayKind || k == sliceKind || k == mapKind {
			return ex{s: "&" + e}
		}
		return ex{s: "new(" + t.elem.typed(e) + ")"}
	case funcKind:
		return ex{s: g.function(t)}
	case interfaceKind:
		return ex{s: t.text + "(" + g.implementation(t) + ")"}
	}
	if g.nest > 4 {
		return ex{s: "any(" + one(g, "1", "nil", "\"x\"") + ")"}
	}
	u := g.dynamic()
	return ex{s: "any(" + u.typed(g.expr(u, 0).s) + ")"}
}

// dynamic draws the type of a value in an interface.
func (g *grammar) dynamic() *typ {
	t := g.typ(1)
	for t.kind == anyKind || t.kind == interfaceKind || t.kind == funcKind {
		t = g.typ(0)
	}
	return t
}

func (g *grammar) implementation(i *typ) string {
	ts := g.implementers(i)
	t := ts[0]
	if g.nest < 4 { // others may have fields of type i
		t = one(g, ts...)
	}
	if i.methods["Set"] || g.chance(3) {
		return g.expr(g.make(typ{kind: pointerKind, text: "*" + t.text, elem: t}), 0).s
	}
	return t.typed(g.expr(t, 0).s)
}

// conv makes a constant one of type t where it would not be by itself.
func (g *grammar) conv(t *typ, s string) string {
	switch t {
	case intType, stringType, boolType, floatType:
		return s
	}
	return t.text + "(" + s + ")"
}

// function draws a function literal without side effects.
func (g *grammar) function(t *typ) string {
	p := g.fresh("a")
	return g.scoped(func() string {
		g.declare(p, t.elem).fixed = true
		return fmt.Sprintf("func(%s %s) %s { return %s }", p, t.elem.text, t.result.text, g.expr(t.result, 1).s)
	})
}

// expr draws an expression of type t, of a depth.
func (g *grammar) expr(t *typ, depth int) ex {
	if g.chance(3) || depth <= 0 {
		if s, ok := g.value(t); ok && g.chance(2) {
			return ex{s: s}
		}
		if depth <= 0 {
			return g.literal(t)
		}
	}
	if g.chance(3) {
		return g.anyExpr(t, depth)
	}
	switch t.kind {
	case intKind:
		return g.intExpr(t, depth)
	case floatKind:
		return g.binary(t, depth, "+", "-", "*", "/")
	case stringKind:
		return ex{s: g.stringExpr(t, depth)}
	case boolKind:
		return ex{s: g.boolExpr(t, depth)}
	case sliceKind:
		if g.chance(3) && !t.name {
			x := g.expr(t, depth-1).s
			return ex{s: one(g, "append("+t.text+"(nil), "+x+"...)", "slices.Clone("+x+")", "append("+x+"[:0:0], "+g.expr(t.elem, depth-1).s+")")}
		}
	case funcKind:
		if g.chance(2) {
			return ex{s: g.function(t)}
		}
	}
	return g.literal(t)
}

// anyExpr draws what there is for all types.
func (g *grammar) anyExpr(t *typ, depth int) ex {
	switch g.between(0, 5) {
	case 0:
		for _, i := range []int{0, 1, 2} {
			if k := len(g.funcs); k > i && g.funcs[k-1-i].results[0] == t {
				return ex{s: g.call(g.funcs[k-1-i], depth-1)}
			}
		}
	case 1:
		return ex{s: fmt.Sprintf("pick(%s, %s, %s)", g.expr(boolType, depth-1).s, t.typed(g.expr(t, depth-1).s), t.typed(g.expr(t, depth-1).s))}
	case 2:
		return ex{s: fmt.Sprintf("func() %s { if (%s) { return %s }; return %s }()", t.text, g.expr(boolType, depth-1).s, g.expr(t, depth-1).s, g.expr(t, depth-1).s)}
	case 3:
		if t.kind != interfaceKind && t.kind != funcKind && (g.has(NamedIdentity) || !t.name || len(t.methods) > 0) {
			return ex{s: "any(" + t.typed(g.expr(t, depth-1).s) + ").(" + t.text + ")"}
		}
	case 4:
		if t.comparable() {
			return ex{s: fmt.Sprintf("pair[int, %s]{%s, %s}.swap().a", t.text, g.expr(intType, 0).s, g.expr(t, depth-1).s)}
		}
	case 5:
		return ex{s: fmt.Sprintf("map[bool]%s{true: %s, false: %s}[%s]", t.text, g.expr(t, depth-1).s, g.expr(t, depth-1).s, g.expr(boolType, depth-1).s)}
	}
	return g.literal(t)
}

func (g *grammar) call(f *function, depth int) string {
	var as []string
	for i, p := range f.params {
		if f.rest && i == len(f.params)-1 {
			if g.chance(3) {
				as = append(as, g.expr(g.slice(p), depth).s+"...")
				break
			}
			for range g.between(0, 2) {
				as = append(as, g.expr(p, depth).s)
			}
			break
		}
		as = append(as, g.expr(p, depth).s)
	}
	return f.name + "(" + strings.Join(as, ", ") + ")"
}

// binary joins two expressions, of which one is no constant.
func (g *grammar) binary(t *typ, depth int, ops ...string) ex {
	x, y := g.expr(t, depth-1), g.expr(t, depth-1)
	if x.fixed {
		x.s = "pick(true, " + x.s + ", " + x.s + ")"
	}
	return ex{s: "(" + x.s + " " + one(g, ops...) + " " + y.s + ")"}
}

func (g *grammar) intExpr(t *typ, depth int) ex {
	switch g.between(0, 7) {
	case 0, 1:
		return g.binary(t, depth, "+", "-", "*", "&", "|", "^", "&^")
	case 2:
		x, y := g.binary(t, depth-1, "+", "^").s, g.expr(t, depth-1).s
		return ex{s: fmt.Sprintf("(%s %s (%s | %s))", x, one(g, "/", "%"), y, g.conv(t, "1"))}
	case 3:
		x, y := g.binary(t, depth-1, "+", "-").s, g.expr(one(g, byteType, basicTypes[9], basicTypes[11]), depth-1).s
		return ex{s: "(" + x + " " + one(g, "<<", ">>") + " " + one(g, "3", "70", y) + ")"}
	case 4:
		return ex{s: one(g, "-", "^") + g.binary(t, depth-1, "*", "+").s}
	case 5:
		u := basicTypes[0]
		for _, b := range basicTypes[:g.between(0, len(basicTypes)-1)] {
			if b.kind == intKind {
				u = b
			}
		}
		return ex{s: t.text + g.binary(u, depth-1, "+", "-", "*").s}
	case 6:
		return ex{s: one(g, "min", "max") + "(" + g.binary(t, depth-1, "+").s + ", " + g.expr(t, depth-1).s + ")"}
	}
	if m := g.methodCall("Num", ""); m != "" && t == intType {
		return ex{s: m}
	}
	return ex{s: t.text + "(len(" + g.expr(stringType, depth-1).s + "+\"!\"+clip(\"\")))"}
}

// methodCall draws a call without side effects of a method; empty if there is
// no receiver.
func (g *grammar) methodCall(name, arg string) string {
	var of []string
	for _, v := range g.vars {
		t := v.t
		if t.kind == pointerKind {
			t = t.elem
		}
		if t.methods[name] && (v.t.kind != pointerKind || t.kind != interfaceKind) {
			of = append(of, v.name)
		}
	}
	if len(of) == 0 {
		return ""
	}
	return one(g, of...) + "." + name + "(" + arg + ")"
}

func (g *grammar) stringExpr(t *typ, depth int) string {
	x := g.expr(stringType, depth-1).s
	u := g.typ(1)
	for !u.printable() {
		u = g.typ(0)
	}
	y := u.typed(g.expr(u, depth-1).s)
	if m := g.methodCall("Text", x); m != "" && g.chance(4) {
		return t.text + "(clip(" + m + "))"
	}
	s := one(g, "clip("+x+" + "+g.expr(stringType, depth-1).s+")", "fmt.Sprint("+y+")", "fmt.Sprint("+y+", "+x+")", "fmt.Sprintf(\"%v|%q\", "+y+", "+x+")",
		"strings.ToUpper("+x+")", "string([]byte("+x+"))", "string([]rune("+x+"))", "string(rune("+g.expr(byteType, depth-1).s+"))", "strconv.Itoa("+g.expr(intType, depth-1).s+")",
		"strings.Repeat("+x+", 2)", "strings.Join(apply([]int{1, 2}, func(i int) string { return fmt.Sprint(i) }), clip("+x+"))",
		"fmt.Sprintf(\"%5d|%-4d|%x\", "+strings.Repeat(g.expr(intType, depth-1).s+", ", 2)+x+")", "fmt.Sprintf(\"%.3f %g\", "+g.expr(floatType, depth-1).s+", "+g.expr(floatType, depth-1).s+")")
	return t.text + "(clip(" + s + "))"
}

func (g *grammar) boolExpr(t *typ, depth int) string {
	var s string
	switch g.between(0, 4) {
	case 0:
		u := one(g, basicTypes...)
		ops := []string{"==", "!=", "<", "<=", ">", ">="}
		if u.kind == boolKind {
			ops = ops[:2]
		}
		s = g.binary(u, depth-1, ops...).s
	case 1:
		s = g.binary(boolType, depth-1, "&&", "||").s
	case 2:
		s = "!" + g.expr(boolType, depth-1).s
	case 3:
		u := g.typ(1)
		for !u.comparable() {
			u = g.typ(0)
		}
		s = "(" + u.typed(g.expr(u, depth-1).s) + one(g, " == ", " != ") + u.typed(g.expr(u, depth-1).s) + ")"
	default:
		u := g.dynamic()
		a := g.expr(anyType, depth-1).s
		if g.has(NamedIdentity) || !u.name || u.kind == structKind {
			s = "func() bool { _, ok := " + a + ".(" + u.text + "); return ok }()"
		} else {
			s = "(" + a + " != nil)"
		}
	}
	return g.conv(t, s)
}
