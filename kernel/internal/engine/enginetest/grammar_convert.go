package enginetest

import "fmt"

// conversions draws conversions between types of one underlying type, and
// orders of evaluation across them.
func (g *grammar) conversions() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$s", g.of(stringType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	return fill(one(g,
		"{ type a struct { X $t `json:\"x\"`; y int }; type b struct { X $t; y int }; v := a{$x, $i}; w := b(v); w.y++; u := struct { X $t; y int }(v); u = w; p := (*b)(&v); p.X = $y; $p, v, w, u == struct { X $t; y int }{w.X, w.y}, *p == b(v), any(w) == any(b(v))) }",
		`{ type fn func($t) int; type op func($t) int; f := fn(func(x $t) int { return $i }); h := op(f); var k func($t) int = h; $p, f($x), h($y), k($x)); var e any = h; _, a := e.(fn); _, b := e.(op); _, c := e.(func($t) int); $p, a, b, c) }`,
		`{ type xs []$t; type m map[string]$t; s := []$t{$x}; v := xs(s); v[0] = $y; var w []$t = v; u := m(map[string]$t{"a": $x}); u["b"] = w[0]; var r map[string]$t = u; $p, s, v, len(r), u, any(v) == nil) }`,
		`{ c := make(chan $t, 2); var in chan<- $t = c; out := (<-chan $t)(c); in <- $x; in <- $y; close(in); v, ok := <-out; $p, v, ok, len(out), cap(in)); for v := range out { $p, v) }; v, ok = <-c; $p, v, ok) }`,
		`{ type p *$t; v := $x; var q p = &v; *q = $y; r := (*$t)(q); s := p(r); $p, v, *r, q == s, *s == v); type pp **$t; w := pp(&r); **w = $x; $p, v) }`,
		`{ var s fmt.Stringer = text($s); n := s.(interface { String() string; Len() int }); var b interface{ Len() int } = n; $p, n.String(), b.Len(), b.(text), b == any(s)); _, ok := b.(error); $p, ok) }`,
		`{ type celsius float64; type temp interface{ ~float64 }; c := celsius(36.6); f := float64(c)*9/5 + 32; k := celsius(int(c)); $p, c, f, k, c > k, celsius(f)-c, []celsius{c, 1.5}) }`,
		`{ type e struct{}; type s struct { e; n int }; a, b := s{n: 1}, s{e{}, 1}; $p, a == b, e{} == e(struct{}{}), len([3]struct{}{}), any(e{}) == any(struct{}{})); m := map[e]int{{}: 1}; m[e{}]++; $p, m) }`,
	), in...)
}

// ordered draws statements whose meaning is the order in which their parts are
// evaluated.
func (g *grammar) ordered() string {
	in := []string{"$i", g.of(intType, 1), "$s", g.of(stringType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	const caught = `defer func() { $p, recover()) }(); `
	return fill(one(g,
		`{ i := 0; a := []int{0, 0, 0}; i, a[i] = 1, 2; a[i], i = i+5, 2; p := &a[i]; i, *p = 0, a[0]; $p, i, a); f := func() []int { $p, "f"); return a }; f()[tr(1, 0)], f()[tr(2, 1)] = tr(3, $i), tr(4, 8); $p, a) }`,
		`{ m := map[string]int{}; var s struct { x int }; two := func() (int, int) { $p, "two"); return $i, 2 }; m["a"], s.x = two(); m[tr(1, "b")], m[tr(2, "c")] = two(); $p, m, s) }`,
		`func() { `+caught+`var p *pair[int, string]; x := 1; f := func() int { x = 2; return x }; defer func() { $p, x) }(); p.a, x = f(), 3 }()`,
		`func() { `+caught+`var m map[string]int; a := [3]int{}; defer func() { $p, a) }(); a[0], m["x"], a[1] = 1, 2, 3 }()`,
		`func() { `+caught+`xs := []int{1, 2}; i := tr(1, $n); xs[i], xs[0] = tr(2, 5), tr(3, 6); $p, xs) }()`,
		`{ var log []string; f := func(s string) string { log = append(log, s); return s }; m := map[string]string{f("k1"): f("v1"), f("k2"): f("v2")}; s := []string{1: f("b"), 0: f("a")}; x := pair[string, string]{b: f("y"), a: f("x")}; $p, len(m), s, x, log); less := f("1")+f("2") < f("3"); $p, less, log) }`,
		`{ s := []byte("12"); s = append(s[:1], '5', s[1]); t := append([]int{1}, append([]int{tr(1, 2)}, tr(2, 3))...); $p, string(s), t) }`,
		`{ x := $i; f := func() *int { x++; return &x }; g := func(a, b, c *int) []*int { return []*int{a, b, c} }; ps := g(f(), f(), f()); $p, *ps[0], ps[1] == &x); h := func() int { return *f() * 10 }; y := h() - h()*3; $p, y, x) }`,
		`{ ch := func(n int) chan int { $p, "chan", n); c := make(chan int, 1); c <- n; return c }; select { case v := <-ch(1): $p, v)
case ch(2) <- tr(1, $i): $p, "sent") 
case (chan int)(nil) <- tr(2, 3): }; ch(4); x, ok := <-ch(tr(3, 5)); $p, x, ok) }`,
		`{ var f func(int) func(int) int = func(a int) func(int) int { $p, "f", a); return func(b int) int { $p, "g", b); return a - b } }; $p, f(tr(1, 2))(tr(2, $i)), f(f(1)(2))(3)); func() { defer f(tr(4, 6))(tr(5, 7)); $p, "then") }() }`,
		`{ a, b, c := 1, 2, $i; a, b, c = b, c, a; xs := []int{a, b, c}; xs[0], xs[1], xs[2] = xs[2], xs[0], xs[1]; p, q := &xs[0], &xs[1]; *p, *q = *q, *p; p, q = q, p; *p -= *q; $p, xs, *p) }`,
		`{ i := 0; next := func() int { i++; return i }; var a [4]int; a[next()] += next(); a[next()%4]++; xs := [][]int{{1}, {2}}; xs[next()%2][0] *= next(); $p, a, xs); if x, y := next(), next(); x < y || tr(1, true) { $p, x, y) } }`,
		`{ t := true && tr(1, $n > 1) || tr(2, false) && tr(3, true) || !tr(4, $n == 0); switch { case tr(5, t) != tr(6, true): $p, "a")
case t, tr(7, true): $p, "b") } }`,
		`{ for i, x := range tr(1, []int{1, $i}) { $p, i, x); if i == 0 { continue }; for j := tr(2, 0); tr(3, j) < $n; j += tr(4, 2) { } } }`,
		`{ b := &base{1}; b.Add(tr(1, 1)).Add(tr(2, 2)).Add(tr(3, $i)); c := base{b.n}; d, c := c, *b.Add(1); $p, b.n, c, d); e := b.Add(1).Get() + b.Add(2).Get()*3; $p, e, b.n) }`,
		`{ var i any = $i; x, y := i.(int); z, ok := i.(string); m, has := map[string]int{"a": 1}[tr(1, "b")]; v, open := <-func() chan int { c := make(chan int); close(c); return c }(); $p, x == $i, y, z, ok, m, has, v, open) }`,
	), in...)
}
