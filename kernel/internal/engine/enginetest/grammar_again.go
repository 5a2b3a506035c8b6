package enginetest

import "strings"

// Names that are declared again, as stories of several items. What compiled Go
// cannot declare twice has two names there: one that ends in an A, and a new one
// that ends in an N, which among many cells is the first again.
//
// The earlier one lives on in interface values and functions whose own types do
// not mention it: a cell may not use what does.

// again draws a story; the first item is to come now, the others later.
func (g *grammar) again() []item {
	n := g.fresh("")
	t, u := g.plainType(), g.plainType()
	in := []string{"#", n, "$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$u", u.text, "$z", g.of(u, 1), "$i", g.of(intType, 1), "$s", g.of(stringType, 1)}
	// both declares and runs.
	both := func(decl, run string) item {
		in := append(in, "$p", g.line())
		decl, run = fill(decl, in...), fill(run, in...)
		cell := strings.TrimSpace(decl + "\n" + run)
		return item{cell: strings.ReplaceAll(cell, n+"N", n+"A"), one: cell, decl: decl, run: run}
	}
	text := func(run string) item { return both("", run) }
	variable := func(v, typ, e string) item {
		it := both("var "+v+" "+typ, v+" = "+e)
		it.one = fill(one(g, "var "+v+" "+typ+" = "+e, v+" := "+e), in...)
		it.cell = strings.ReplaceAll(it.one, n+"N", n+"A")
		return it
	}
	var story []item
	switch g.between(0, 6) {
	case 0: // a type, with a value of the earlier alive
		story = []item{
			both("type T#A struct { a $t; n int }\nfunc (x T#A) Num() int { return x.n }\nfunc (x *T#A) Up() *T#A { x.n++; return x }", ""),
			variable("old#", "T#A", "T#A{$x, $i}"),
			variable("get#", "func() int", "old#.Num"),
			variable("box#", "any", "any(old#)"),
			variable("up#", "func() int", "func() int { return old#.Up().Num() }"),
			variable("mk#", "func(int) any", "func(n int) any { return T#A{n: n, a: $x} }"),
			both("type T#N struct { b $u }\nfunc (x T#N) Num() int { return -1 }", ""),
			variable("new#", "T#N", "T#N{$z}"),
			text(`$p, up#(), get#(), up#(), new#.Num(), mk#($i) == mk#($i), mk#(1) == box#)`),
			text(`{ _, is := box#.(T#N); _, so := any(new#).(T#N); n, ok := box#.(interface{ Num() int }); $p, is, so, ok, n.Num(), box# == any(new#), new#.b) }`),
		}
	case 1: // a method
		story = []item{
			both("type T#A struct { n int }\nfunc (x T#A) Say() string { return \"first\" }", ""),
			variable("say#", "func() string", "T#A{1}.Say"),
			variable("e#", "interface{ Say() string }", "interface{ Say() string }(T#A{2})"),
			both("type T#N struct { n int }\nfunc (x T#N) Say() string { return $s + \"second\" }", ""),
			text(`{ var f interface{ Say() string } = T#N{2}; $p, say#(), e#.Say(), f.Say(), e# == f, T#N{3}.Say()) }`),
		}
	case 2: // a variable, of the same type: who knew it sees the new value
		later := text("v# = $y")
		later.cell = variable("v#", t.text, "$y").cell
		story = []item{
			variable("v#", t.text, "$x"),
			both("func f#() $t { return v# }", ""),
			variable("p#", "*"+t.text, "&v#"),
			later,
			text(`$p, v#, f#(), *p#, p# == &v#)`),
		}
	case 3: // a variable, of another type: who knew the earlier keeps it
		story = []item{
			variable("v#A", "[]"+t.text, "[]$t{$x}"),
			variable("f#", "func() int", "func() int { v#A = append(v#A, $y); return len(v#A) }"),
			variable("h#", "func() int", "func() int { return 10 * len(v#A) }"),
			variable("v#N", "map[string]"+u.text, "map[string]$u{\"k\": $z}"),
			text(`$p, f#(), h#(), f#(), h#(), len(v#N), v#N["k"])`),
		}
	case 4: // a function, with another signature
		story = []item{
			both("func f#A(x $t) string { return fmt.Sprint(\"first \", x) }", ""),
			variable("k#", "func($t) string", "f#A"),
			both("func f#N(a int, rest ...string) int { return a + len(rest) }", ""),
			text(`$p, k#($x), f#N($i, "a", $s), f#N(2))`),
		}
	case 5: // a generic type and what has its instances
		story = []item{
			both("type G#A[T any] struct { xs []T }\nfunc (g *G#A[T]) Add(x T) int { g.xs = append(g.xs, x); return len(g.xs) }", ""),
			variable("g#", "G#A["+t.text+"]", "G#A[$t]{}"),
			variable("add#", "func("+t.text+") int", "g#.Add"),
			variable("all#", "func() []"+t.text, "func() []$t { return g#.xs }"),
			both("type G#N[T any] map[string]T\nfunc (g G#N[T]) Add(k string, x T) int { g[k] = x; return len(g) }", ""),
			text(`{ m := G#N[$u]{}; m.Add("a", $z); add#($x); $p, add#($y), all#(), m.Add("b", $z), m["a"]) }`),
			both("type G#M[T any] [2]T", `{ var a G#M[$t]; a[1] = $x; $p, a, add#($x), len(all#())) }`),
		}
		story[len(story)-1].cell = strings.ReplaceAll(story[len(story)-1].cell, n+"M", n+"A")
	case 6: // an interface, with values of the earlier
		story = []item{
			both("type I#A interface { Num() int }\ntype W#A int\nfunc (w W#A) Num() int { return int(w) + 1 }", ""),
			variable("box#", "[]any", "func() []any { var i I#A = W#A($i); return []any{i, W#A($i), (*W#A)(nil), []I#A{i}} }()"),
			variable("is#", "func(any) bool", "func(x any) bool { _, ok := x.(I#A); return ok }"),
			both("type I#N interface { Num() int; More() string }\ntype V#N struct{ W#A }\nfunc (v V#N) More() string { return \"more\" }", ""),
			text(`{ _, ok := box#[0].(I#N); j := box#[0].(interface{ Num() int }); v := V#N{W#A($i)}; var i I#N = v; $p, ok, j.Num(), box#[0] == box#[1], is#(j), is#(v), is#($s), is#(box#[2]), i.More(), i.Num()) }`),
		}
	}
	g.pending = append(g.pending, story[1:]...)
	return story[:1]
}
