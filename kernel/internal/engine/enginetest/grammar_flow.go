package enginetest

import (
	"fmt"
	"strings"
)

func (g *grammar) earlyReturn() string {
	return "if (" + g.expr(boolType, 2).s + ") { " + g.ret(false) + " }"
}

// loop draws a loop of any kind.
func (g *grammar) loop() string {
	if len(g.loops) >= 3 {
		return g.ifStmt()
	}
	label := g.fresh("L")
	g.loops = append(g.loops, label)
	defer func() { g.loops = g.loops[:len(g.loops)-1] }()
	return g.scoped(func() string {
		before, s := g.loopStmt()
		if strings.Contains(s, "break "+label+" ") || strings.Contains(s, "continue "+label+" ") {
			s = label + ":\n" + s
		}
		if before != "" {
			return "{ " + before + "\n" + s + " }"
		}
		return s
	})
}

// loopStmt draws a loop, and what stands before it.
func (g *grammar) loopStmt() (before, s string) {
	i, x := g.fresh("i"), g.fresh("x")
	n := g.between(0, 3)
	index := func(t *typ) { g.declare(i, t).fixed = true }
	both := "_, _ = " + i + ", " + x
	switch g.between(0, 10) {
	case 0:
		index(intType)
		return "", fmt.Sprintf("for %s := range %d %s", i, n, g.loopBody("_ = "+i))
	case 1:
		index(intType)
		return "", fmt.Sprintf("for %s := %d; %s < 4; %s++ %s", i, n, i, i, g.loopBody(""))
	case 2:
		t := g.typ(1)
		head := fmt.Sprintf("for %s, %s := range (%s) ", i, x, g.expr(g.slice(t), 1).s)
		index(intType)
		g.declare(x, t).fixed = t.shared()
		return "", head + g.loopBody(both)
	case 3:
		t := one(g, basicTypes[4:12]...)
		index(t)
		return "", fmt.Sprintf("for %s := range %s(%d) %s", i, t.text, n, g.loopBody("_ = "+i))
	case 4:
		index(intType)
		g.declare(x, runeType)
		return "", fmt.Sprintf("for %s, %s := range %s + clip(%s) %s", i, x, one(g, `"héé"`, `"abcd"`, `"\xff世"`), one(g, `"é"`, `"\x80b"`, `"c"`), g.loopBody(both))
	case 5:
		k, t := g.keyType(), g.typ(0)
		v := g.fresh("m")
		before = v + " := " + g.literal(g.mapOf(k, t)).s
		index(k)
		g.declare(x, t)
		return before, fmt.Sprintf("for _, %s := range keys(%s) %s", i, v, g.loopBody(x+" := "+v+"["+i+"]; _ = "+x))
	case 6:
		t := g.typ(0)
		head := fmt.Sprintf("for %s, %s := range each(%s) ", i, x, g.literal(g.slice(t)).s)
		index(intType)
		g.declare(x, t)
		return "", head + g.loopBody(both)
	case 7:
		index(intType)
		return i + " := 0", fmt.Sprintf("for %s < 3 %s", i, g.loopBody(i+"++"))
	case 8:
		index(intType)
		return i + " := 0", fmt.Sprintf("for %s", g.loopBody(i+"++; if "+i+" > 3 { break }"))
	case 9:
		index(intType)
		g.declare(x, intType).fixed = true
		return "", fmt.Sprintf("for %s, %s := 0, %d; %s < %s; %s, %s = %s+1, %s-1 %s", i, x, 2*n, i, x, i, x, i, x, g.loopBody(""))
	}
	t := g.typ(0)
	a := g.make(typ{kind: arrayKind, text: fmt.Sprintf("[%d]%s", n+1, t.text), elem: t, n: n + 1})
	head := fmt.Sprintf("for %s, %s := range (%s) ", i, x, g.expr(a, 1).s)
	index(intType)
	g.declare(x, t)
	return "", head + g.loopBody(both)
}

func (g *grammar) loopBody(first string) string {
	return g.scoped(func() string {
		s := "{\n" + first + "\n" + g.block(1, 2)
		if g.chance(2) {
			s += "if (" + g.expr(boolType, 1).s + ") { " + one(g, "continue", "break", "continue "+one(g, g.loops...), "break "+one(g, g.loops...)) + " }\n" + g.block(1, 1)
		}
		return s + "}"
	})
}

func (g *grammar) gotoStmt() string {
	l, v := g.fresh("L"), g.fresh("n")
	return fmt.Sprintf("func() {\n%s := 0\n%s:\n%s++\nif %s < 3 {\n%s\ngoto %s\n}\n%s\n}()", v, l, v, v, g.println(v), l, g.println(v))
}

// labels leaves nested loops from a switch and a select.
func (g *grammar) labels() string {
	l, i := g.fresh("L"), g.fresh("i")
	return g.scoped(func() string {
		g.declare(i, intType).fixed = true
		return fmt.Sprintf("%s:\nfor %s := range 4 {\nfor range 2 {\n%s%d:\n%s\n%s %s\ndefault:\n%s\n}\n%s\n}\n}", l, i, one(g, "switch {\ncase "+i+" == ", "switch x := "+i+"; x {\ncase "), g.between(0, 3),
			g.println(i), one(g, "continue", "break"), l, g.print(), g.print())
	})
}

// traced calls functions that print, in the order that the language fixes.
func (g *grammar) traced() string {
	g.trace++
	n := 0
	tr := func(t *typ) string {
		n++
		return fmt.Sprintf("tr(%d, %s)", n, t.typed(g.expr(t, 1).s))
	}
	t := g.typ(0)
	for !t.printable() {
		t = one(g, basicTypes...)
	}
	v := g.fresh("v")
	num := one(g, intType, floatType, byteType)
	switch g.between(0, 9) {
	case 0:
		return g.println(tr(t), tr(stringType), tr(intType))
	case 1:
		return g.println(tr(num) + one(g, " + ", " - ") + tr(num) + one(g, " * ", " + ") + tr(num))
	case 2:
		return g.println(fmt.Sprintf("(%s && %s) || %s", tr(boolType), tr(boolType), tr(boolType)))
	case 3:
		return fmt.Sprintf("{ %s := map[string]%s{%s: %s}; %s[%s] = %s; %s }", v, t.text, tr(stringType), tr(t), v, tr(stringType), tr(t), g.println("len("+v+")"))
	case 4:
		return g.println("[]" + t.text + "{" + tr(t) + ", " + tr(t) + "}")
	case 5:
		return g.println("pair[" + t.text + ", string]{b: " + tr(stringType) + ", a: " + tr(t) + "}.a")
	case 6:
		return fmt.Sprintf("{ %s := make([]%s, 3); %s[%s%%3], %s[2] = %s, %s; %s }", v, t.text, v, "tr(0, uint("+fmt.Sprint(g.between(0, 9))+"))", v, tr(t), tr(t), g.println(v))
	case 7:
		return g.println("func(a, b "+t.text+") "+t.text+" { return b }("+tr(t)+", "+tr(t)+")", tr(t))
	case 8:
		return fmt.Sprintf("switch %s {\ncase %s, %s:\n%s\ncase %s:\n%s\n}", tr(boolType), tr(boolType), tr(boolType), g.print(), tr(boolType), g.print())
	}
	return g.println("(&stack["+t.text+"]{[]"+t.text+"{"+tr(t)+"}}).xs[0]", "len("+tr(stringType)+")")
}

// protected runs a statement that panics, or nearly, and recovers.
func (g *grammar) protected() string {
	n := g.between(-1, 4)
	ix := fmt.Sprintf("pick(true, %d, 0)", n)
	of := []string{
		"fmt.Println([]int{1, 2, 3}[" + ix + "])",
		"fmt.Println([]int{1, 2, 3}[" + ix + ":])",
		"fmt.Println([]int{1, 2, 3}[:" + ix + "])",
		"fmt.Println(\"abc\"[" + ix + "])",
		"fmt.Println(clip(\"abc\")[" + ix + ":])",
		"fmt.Println(10 / " + ix + ", 7 % " + ix + ")",
		"var m map[string]int; m[\"a\"] = " + ix,
		"var p *pair[int, string]; fmt.Println(p.a)",
		"var p *[3]int; fmt.Println(p[" + "uint(" + ix + ")%3])",
		"var f func(); f()",
		"c := make(chan int, 1); close(c); if " + ix + " > 1 { close(c) }; c <- 1",
		"fmt.Println(len(make([]int, " + ix + ")))",
		"fmt.Println([2]int([]int{1, 2}[:max(0, min(2, " + ix + "))]))",
		"panic(fmt.Sprint(\"custom \", " + ix + "))",
		"panic(failure{" + ix + ", errors.New(\"w\")})",
		"panic(" + ix + ")",
		"fmt.Println(1 << " + ix + ")",
		"var e error; fmt.Println(e.Error())",
		"m := map[any]int{}; m[[]int{1}] = 2",
		"var a, b any = []int{1}, []int{1}; fmt.Println(a == b)",
		"xs := []int{1, 2}; xs[" + ix + "] = 9; fmt.Println(xs)",
		"var arr [4]int; arr[" + ix + "]++; fmt.Println(arr)",
		"strings.Repeat(\"x\", " + ix + ")",
	}
	if g.has(TypeNames) {
		of = append(of, "fmt.Println(any("+ix+").(string))", "var a any; fmt.Println(a.(int))")
	}
	if g.has(Exact) {
		of = append(of, "fmt.Println(any(\"s\").(interface{ Foo() }))")
	}
	bad := one(g, of...)
	what := one(g, "fmt.Println(\"recovered\", r)", "_, is := r.(runtime.Error); fmt.Println(\"recovered\", is)", "if err, ok := r.(error); ok { fmt.Println(\"error\", err) } else { fmt.Println(r) }")
	return fmt.Sprintf("func() {\ndefer func() { if r := recover(); r != nil { %s } }()\n%s%s\n%s\n}()", what, g.scoped(func() string { return g.closure(0, 1) }), bad, g.println(`"reached"`))
}

// deferred runs deferred calls that print, change results, recover and panic.
func (g *grammar) deferred() string {
	t := g.typ(0)
	r, e, i := g.fresh("r"), g.fresh("e"), g.fresh("i")
	shown := g.println(append(g.printed(r, t), e)...)
	ds := func() string {
		return g.scoped(func() string {
			g.declare(r, t)
			return one(g,
				"defer fmt.Println("+strings.Join(append([]string{`"deferred"`}, g.printed(r, t)...), ", ")+")",
				"defer func() { "+r+" = "+g.expr(t, 1).s+" }()",
				"for "+i+" := range 3 { defer fmt.Println("+i+", tr("+i+", "+i+")) }",
				"for "+i+" := 0; "+i+" < 2; "+i+"++ { defer func() { fmt.Println("+i+") }() }",
				"defer func() { if x := recover(); x != nil { "+e+" = fmt.Errorf(\"caught: %v\", x) } }()",
				"defer func(n int) { fmt.Println(n); "+g.closure(0, 1)+" }("+g.expr(intType, 1).s+")",
				"defer func() { defer func() { fmt.Println(recover()) }(); if "+e+" == nil { panic(\"again\") } }()",
				"defer func() { fmt.Println(recover() != nil, recover()) }()",
			)
		})
	}
	end := g.scoped(func() string {
		g.declare(r, t)
		return one(g, "return "+g.expr(t, 1).s+", nil", r+" = "+g.expr(t, 1).s+"; return", "panic(errors.New(\"gone\"))", "if ("+g.expr(boolType, 1).s+") { panic(\"text\") }; return "+g.expr(t, 1).s+", errors.New(\"e\")")
	})
	f := fmt.Sprintf("func() (%s %s, %s error) {\ndefer func() { if x := recover(); x != nil { fmt.Println(\"last\", x) } }()\n%s\n%s\n%s\n}", r, t.text, e, ds(), ds(), end)
	if !t.zeroed() { // a panic leaves the zero value
		shown = g.println(e)
	}
	return fmt.Sprintf("{ %s, %s := %s(); _ = %s; %s }", r, e, f, r, shown)
}
