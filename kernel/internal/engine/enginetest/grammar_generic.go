package enginetest

import "fmt"

// instances draws uses of generic types and functions of the library, with
// type arguments of the program's.
func (g *grammar) instances() string {
	t, u, n := g.plainType(), g.plainType(), one(g, basicTypes[0], basicTypes[3], basicTypes[6], basicTypes[4], basicTypes[13])
	k := g.keyType()
	in := []string{"$t", t.text, "$u", u.text, "$k", k.text, "$n", n.text, "$p", g.line(),
		"$x", g.of(t, 1), "$y", g.of(t, 1), "$z", g.of(u, 1), "$w", g.of(u, 1), "$a", g.of(k, 1), "$b", g.of(k, 1), "$c", g.of(n, 1), "$d", g.of(n, 1), "$i", g.of(intType, 1), "$m", fmt.Sprint(g.between(0, 3))}
	return fill(one(g,
		`{ l := (&list[$t]{}).push($x).push($y); var all []$t; for v := range l.all() { all = append(all, v) }; $p, l.n, all, first(all), slices.Collect(l.all())) }`,
		`{ s := set[$k]{}; s.add($a); s.add($b); s.add($a); $p, len(s), s.has($a), s.has(pick(false, $a, $b)), size(s), size(map[$t]$u{$x: $z})) }`,
		`{ var t *tree[$k, $t]; t = t.put($a, $x).put($b, $y).put($a, $y); for k, v := range t.all() { $p, k, v) } }`,
		`{ $p, sum($c, $d), sum[$n](), sum([]$n{$d, $d}...), convert[$n, float64]($c), convert[int64, $n](int64($m))) }`,
		`{ var z $t = zero[$t](); $p, zero[$u](), z, zero[*$t]() == nil, zero[[2]$t](), same($x, $y), same[any]($x, $z), same(z, zero[$t]())) }`,
		`{ $p, kindOf($x), kindOf([]$t{$x}), kindOf(map[string]$u{}), kindOf(&bad{1}), kindOf[any](nil), kindOf[error](failure{}), kindOf(pair[$t, $u]{$x, $z}), kindOf(func($t) {})) }`,
		`{ var a twins[$t] = pair[$t, $t]{$x, $y}; b := twins[$t]{$y, $x}; var i any = a; _, ok := i.(pair[$t, $t]); $p, a, b.swap(), ok, a == b.swap()) }`,
		`{ c, d := counter[$t](), counter[$u](); c($x); c($y); $p, c($x), d($z)); e := counter[$t](); $p, e($x)) }`,
		`{ $p, total("a"+"b"), total([]byte{1, 2, byte($m)}), total(text("cd")), through(func(x $t) $u { return $z }, $x), through(counter[$t](), $x)) }`,
		`{ c := make(chan $t, 2); send(c, $x); send[chan $t](c, $y); $p, <-c, <-c, least(level($i), level(3)), made[level](4), *made[base](5)) }`,
		`{ e := extended[$t]{extra: $y}; e.push($x).push($y); var p interface { push($t) *list[$t] } = &e; p.push($x); $p, e.n, e.extra, e.list.n, e.head.v) }`,
		`{ f := apply[$t, $u]; r := f([]$t{$x, $y}, func($t) $u { return $w }); h := pair[$t, $u].swap; v := h(pair[$t, $u]{$x, $z}); $p, r, v) }`,
		`{ type local struct { x $t; n int }; s := stack[local]{}; s.push(local{$x, 1}); s.push(local{n: $i}); v, ok := s.pop(); $p, v, ok, zero[local](), same(local{$x, 2}, v), kindOf(v)) }`,
		`{ type rec[T any] struct { v T; next *rec[T] }; var r *rec[$t]; for _, x := range []$t{$x, $y} { r = &rec[$t]{x, r} }; $p, r.v, r.next.v, r.next.next == nil) }`,
		`{ $p, slices.Max([]$n{$c, $d}), slices.Index([]$t{$x, $y}, $y), slices.Contains([]$u{$z}, $w), len(slices.Repeat([]$t{$x}, $m)), slices.Compact([]$u{$z, $z, $w})) }`,
		`{ xs := []$n{$c, $d, 3, $c}; slices.SortFunc(xs, func(a, b $n) int { return -cmp.Compare(a, b) }); at, found := slices.BinarySearchFunc(xs, 3, func(a, b $n) int { return -cmp.Compare(a, b) }); $p, xs, at, found, slices.IsSorted(xs), cmp.Or(0, $c)) }`,
		`{ xs := []pair[int, $t]{{$i, $x}, {1, $y}, {$i, $y}}; slices.SortStableFunc(xs, func(a, b pair[int, $t]) int { return a.a - b.a }); ys := slices.Insert(slices.Clone(xs), 1, pair[int, $t]{9, $x}); ys = slices.Delete(ys, 0, 1); $p, xs, ys, slices.ContainsFunc(ys, func(p pair[int, $t]) bool { return p.b == $y })) }`,
		`{ m := map[$k]$t{$a: $x}; maps.Copy(m, map[$k]$t{$b: $y}); c := maps.Clone(m); clear(m); maps.DeleteFunc(c, func(k $k, v $t) bool { return k == $a && v == $x }); $p, len(m), len(c), maps.Equal(c, m), slices.Sorted(maps.Keys(c))) }`,
		`{ var p atomic.Pointer[$t]; v := $x; $p, p.Load() == nil, p.CompareAndSwap(nil, &v), *p.Load()); var n atomic.Int64; n.Add(int64($i)); $p, n.Load() == int64($i), n.CompareAndSwap(1, 2)) }`,
	), in...)
}
