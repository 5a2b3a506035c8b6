package enginetest

import (
	"fmt"
	"strings"
)

// closures draws function literals that keep variables.
func (g *grammar) closures() string {
	fs, i, n := g.fresh("fs"), g.fresh("i"), g.fresh("n")
	t := g.typ(0)
	switch g.between(0, 4) {
	case 0:
		return fmt.Sprintf("{ var %s []func() int; for %s := 0; %s < 3; %s++ { %s = append(%s, func() int { %s += 10; return %s }) }; for _, f := range %s { fmt.Println(f(), f()) } }", fs, i, i, i, fs, fs, i, i, fs)
	case 1:
		return fmt.Sprintf("{ %s := %s; f := func() { %s = %s; }; %s; f(); %s }", n, t.typed(g.expr(t, 1).s), n, g.expr(t, 1).s, g.println(g.printed(n, t)...), g.println(g.printed(n, t)...))
	case 2:
		return fmt.Sprintf("{ var %s func(int) int; %s = func(n int) int { if n < 2 { return 1 }; return n * %s(n-1) }; %s }", fs, fs, fs, g.println(fs+"("+fmt.Sprint(g.between(0, 6))+")"))
	case 3:
		return fmt.Sprintf("{ %s := func(n int) (func() int, func(int)) { return func() int { n++; return n }, func(m int) { n = m } }\na, b := %s(%s)\nc, _ := %s(1)\nfmt.Println(a(), a()); b(7); fmt.Println(a(), c()) }", fs, fs, g.expr(intType, 1).s, fs)
	}
	return fmt.Sprintf("{ var %s []func() string; for %s, %s := range []%s{%s, %s} { %s = append(%s, func() string { %s++; return fmt.Sprint(%s) }); _ = %s }; for _, f := range %s { fmt.Println(f()) } }",
		fs, i, n, t.text, g.expr(t, 0).s, g.expr(t, 0).s, fs, fs, i, i, n, fs)
}

// goroutines draws goroutines that are joined before anything is printed.
func (g *grammar) goroutines() string {
	i, xs := g.fresh("i"), g.fresh("xs")
	e := g.scoped(func() string { g.declare(i, intType).fixed = true; return g.expr(intType, 2).s })
	switch g.between(0, 4) {
	case 0:
		return fmt.Sprintf("{ var wg sync.WaitGroup; %s := make([]int, 4); for %s := range 4 { wg.Add(1); go func() { defer wg.Done(); %s[%s] = %s }() }; wg.Wait(); %s }", xs, i, xs, i, e, g.println(xs))
	case 1:
		return fmt.Sprintf("{ %s := make(chan int, %d); go func() { defer close(%s); for %s := range 3 { %s <- %s + %s } }(); for x := range %s { fmt.Println(x) } }", xs, g.between(0, 2), xs, i, xs, i, e, xs)
	case 2:
		return fmt.Sprintf("{ var wg sync.WaitGroup; var mu sync.Mutex; %s := 0; for %s := 0; %s < 3; %s++ { wg.Go(func() { mu.Lock(); defer mu.Unlock(); %s += %s }) }; wg.Wait(); %s }", xs, i, i, i, xs, e, g.println(xs))
	case 3:
		return fmt.Sprintf("{ in, out, done := make(chan int), make(chan string), make(chan struct{}); go func() { for %s := range in { out <- fmt.Sprint(%s, %s) }; close(out) }(); go func() { for s := range out { fmt.Println(s) }; close(done) }(); for k := range 3 { in <- k }; close(in); <-done }", i, i, e)
	}
	return fmt.Sprintf("{ %s := make(chan func() int, 1); go func(%s int) { %s <- func() int { return %s } }(%s); f := <-%s; %s }", xs, i, xs, e, g.expr(intType, 1).s, xs, g.println("f()"))
}

func (g *grammar) selectStmt() string {
	c, v := g.fresh("c"), g.fresh("v")
	t := g.typ(0)
	e := t.typed(g.expr(t, 1).s)
	got := g.println(g.printed(v, t)...)
	switch g.between(0, 4) {
	case 0:
		return fmt.Sprintf("{ %s := make(chan %s, 1); %s <- %s; select { case %s := <-%s: %s\ncase <-make(chan int): fmt.Println(\"never\") } }", c, t.text, c, e, v, c, got)
	case 1:
		return fmt.Sprintf("{ %s := make(chan %s, 1); select { case %s, ok := <-%s: _, _ = %s, ok; fmt.Println(\"never\")\ndefault: %s } }", c, t.text, v, c, v, g.print())
	case 2:
		return fmt.Sprintf("{ %s := make(chan %s, 1); for k := range 2 { select { case %s <- %s: fmt.Println(\"sent\", k)\ndefault: fmt.Println(\"full\", len(%s)) } }; %s := <-%s; %s }", c, t.text, c, e, c, v, c, got)
	case 3:
		return fmt.Sprintf("{ %s := make(chan %s); close(%s); select { case _, ok := <-%s: fmt.Println(ok) } }", c, t.text, c, c)
	}
	l := g.fresh("L")
	return fmt.Sprintf("{ %s := make(chan int, 5); for k := range 4 { %s <- k }\n%s:\nfor { select { case %s := <-%s: if %s == 1 { continue }; if %s == 3 { break %s }; %s } } }", c, c, l, v, c, v, v, l, g.println(v))
}

// pointers draws what shares and what does not.
func (g *grammar) pointers() string {
	p, v := g.fresh("p"), g.fresh("v")
	t := g.typ(1)
	e := t.typed(g.expr(t, 1).s)
	show := g.println(g.printed(v, t)...)
	switch g.between(0, 3) {
	case 0:
		return fmt.Sprintf("{ %s := %s; %s := &%s; *%s = %s; %s; w := *%s; _ = w; fmt.Println(%s == &%s) }", v, e, p, v, p, g.expr(t, 1).s, show, p, p, v)
	case 1:
		return fmt.Sprintf("{ %s := []int{1, 2, 3}; %s := &%s[1]; *%s += 5; %s = append(%s[:2:2], 9); *%s = 0; %s }", v, p, v, p, v, v, p, g.println(v, "*"+p))
	case 2:
		return fmt.Sprintf("{ %s := struct{ a, b int; c [2]string }{1, 2, [2]string{\"x\", \"y\"}}; %s := &%s.b; *%s = 7; q := &%s.c[1]; *q += \"z\"; w := %s; w.a = 3; w.c[0] = \"w\"; %s }", v, p, v, p, v, v, g.println(v, "w", "*"+p, "*q"))
	}
	s := "type node struct { x int; next *node }"
	return fmt.Sprintf("{ %s; var %s *node; for k := range 4 { %s = &node{k, %s} }; %s := 0; for n := %s; n != nil; n = n.next { %s = %s*3 + n.x }; %s }", s, p, p, p, v, p, v, v, g.println(v))
}

// methodValues draws method values and expressions.
func (g *grammar) methodValues() string {
	var ts []*typ
	for _, t := range g.named {
		if t.methods["Num"] || t.methods["Text"] || t.methods["Set"] {
			ts = append(ts, t)
		}
	}
	if len(ts) == 0 {
		return g.closures()
	}
	t := one(g, ts...)
	v, f := g.fresh("v"), g.fresh("f")
	e := t.typed(g.expr(t, 1).s)
	again := g.expr(t, 1).s
	var s string
	switch {
	case t.methods["Set"] && g.chance(2):
		s = fmt.Sprintf("%s := %s.Set; %s(3); h := (*%s).Set; h(&%s, 4); %s", f, v, f, t.text, v, g.println(g.printed(v, t)...))
	case t.methods["Num"]:
		s = fmt.Sprintf("%s := %s.Num; %s = %s; %s; defer func(n int) { _ = n }(%s()); h := %s.Num; %s", f, v, v, again, g.println(f+"()", v+".Num()"), f, t.text, g.println("h("+v+")", "(&"+v+").Num()", "(*"+t.text+").Num(&"+v+")"))
	case t.methods["Text"]:
		s = fmt.Sprintf("%s := %s.Text; %s = %s; %s; fs := []func(string) string{%s, %s.Text}; %s", f, v, v, again, g.println(f+"(\"a\")"), f, v, g.println("fs[1](\"b\")", t.text+".Text("+v+", \"c\")"))
	default:
		s = g.println(g.printed(v, t)...)
	}
	for _, i := range g.ifaces {
		if !i.methods["Set"] && i.methods["Num"] && t.methods["Num"] && (!i.methods["Text"] || t.methods["Text"]) {
			s += fmt.Sprintf("; var i %s = %s; k := i.Num; i = &%s; %s", i.text, v, v, g.println("k()", "i.Num()", i.text+".Num(i)"))
			break
		}
	}
	return fmt.Sprintf("func() { %s := %s; %s }()", v, e, s)
}

// copies draws values that are copied by assignment, call and range.
func (g *grammar) copies() string {
	v, w := g.fresh("v"), g.fresh("w")
	t := g.typ(0)
	x, y := t.typed(g.expr(t, 1).s), g.expr(t, 1).s
	elem := v + "[0]"
	switch g.between(0, 3) {
	case 0:
		return fmt.Sprintf("{ %s := [2]%s{%s}; %s := %s; %s[0] = %s; %s }", v, t.text, x+", "+x, w, v, w, y, g.println(append(g.printed(elem, t), g.printed(w+"[0]", t)...)...))
	case 1:
		return fmt.Sprintf("{ %s := [3]int{1, 2, 3}; for i, x := range %s { %s[2] = 10; %s }; func(a [3]int) { a[0] = 5; %s = [3]int{} }(%s); %s }", v, v, v, g.println("i", "x"), v, v, g.println(v))
	case 2:
		return fmt.Sprintf("{ %s := map[string][2]int{\"a\": {1, 2}}; %s := %s[\"a\"]; %s[0] = 9; %s }", v, w, v, w, g.println(v, w))
	}
	return fmt.Sprintf("{ %s := []struct{ a %s }{{%s}, {%s}}; for _, x := range %s { x.a = %s }; for i := range %s { %s[i].a = %s; break }; %s }", v, t.text, x, x, v, y, v, v, y, g.println(append(g.printed(v+"[0].a", t), g.printed(v+"[1].a", t)...)...))
}

// generics draws uses of generic functions and types.
func (g *grammar) generics() string {
	t, u := g.typ(0), g.typ(0)
	v := g.fresh("v")
	x, y := t.typed(g.expr(t, 1).s), u.typed(g.expr(u, 1).s)
	switch g.between(0, 4) {
	case 0:
		return fmt.Sprintf("{ %s := pair[%s, %s]{%s, %s}.swap(); %s }", v, t.text, u.text, x, y, g.println(append(g.printed(v+".a", u), g.printed(v+".b", t)...)...))
	case 1:
		return fmt.Sprintf("{ var %s stack[%s]; %s.push(%s); %s.push(%s); x, ok := %s.pop(); %s; _, ok = %s.pop(); _, last := %s.pop(); %s }", v, t.text, v, x, v, x, v, g.println(append(g.printed("x", t), "ok", "len("+v+".xs)")...), v, v, g.println("ok", "last"))
	case 2:
		return fmt.Sprintf("{ %s := apply([]%s{%s, %s}, func(x %s) %s { return %s }); %s }", v, t.text, x, x, t.text, u.text, y, g.println(g.printed(v+"[1]", u)...))
	case 3:
		return fmt.Sprintf("for i, x := range each([]%s{%s, %s, %s}) { if i == %d { break }; %s }", t.text, x, x, x, g.between(0, 2), g.println(append(g.printed("x", t), "i")...))
	}
	k := g.keyType()
	m := g.mapOf(k, t)
	return fmt.Sprintf("{ %s := %s; fmt.Println(keys(%s), len(%s), slices.Sorted(maps.Keys(%s))) }", v, g.literal(m).s, v, v, v)
}

// failures draws errors and what is asked of them.
func (g *grammar) failures() string {
	e, c := g.fresh("e"), fmt.Sprint(g.between(0, 3))
	wrap := one(g, "failure{"+c+", nil}", "failure{"+c+", errors.ErrUnsupported}", "fmt.Errorf(\"wrap: %w\", failure{"+c+", strconv.ErrRange})", "errors.Join(errors.New(\"a\"), failure{"+c+", nil})", "errors.New(\"plain\")")
	ask := []string{
		"if f := (failure{}); errors.As(" + e + ", &f) { " + g.println("f.code") + " }",
		g.println("errors.Is("+e+", errors.ErrUnsupported)", "errors.Is("+e+", strconv.ErrRange)", e+".Error()"),
		"switch x := " + e + ".(type) {\ncase failure:\n" + g.println("x.code") + "\ndefault:\n" + g.println("x") + "\n}",
		g.println(e + " == failure{" + c + ", nil}"),
		"if f, ok := " + e + ".(failure); ok { " + g.println("f.code") + " }",
	}
	return fmt.Sprintf("func() { var %s error = %s; %s; %s }()", e, wrap, one(g, ask[:len(ask)-1]...), one(g, ask...))
}

// maps draws a map that is changed and read in order.
func (g *grammar) maps() string {
	m := g.fresh("m")
	k, t := g.keyType(), g.typ(0)
	for !t.zeroed() {
		t = one(g, basicTypes...)
	}
	mt := g.mapOf(k, t)
	key := g.expr(k, 1).s
	return fmt.Sprintf("{ %s := %s; %s[%s] = %s; x, ok := %s[%s]; %s; for k := range %s { if k == %s { delete(%s, k) } }; for _, k := range keys(%s) { %s }; %s }",
		m, g.literal(mt).s, m, key, g.expr(t, 1).s, m, g.literal(k).s, g.println(append(g.printed("x", t), "ok", "len("+m+")")...), m, g.literal(k).s, m, m, g.println(append(g.printed(m+"[k]", t), "k")...), g.println("len("+m+")"))
}

// constants draws constant declarations.
func (g *grammar) constants() string {
	t := one(g, basicTypes[0], basicTypes[6], basicTypes[10], basicTypes[4])
	return one(g,
		"{ const ( a = iota * 3; b; _; d "+t.text+" = 1 << iota; e ); "+g.println("a", "b", "d", "e")+" }",
		"{ const big = 1 << 70; const f = big >> 68; var x "+t.text+" = f; "+g.println("x", "f", "big/(1<<60)")+" }",
		"{ const s = \"ab\" + \"c\"; "+g.println("s[1]", "len(s)", "s[1:]", "s < \"b\"")+" }",
		"{ const r = 'a' + 1; var b byte = r; "+g.println("r", "b", "string(rune(r))")+" }",
		"{ const h = 7 / 2; const q = 7 / 2.0; var f float32 = q; "+g.println("h", "q", "f", "h*1.0")+" }",
		"{ var x uint8 = 200; "+g.println("x+100", "x<<1", "-x", "^x", "x*x>>3", "int8(x)")+" }",
	)
}

// setStmt calls a method that changes its receiver.
func (g *grammar) setStmt() string {
	for _, v := range g.vars {
		if !v.fixed && v.t.methods["Set"] && v.t.kind != interfaceKind {
			n := g.fresh("n")
			return strings.Join([]string{"{ " + n + " := " + v.name + ".Set(" + g.expr(intType, 1).s + ")", g.println(append(g.printed(v.name, v.t), n)...)}, "; ") + " }"
		}
	}
	return g.print()
}
