package enginetest

// boxes draws values that are put into interfaces: what a variable had then
// stays, and a nil pointer is no nil interface.
func (g *grammar) boxes() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$p", g.line()}
	switch g.between(0, 11) {
	case 0:
		return fill(`{ v := $x; var i any = v; xs := []any{v, &v}; v = $y; $p, i, xs[0], v, i == xs[0], *xs[1].(*$t)) }`, in...)
	case 1:
		return fill(`{ var p *$t; var i, none any = p, nil; $p, i == nil, none == nil, i == any((*$t)(nil)), i.(*$t) == nil, i == any((*[1]$t)(nil))) }`, in...)
	case 2:
		return fill(`{ var m map[string]$t; var f func($t); var xs []$t; var c chan $t; of := []any{m, f, xs, c, nil}; for k, x := range of { $p, k, x == nil) }; $p, len(of[0].(map[string]$t)), of[2].([]$t) == nil) }`, in...)
	case 3:
		return fill(`{ xs := []any{$x, nil}; ys := append(xs, xs...); ys = append(ys, xs, $y); zs := append([]any(nil), any(xs)); $p, len(ys), ys[0], ys[3] == nil, ys[5], len(zs), zs[0].([]any)[0]) }`, in...)
	case 4:
		return fill(`{ f := func(a any, rest ...any) string { return fmt.Sprintf("%v %v %d", a, rest, len(rest)) }; h := func() ($t, string, error) { return $x, "b", nil }; k := func() any { return $y }; $p, f(h()), f(k()), fmt.Sprint(h()), f(f(h()), k())) }`, in...)
	case 5:
		return fill(`{ var a, b any = $x, $y; $p, a == b, a == any($x), a != nil, any(&a) == any(&a), any(&a) == any(&b), a == any(struct{ x $t }{$x})) }`, in...)
	case 6:
		return fill(`{ type w struct { a any; b [1]any }; u, v := w{$x, [1]any{$i}}, w{$y, [1]any{int64($i)}}; w1 := u; w1.a = $x; $p, u == v, u == w1, any(u) == any(w1), u.b == v.b, any(u) == any(v)) }`, in...)
	case 7:
		return fill(`{ a := [2]$t{$x, $y}; var i any = a; a[0] = $y; b := i.([2]$t); b[1] = $x; c, ok := i.([3]$t); $p, i, a, b, c, ok, i == any(b), i == any([2]$t{$x, $y})) }`, in...)
	case 8:
		return fill(`{ f := func(n int) error { var b *bad; if n > 2 { b = &bad{n} }; return b }; e := f($i); $p, e == nil, e, e == error((*bad)(nil))); var b *bad; $p, errors.As(e, &b), b == nil, b.Error()) }`, in...)
	case 9:
		return fill(`{ var e error = failure{$i, nil}; var i any = e; e = nil; s, is := i.(fmt.Stringer); f, ok := i.(error); $p, e == nil, s == nil, is, f, ok, i == any(f)); i, ok = f.(interface{ Unwrap() error }); $p, i, ok) }`, in...)
	case 10:
		return fill(`{ c := make(chan any, 3); v := $x; c <- v; v = $y; c <- v; c <- &v; m := map[any]any{v: $i, "k": v, 1: nil, int8(1): 2}; v = $x; p := <-c; q := <-c; $p, p, q, *(<-c).(*$t), len(m), m[q], m[1], m[int8(1)], m[int16(1)]) }`, in...)
	}
	return fill(`{ type n $t; type m = $t; v := n($x); var i any = v; _, a := i.($t); _, b := i.(n); _, c := any($x).(m); _, d := i.(interface{}); $p, a, b, c, d, i == any($x), i == any(n($x))); switch x := i.(type) { case $t: $p, "plain", x)
case n: $p, "named", $t(x) == $t(v)) } }`, in...)
}

// embeds draws methods and fields that are promoted.
func (g *grammar) embeds() string {
	in := []string{"$i", g.of(intType, 1), "$j", g.of(intType, 1), "$s", g.of(stringType, 1), "$p", g.line()}
	const caught = `defer func() { $p, recover()) }(); `
	switch g.between(0, 13) {
	case 0:
		return fill(`{ m := middle{base{$i}, $s}; var a getter = m; m.n = $j; m.Add(2).Add(3); $p, a.Get(), m.Get(), m.Name(), m.base.Name(), a.(namer).Name(), m) }`, in...)
	case 1:
		return fill(`{ o := outer{middle: &middle{base{$i}, $s}, k: 3}; f, h, n := o.Add, o.Get, o.Name; f(4); o.middle = &middle{base{$j}, "z"}; f(1); $p, h(), n(), o.Get(), o.Name(), o.n, o.s, o.Stringer == nil) }`, in...)
	case 2:
		return fill(`{ o := outer{&middle{base{$i}, $s}, text($s), $j}; var a adder = o; a.Add(5); b := o; b.Add(6); $p, a.Get(), o.n, a.(namer).Name(), o.String(), fmt.Sprint(o), o == b) }`, in...)
	case 3:
		return fill(`func() { `+caught+`var o outer; o.k = $i; $p, o.k); $p, o.Get()) }()`, in...)
	case 4:
		return fill(`func() { `+caught+`o := outer{middle: &middle{}}; f := o.Name; $p, f()); h := o.Stringer.String; $p, h()) }()`, in...)
	case 5:
		return fill(`{ m := middle{base{$i}, $s}; (*middle).Add(&m, 3); f := adder.Add; f(&m, $j); h := middle.Name; k := outer.Get; $p, middle.Get(m), (*middle).Name(&m), h(m), k(outer{middle: &m}), getter.Get(m)) }`, in...)
	case 6:
		return fill(`{ x := struct{ base; c int }{base{$i}, 2}; var a getter = x; x.Add($j); var b adder = &x; b.Add(1); $p, a.Get(), b.Get(), x.c, fmt.Sprintf("%v %+v", x, a)) }`, in...)
	case 7:
		return fill(`{ type local struct { middle; extra int }; l := local{middle{base{$i}, $s}, 4}; var n namer = l; l.Add(1); var a adder = &l; a.Add(10); $p, n.Name(), n.(getter).Get(), l.Name(), l.n, a.(namer).Name()) }`, in...)
	case 8:
		return fill(`{ var a getter = base{$i}; f := a.Get; a = middle{base{$j}, "q"}; h := a.Get; $p, f(), h(), a.Get()); fs := []func() int{f, h, a.Get, (&base{7}).Get}; t := 0; for _, f := range fs { t = t*3 + f() }; $p, t) }`, in...)
	case 9:
		return fill(`{ xs := []int{3, $i, 1, $j}; sort.Sort(down{sort.IntSlice(xs)}); $p, xs, down{sort.IntSlice(xs)}.Len(), sort.IsSorted(down{sort.IntSlice(xs)})) }`, in...)
	case 10:
		return fill(`{ e := struct{ error; at int }{failure{$i, bad1}, 3}; var err error = e; $p, err, e.at, errors.Is(err, bad1), errors.Is(e.error, bad1), e.Error()) }`, in...)
	case 11:
		return fill(`{ type guarded struct { sync.Mutex; n int }; x := &guarded{n: $i}; x.Lock(); x.n++; x.Unlock(); var l sync.Locker = x; l.Lock(); $p, x.n, x.TryLock()); l.Unlock(); $p, x.TryLock()) }`, in...)
	case 12:
		return fill(`{ type named struct { pair[int, string]; *base; Get string }; x := named{pair[int, string]{$i, $s}, &base{$j}, "get"}; $p, x.swap().a, x.a, x.Get, x.base.Get(), x.Add(2).n, x.b) }`, in...)
	}
	return fill(`{ type deep struct { *outer }; d := deep{&outer{middle: &middle{base{$i}, $s}}}; d.Add($j); p := &d.n; *p += 2; *d.middle = middle{base{*p}, d.s + "!"}; var n interface { namer; getter } = d; $p, n.Name(), n.Get(), d.outer.middle.base.n == *p) }`, in...)
}
