package enginetest

import "fmt"

// arrays draws arrays, which are values, and slices, which share.
func (g *grammar) arrays() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$m", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	const caught = `defer func() { r := recover(); _, is := r.(runtime.Error); $p, is, r) }(); `
	return fill(one(g,
		`{ a := [3]$t{$x, $y}; b := a; b[2] = $y; var c [3]$t; c, a[0] = a, $y; p := &a; d := *p; p[1] = $x; e := [...][3]$t{a, b, c}; e[1][0] = $y; f := e; f[2][2] = $x; $p, a == b, c, d, e == f, e, f[1] == e[1]) }`,
		`{ type s struct { a [2]$t; n int }; u := s{[2]$t{$x, $y}, $i}; v := u; v.a[0] = $y; m := map[string]s{"u": u}; w := m["u"]; w.a[1] = $x; c := make(chan s, 1); c <- v; v.a[1] = $x; r := <-c; h := func(x s) s { x.a[0] = $x; return x }; $p, u, v, w, r, h(r), r == v, m["u"] == u, m["none"].n) }`,
		`{ a := [2][2]$t{{$x, $y}, {$y}}; for i, row := range a { a[1][0] = $x; row[i] = $y; $p, i, row, row == a[i]) }; for i := range a { for j := range a[i] { a[i][j] = $y } }; $p, a) }`,
		`{ a := [4]int{1, 2, 3, $i}; s := a[1:3]; s = append(s, 9); t := append(s[:1:1], 7); s[0] = 5; $p, a, s, t, len(s), cap(s), cap(t), cap(a[:2:3])) }`,
		`{ s := []int{1, 2, 3, 4, 5, $i}; n := copy(s[1:], s[:4]); k := copy(s, s[2:]); $p, s, n, k, copy(s, []int(nil))); b := make([]byte, 4); $p, copy(b, "héllo"), b, copy(b[1:], string(b)), b) }`,
		`{ s := []$t{$x, $y, $x}; a := [2]$t(s); p := (*[3]$t)(s); p[0] = $y; s[1] = $x; q := (*[0]$t)(s[:0]); $p, a, *p, s, q != nil, (*[0]$t)([]$t(nil)) == nil, [0]$t(s) == [0]$t{}) }`,
		`func() { `+caught+`s := make([]int, $n, 4); a := [2]int(s); $p, a); b := (*[3]int)(s[:4:4]); $p, *b, (*[1]int)(s[:$n])) }()`,
		`func() { `+caught+`s := []int{1, 2, 3}; lo, hi, c := $n, $m, 3; $p, s[lo:hi:c], s[lo:], s[:hi:hi]); a := [3]int{}; p := &a; $p, p[lo:hi], len(p[hi:c])); t := "abc"; $p, t[lo:hi]) }()`,
		`{ a := [...]string{2: "c", 0: "a", 5: "f", "g"}; b := [...]int{'b': 1, 'a': 2}; s := []int{3: $i, 1}; $p, len(a), a, len(b), b['a'], s, len(s)) }`,
		`{ var a [3]struct { n int; s []int }; a[$n%3].n++; a[1].s = append(a[1].s, $i); b := a; b[1].s[0] = 8; b[1].n -= 2; p := &a[1]; p.n *= 3; (*p).s = nil; $p, a, b) }`,
		`{ f := func() [2]$t { return [2]$t{$x, $y} }; x := f()[1]; for i, v := range f() { $p, i, v == x) }; $p, len(f()), f() == [2]$t{$x, $y}, func() []$t { r := f(); return r[:] }()) }`,
		`{ m := map[[2]int]string{{1, 2}: "a"}; k := [2]int{1, $n}; m[k] += "b"; k[0]++; m[k] += "c"; $p, m, len(m)); d := map[string][2]$t{}; v := d["x"]; v[1] = $x; d["x"] = v; $p, d, d["x"][1], d["no"] == [2]$t{}) }`,
		`{ s := [][]int{{1}, {2, 3}}; t := append([][]int(nil), s...); t[0][0] = $i; t[1] = append(t[1], 4); s[1] = s[1][:1]; u := s; u[0] = nil; $p, s, t, u, len(s[0]), s[0] == nil) }`,
		`{ var s []$t; for k := range 5 { s = append(s, $x); if k == $n { s = append(s[:0:0], s...) } }; $p, len(s), s == nil, len(append(s, s...)), append([]$t(nil)) == nil, append([]$t{}, s[:$n]...)); s = slices.Grow(s[:1], 9); $p, s, cap(s) >= 10) }`,
		`{ type row [2]$t; type grid []row; x := grid{{$x}, {$y, $y}}; y := append(grid(nil), x...); y[0][1] = $y; z := [1]row(x[1:]); r := row([2]$t{$x, $x}); $p, x, y, z, r == x[0], [2]$t(r) == [2]$t{$x, $x}) }`,
		`{ a := [5]int{}; i := $n; i, a[i] = i+1, 5; a[i], i = i, 0; a[i]++; a[i], a[i+1] = a[i+1], a[i]; p := &a[2]; a = [5]int{9, 8, 7}; $p, a, i, *p) }`,
		`{ big := [300]int{7: $i, 299: 1}; c := big; c[299]++; var e any = c; big[0] = 5; $p, e == any(big), e.([300]int)[299], big[7] == c[7], len(big)); e2 := [0]int{}; $p, e2, e2 == [0]int{}, len(e2)) }`,
	), in...)
}

// keyed draws maps with keys of all kinds.
func (g *grammar) keyed() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$s", g.of(stringType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	const caught = `defer func() { $p, recover()) }(); `
	return fill(one(g,
		`{ nan := math.NaN(); m := map[float64]int{nan: 1, 1: $i}; m[nan] = 2; m[nan]++; m[0] = 3; m[math.Copysign(0, -1)] += 4; v, ok := m[nan]; delete(m, nan); $p, len(m), v, ok, m[0]); clear(m); $p, len(m)) }`,
		`{ m := map[any]string{1: "int", int64(1): "int64", 1.0: "float", "1": "string", [1]int{1}: "array", nil: "nil", struct{ a int }{1}: "struct", true: "bool"}; m[uint8(1)] = $s; x, ok := m[[1]any{1}]; $p, len(m), m[1], m[1.0], m[nil], m[[1]int{1}], m[struct{ a int }{1}], x, ok, m['1']) }`,
		`{ type k struct { a $t; b string; c any }; m := map[k]int{{$x, "a", nil}: 1}; m[k{$y, "a", $i}] = 2; m[k{$x, "a", nil}] += 3; key := k{$y, "a", $i}; p := &key; $p, len(m), m[*p]); p.c = "other"; $p, m[key]) }`,
		`func() { `+caught+`m := map[any]int{}; m[$x] = 1; var bad1 any = []int{$i}; if $n == 1 { bad1 = func() {} }; if $n == 2 { bad1 = struct{ a any }{map[int]int{}} }; $p, len(m)); _, ok := m[bad1]; $p, ok) }()`,
		`{ m := map[string]struct { n int; xs []int }{}; v := m["a"]; v.n++; v.xs = append(v.xs, $i); m["a"] = v; v.xs[0] = 7; w, ok := m["b"]; $p, m, w, ok) }`,
		`{ m := map[int]int{}; for i := range 20 { m[i] = i * i }; n := 0; for k := range m { if k%2 == 0 { delete(m, k) }; n++ }; for k, v := range m { m[k] = -v }; $p, len(m), n >= 10, m[3], m[4]) }`,
		`{ var m map[string]$t; v, ok := m["a"]; for range m { $p, "never") }; delete(m, "a"); clear(m); $p, len(m), m == nil, v, ok, m["x"] == v) }`,
		`func() { `+caught+`var m map[$t]int; $p, m[$x]); m[$x]++ }()`,
		`{ m := map[string]map[string]int{}; for _, w := range []string{"a", $s, "a"} { if m[w] == nil { m[w] = map[string]int{} }; m[w][$s]++; m["z"] = m[w] }; $p, m, len(m), m["none"]["x"]) }`,
		`{ m := map[*int]string{}; a, b := 1, 1; m[&a] = "a"; m[&b] = "b"; p := &a; delete(m, p); $p, len(m), m[&b], m[p] == ""); c := map[chan int]int{make(chan int): 1}; c[nil]++; $p, len(c)) }`,
		`{ f := map[string]func(int) int{"a": func(x int) int { return x + $i }}; f["b"] = func(x int) int { return f["a"](x) * 2 }; h, ok := f["c"]; $p, f["a"](1), f["b"](2), h == nil, ok) }`,
		`{ m := map[error]int{bad1: 1, failure{$i, nil}: 2}; m[failure{$i, nil}]++; m[nil] = 5; var e error = failure{$i, nil}; _, ok := m[&bad{1}]; $p, len(m), m[e], m[bad1], m[nil], ok) }`,
		`{ m := map[complex128]int{1 + 2i: $i}; m[complex(1, 2)]++; k := map[[2]bool]rune{{true}: 'a'}; k[[2]bool{true, false}]++; $p, m[1+2i], len(m), k[[2]bool{true}], k[[2]bool{}]) }`,
		`{ counts := map[rune]int{}; for _, r := range $s + "abca" { counts[r]++ }; ks := slices.Collect(maps.Keys(counts)); slices.Sort(ks); for _, k := range ks { $p, string(k), counts[k]) } }`,
		`{ m := map[int8][]string{}; m[1] = append(m[1], $s); m[-1] = append(m[1], "x"); m[1][0] = "y"; a, b := m[1], m[-1]; m[2], m[3] = b, a; $p, len(a), len(b), m[2][1:], m) }`,
	), in...)
}
