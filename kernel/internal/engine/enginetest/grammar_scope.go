package enginetest

// shadows draws names that mean something else in a block: predeclared ones,
// packages, types, variables.
func (g *grammar) shadows() string {
	in := []string{"$i", g.of(intType, 1), "$s", g.of(stringType, 1), "$b", g.of(boolType, 1), "$p", g.line()}
	return fill(one(g,
		`{ len, cap := func(s string) int { return 42 }, $i; $p, len("a"), cap) }`,
		`{ true, false := $b, 3; $p, true, false) }`,
		`{ nil := $i; string := $s; $p, nil, string+"x") }`,
		`{ var strings, sort = []string{$s, "b"}, $i; for i, strings := range strings { $p, i, strings, sort) } }`,
		`{ type int string; var x int = "text"; type error struct{ string }; e := error{"e"}; $p, x, len(x), e.string) }`,
		`{ x := $i; { x := x + 1; x++; $p, x) }; if x := x * 10; x > 5 { $p, x) } else if y := -x; y > 3 { $p, x, y) } else { x := y; $p, x) }; for x := x % 3; x < 3; x++ { x := x * 2; $p, x) }; switch x := any(x).(type) { case int: x++; $p, x) }; $p, x) }`,
		`{ f := func(f int) func() int { return func() int { f++; return f } }; h := f($i); h(); f = func(f int) func() int { return h }; $p, h(), f(1)(), f(2)()) }`,
		`{ append := func(xs []int, x int) []int { return xs }; copy, max, min := 1, 2, $i; $p, append([]int{1}, 2), copy, max, min) }`,
		`func() { recover := func() any { return "mine" }; panic := func(x any) { $p, "no panic", x) }; defer func() { $p, recover()) }(); panic($i) }()`,
		`{ error := errors.New($s); any := 5; iota := $i; $p, error, any, iota) }`,
		`{ $p, func(pair pair[int, string]) int { return pair.a }(pair[int, string]{$i, "a"})); type failure int; var f any = failure(3); _, is := f.(interface{ Error() string }); $p, is, f) }`,
		`{ make, new := func(n int) int { return -n }, func(s string) string { return s + s }; delete, clear, close := 1, 2, 3; $p, make($i), new($s), delete+clear*close) }`,
		`{ _, x := $i, 2; var _ = x; var _, y = func() (int, string) { return x, $s }(); _ = y; for _ = range 2 { x++ }; for _, _ = range []int{1} { x++ }; $p, x, y) }`,
		`func(a, _ int, _ string) { $p, a) }($i, 2, $s)`,
		`{ var a, b = $i, 1; a, c := b, a; b, a = c, b; $p, a, b, c); { a, d := 5, a; $p, a, d) } }`,
		`{ const c = 3; { const c = c * 2; const d, e = c + 1, "e"; $p, c, d, e) }; var c2 = c; type c4 [c]int; $p, c2, len(c4{})) }`,
		`{ type t struct{ t *t; n int }; x := t{&t{nil, 2}, $i}; { type t = string; var y t = $s; $p, y, x.t.n) }; var u = x; $p, u.n) }`,
	), in...)
}
