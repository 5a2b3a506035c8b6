package enginetest

import "fmt"

// captures draws loops of all forms whose turns leave functions behind.
func (g *grammar) captures() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$p", g.line(), "$n", fmt.Sprint(g.between(0, 3))}
	const keep = `fs = append(fs, func() string { v += 10; return fmt.Sprint(v) })`
	body := one(g,
		`for v := 0; v < 3; v++ { `+keep+` }`,
		`for v := 0; v < 6; v++ { `+keep+`; v++; if v == $n { continue }; `+keep+` }`,
		`for v := range 3 { `+keep+`; v *= 2 }`,
		`for v := range []$t{$x, $y} { `+keep+` }`,
		`for _, v := range []int{4, $i} { `+keep+` }`,
		`for v, w := range [2]$t{$x, $y} { `+keep+`; fs = append(fs, func() string { w, v := w, 1; return fmt.Sprint(w, v) }) }`,
		`for i, v := range &[3]int{1, 2, 3} { if i == $n { break }; `+keep+` }`,
		`for i, v := range $s + "é" { _ = i; `+keep+` }`,
		`for k, v := range map[string]int{"a": $i} { `+keep+`; _ = k }`,
		`{ c := make(chan int, 3); c <- 1; c <- $i; close(c); for v := range c { `+keep+` } }`,
		`for v := range each([]$t{$x, $x, $y}) { if v == $n { continue }; `+keep+` }`,
		`for v := range slices.Values([]int{5, $i}) { `+keep+`; defer func() { v++; $p, "deferred", v) }() }`,
		`{ var v int; for v = range 3 { `+keep+` } }`,
		`{ v := 0; again: w := v; `+keep+`; fs = append(fs, func() string { w++; return fmt.Sprint(w, v) }); if v++; v < 3 { goto again } }`,
		`for v, more := 0, true; more; v, more = v+1, v < $n { p := &v; `+keep+`; *p += 1 }`,
		`for i := range 2 { switch v := i * 3; { case v > 0: `+keep+`
default: v := v - 1; `+keep+` } }`,
		`for v := int8(0); v >= 0 && v < 100; v += 40 { `+keep+` }`,
		`for v := range uint8($n) { `+keep+` }`,
		`for v := 0; ; { if v > 2 { break }; `+keep+`; v++ }`,
		`func() { for v := range 3 { defer func() { $p, "in order", v) }(); `+keep+` } }()`,
		`for i := range 3 { v := i; go func() {}(); `+keep+` }`,
	)
	return fill(`func() { var fs []func() string; `+body+`; for _, f := range fs { $p, f(), f()) } }()`, append(in, "$s", `"h"`)...)
}

// leaves draws break, continue and goto out of loops, switches and selects,
// and out of the bodies of loops over functions.
func (g *grammar) leaves() string {
	in := []string{"$i", g.of(intType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$m", fmt.Sprint(g.between(0, 3)), "$p", g.line(), "$L", g.fresh("L"), "$M", g.fresh("M"),
		"$go", one(g, "break", "continue"), "$to", one(g, "break $L", "continue $L", "break $M", "continue $M", "break", "continue", "goto $E"), "$E", g.fresh("E")}
	s := one(g,
		`func() { c := make(chan int, 9); for k := range 9 { c <- k }
$L: for i := range 4 { $M: for { select { case v := <-c: if v == $n { $go }; if v%4 == $m { $to }; if v > 6 { break $L }; if v > 8 { continue $M }; $p, i, v)
default: $p, "empty"); break $L } } }
$p, "end"); goto $E
$E: }()`,
		`func() { $L: for i := range 3 { $M: for j := 0; j < 3; j++ { switch { case i == $n && j == $m: $to
case j == 1: $go
case i == 1: fallthrough
default: $p, i, j) }
if i > 8 { continue $L }; if j > 8 { break $M }; $p, "after", j) } }
goto $E
$E: $p, "end") }()`,
		`{ r := func() (r int) { defer func() { r *= 2 }(); $L: for i := range each([]int{1, 2, 3, 4}) { defer func() { $p, "deferred", i) }(); $M: for _, x := range each([]string{"a", "b"}) { if i == $n { $to }; if i > 8 { continue $L }; if i > 9 { break $M }; $p, i, x); if i == $m+1 { return i * 10 } } }
goto $E
$E: return -1 }(); $p, r) }`,
		`{ n := 0
$L: n++
switch { case n < $n: goto $L
case n == $n: n = 10
default: { if n < 12 { $p, n); goto $L } } }
$p, n) }`,
		`$L: for { $p, "in"); if ($i) > $n { break $L }; $p, "still"); for { switch { case ($i) > 0: break $L }; break }; $p, "out"); break }`,
		`$L: switch x := ($i) % 3; x { case 0: for { break $L }
case 1: if true { break $L }; $p, "never")
default: func() { for { break } }(); $p, "default") }`,
		`{ seq := func(yield func(int) bool) { defer $p, "seq ends"); for i := range 4 { if !yield(i) { $p, "stopped", i); return } } }
$L: for i := range seq { for j := range seq { if j == $n { continue $L }; if i == $m { break $L }; $p, i, j) } } }`,
		`func() { defer func() { $p, recover()) }(); bad := func(yield func(int) bool) { yield(1); yield(2) }; for x := range bad { $p, x); if x == 1+$n%2 { break } } }()`,
		`func() { defer func() { $p, recover()) }(); var kept func(int) bool; for x := range (func(yield func(int) bool) { kept = yield; yield($i) }) { $p, x) }; kept(2) }()`,
		`func() { defer func() { $p, "out", recover()) }(); seq := func(yield func(int) bool) { defer func() { r := recover(); $p, "in", r); if $n > 1 && r != nil { panic(fmt.Sprint("again ", r)) } }(); for i := range 3 { yield(i) } }; for i := range seq { if i == $m { panic("body") }; $p, i) } }()`,
		`{ t := (*tree[int, string])(nil); for k, s := range []string{"d", "a", "c", "b"} { t = t.put(int(s[0])-97+$n*k, s) }; for k, v := range t.all() { if k == $m { continue }; $p, k, v); if v == "c" { break } } }`,
		`{ next, stop := iter.Pull(slices.Values([]int{$i, 2, 3})); a, ok := next(); $p, a, ok); for range $n { b, ok := next(); $p, b, ok) }; stop(); c, ok := next(); $p, c, ok) }`,
		`{ next, stop := iter.Pull2(each([]string{"a", "b"})); defer stop(); for { k, v, ok := next(); if !ok { break }; $p, k, v) } }`,
		`{ gen := func(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := 0; i < n && yield(i*i); i++ { } } }; $p, slices.Collect(gen($n+1)), slices.Sorted(maps.Keys(maps.Collect(each([]string{"x", "y"}))))) }`,
		`{ total := 0; for range each(make([]int, $n)) { total++ }; for range func(yield func() bool) { for yield() { } } { total += 10; if total > 25 { break } }; $p, total) }`,
		`{ fib := func(yield func(int) bool) { a, b := 0, 1; for yield(a) { a, b = b, a+b } }; f := func() (int, bool) { for x := range fib { if x > $n*7 { return x, true } }; return 0, false }; x, ok := f(); $p, x, ok) }`,
	)
	if g.inFunc || g.depth > 1 {
		return fill(fill(s, in...), in...)
	}
	return fill(fill("{ "+s+" }", in...), in...)
}

// unwinds draws deferred calls in loops, panics in panics, and what recovers
// them.
func (g *grammar) unwinds() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$i", g.of(intType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line(),
		"$v", one(g, "$i", `"text"`, "failure{$n, nil}", "&bad{$n}", "errors.New(\"e\")", "fmt.Errorf(\"w %w\", failure{2, nil})", "3.5", "any(nil)", "[2]int{1, $n}", "text(\"s\")")}
	s := one(g,
		`func() { for i := range 3 { defer func() { if r := recover(); r != nil { $p, i, r); if i > $n { panic(fmt.Sprint("again ", i, " ", r)) } } }() }; defer func() { $p, "first") }(); panic($v) }()`,
		`func() { defer func() { $p, recover(), recover()) }(); defer func() { defer func() { $p, "inner", recover()) }(); panic("second") }(); panic($v) }()`,
		`func() { defer func() { $p, recover()) }(); defer func() { panic(fmt.Sprint("third ", $n)) }(); defer func() { panic("second") }(); panic($v) }()`,
		`func() { defer func() { $p, "outer", recover()) }(); help := func() any { return recover() }; defer func() { $p, "helped", help()) }(); panic($v) }()`,
		`func() { defer func() { $p, "not", recover()) }(); func() { defer recover(); defer func() { _ = $n }(); panic($v) }() }()`,
		`{ f := func() (r $t, err error) { defer func() { if x := recover(); x != nil { err = fmt.Errorf("caught %v", x) } }(); r = $x; if $n > 0 { panic($v) }; return }; r, err := f(); $p, r, err) }`,
		`{ var log []string; note := func(s string) func() { log = append(log, "in "+s); return func() { log = append(log, "out "+s) } }; func() { defer note("a")(); for k := range $n { defer note(fmt.Sprint(k))() }; if r := func() (r any) { defer func() { r = recover() }(); defer note("p")(); panic($v) }(); r != nil { log = append(log, fmt.Sprint(r)) } }(); $p, log) }`,
		`{ done := make(chan []string, 1); go func() { var log []string; defer func() { done <- log }(); defer func() { log = append(log, fmt.Sprint("recovered ", recover())) }(); func() { defer func() { log = append(log, "exits") }(); runtime.Goexit() }(); log = append(log, "never") }(); $p, <-done) }`,
		`func() { defer func() { r := recover(); _, is := r.(*runtime.PanicNilError); $p, is, r) }(); var none any; panic(none) }()`,
		`{ m := map[string]int{"a": 1, "b": 2}; c := make(chan int, 1); func() { defer close(c); defer delete(m, "a"); defer clear(map[int]int{1: 1}); m["a"] = $i; $p, len(m)) }(); _, ok := <-c; $p, m, ok) }`,
		`{ b := base{$i}; func() { defer b.Add(1).Add(2); defer $p, "args", b.n); p := &b; defer p.Add(b.n); b.n = 5; f := b.Get; defer func() { $p, f(), b.n) }() }(); $p, b.n) }`,
		`{ f := func(n int) (s string) { defer func() { if r := recover(); r != nil { s += fmt.Sprint(" r", r) } }(); for k := range n { defer func(j int) { s += fmt.Sprint(" ", j, k) }(k * 2) }; s = "s"; var xs []int; return s + fmt.Sprint(xs[n]) }; $p, f($n)) }`,
		`{ var f func(int) string; f = func(n int) (s string) { defer func() { s += fmt.Sprint(n) }(); if n == 0 { return "z" }; defer func() { if n == 2 { recover() } }(); if n == 2 { panic("two") }; return f(n-1) }; $p, f($n)) }`,
		`{ x := func() (x int) { defer func() { x++ }(); defer func(y int) { x += y }(x + $n); x = 3; return x * 2 }(); $p, x) }`,
		`func() { defer func() { e, ok := recover().(error); $p, ok, e) }(); var m map[string]int; defer func() { m["x"] = 1 }(); panic($v) }()`,
		`func() { defer func() { $p, recover()) }(); var f func(); defer f(); $p, "before") }()`,
		`{ once := sync.OnceValue(func() int { $p, "once"); return $i }); $p, once(), once()); var o sync.Once; for range 2 { func() { defer func() { $p, recover()) }(); o.Do(func() { panic($v) }) }() } }`,
		`{ r := func() (r int) { defer func() { recover(); r = $n }(); for i := range 3 { func() { defer func() { if x := recover(); x != nil && i > 1 { panic(x) } }(); panic($v) }() }; return 9 }(); $p, r) }`,
	)
	return fill(fill(s, in...), in...)
}
