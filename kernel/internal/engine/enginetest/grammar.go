package enginetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	pathpkg "path"
	"regexp"
	"slices"
	"strings"
)

// Feature is something that the grammar can say and an engine may not be able
// to run, as its documentation admits.
type Feature uint

const (
	// NamedIdentity is telling a named type from its underlying type, and from
	// others of the same shape, by an interface value's dynamic type.
	NamedIdentity Feature = 1 << iota
	// TypeNames is printing the names of types: %T, %+v, %#v and what panics
	// say of them.
	TypeNames
	// Exact is what needs the run time's own types, method tables and panics,
	// or each part of a statement in its turn: embeds, leaves, unwinds, shadows,
	// again, and all of grammar_array.go, _concurrent, _convert, _format,
	// _generic, _library, _number and _panic.
	Exact
)

// A generated program is a list of items, each of which is a cell. All forms
// of it print the same:
//
//	many cells   x := 1 | func f() int { return x } | fmt.Println(f())
//	one cell     the items one below the other
//	a program    var x int; func f() int { return x }
//	             func main() { x = 1; fmt.Println(f()) }
//
// A function that a later item defines again is, where it can be declared only
// once, a function that asks a variable which of its bodies to run; see
// grammar_again.go for what else is declared again.
//
// Names end in the letter ø, which is where a number goes that makes them
// different from other programs' in a package.
type generated struct{ items []item }

type item struct {
	cell  string // among many
	one   string // in one cell; as cell if empty
	decl  string // of the package, in a program
	run   string // in a program's main
	joins bool   // the cell of the item before it
}

// cells is the program cut into cells, after the one that declares what all
// programs use.
func (p generated) cells() []string {
	r := []string{importing(libraryOf(p.text("main")), p.text("main"))}
	for i, it := range p.items {
		if it.joins && i > 0 {
			r[len(r)-1] += "\n" + plain(it.cell)
			continue
		}
		r = append(r, plain(it.cell))
	}
	return r
}

func (p generated) cell() string {
	r := []string{importing(libraryOf(p.text("main")), p.text("main"))}
	for _, it := range p.items {
		r = append(r, plain(cmp.Or(it.one, it.cell)))
	}
	return strings.Join(r, "\n")
}

// file is the program as a Go file of package p, without the library; run_n
// runs it.
func (p generated) file(n int) string {
	text := strings.ReplaceAll(p.text(fmt.Sprintf("Run_%d", n)), "ø", fmt.Sprintf("_%d", n))
	return "package p\n" + importing(text, "")
}

// program is a whole program.
func (p generated) program() string {
	text := plain(p.text("main"))
	text = libraryOf(text) + "\n" + text
	return "package main\n" + importing(text, "")
}

func (p generated) text(name string) string {
	var decl, run strings.Builder
	for _, it := range p.items {
		if it.decl != "" {
			decl.WriteString(it.decl + "\n")
		}
		if it.run != "" {
			run.WriteString(it.run + "\n")
		}
	}
	return decl.String() + "func " + name + "() {\n" + run.String() + "}\n"
}

func plain(s string) string { return strings.ReplaceAll(s, "ø", "") }

// imports are the packages that programs may use.
var imports = []string{"bufio", "bytes", "cmp", "container/heap", "context", "crypto/sha256", "encoding/base64", "encoding/binary", "encoding/csv", "encoding/hex",
	"encoding/json", "errors", "fmt", "hash/crc32", "hash/fnv", "io", "iter", "maps", "math", "math/big", "math/bits", "math/cmplx", "math/rand/v2", "os", "reflect", "regexp", "runtime",
	"slices", "sort", "strconv", "strings", "sync", "sync/atomic", "text/tabwriter", "text/template", "time", "unicode", "unicode/utf8", "unique", "weak"}

// selected finds what may be a package's name.
var selected = regexp.MustCompile(`(?:^|[^\w.])(\w+)\.[A-Z]`)

// importing is text after imports of what it and more use.
func importing(text, more string) string {
	head := ""
	used := map[string]bool{}
	for _, m := range selected.FindAllStringSubmatch(text+"\n"+more, -1) {
		used[m[1]] = true
	}
	for _, path := range imports {
		if used[pathpkg.Base(strings.TrimSuffix(path, "/v2"))] {
			head += fmt.Sprintf("import %q\n", path)
		}
	}
	return head + text
}

// generate draws the program of a seed, without some features.
func generate(seed int, without Feature) generated {
	g := &grammar{random: rand.New(rand.NewPCG(uint64(seed), 0)), without: without, types: map[string]*typ{}}
	var p generated
	for range g.between(4, 12) {
		p.items = append(p.items, g.item()...)
	}
	p.items = append(p.items, g.pending...)
	return p
}

// grammar draws a program: types come before their uses, every expression has
// the type that is asked for, and what a program prints is fixed by the
// language. Expressions call nothing that prints or assigns, unless they
// consist of calls alone; they cannot panic, but in statements that are about
// panics; maps are read in sorted order; slices that were appended to are not
// shared; every loop and recursion is bounded.
type grammar struct {
	random    *rand.Rand
	without   Feature
	types     map[string]*typ // by text
	named     []*typ          // that the program declares
	ifaces    []*typ
	vars      []*variable // in scope, innermost last
	funcs     []*function // without side effects
	procs     []*function // that print and assign to variables of the package
	loops     []string    // labels of the loops around a statement, innermost last
	serial    int
	trace     int
	depth     int    // of statements
	nest      int    // of literals
	pure      bool   // within a function without side effects
	inFunc    bool   // not at top level
	results   []*typ // of the function around
	canReturn bool
	pending   []item // redefinitions to come
}

type variable struct {
	name   string
	t      *typ
	fixed  bool // not to be assigned to
	global bool
}

type function struct {
	name    string
	params  []*typ
	results []*typ
	rest    bool // the last parameter is variadic
}

// between draws from lo to hi.
func (g *grammar) between(lo, hi int) int { return lo + g.random.IntN(hi-lo+1) }

// chance is true once in n draws.
func (g *grammar) chance(n int) bool { return g.between(0, n-1) == n-1 }

// fill replaces words of a template, which begin with $, by texts.
func fill(template string, words ...string) string {
	return strings.NewReplacer(words...).Replace(template)
}

// one draws an element.
func one[T any](g *grammar, of ...T) T { return of[g.between(0, len(of)-1)] }

func (g *grammar) has(f Feature) bool { return g.without&f == 0 }

func (g *grammar) fresh(base string) string {
	g.serial++
	return fmt.Sprintf("%s%dø", base, g.serial)
}

// scoped draws in a scope of its own.
func (g *grammar) scoped(f func() string) string {
	n := len(g.vars)
	defer func() { g.vars = g.vars[:n] }()
	return f()
}

func (g *grammar) declare(name string, t *typ) *variable {
	v := &variable{name: name, t: t}
	g.vars = append(g.vars, v)
	return v
}

// println prints operands after a number that tells the lines apart.
func (g *grammar) println(operands ...string) string {
	g.trace++
	return fmt.Sprintf("fmt.Println(%s)", strings.Join(append([]string{fmt.Sprint(g.trace)}, operands...), ", "))
}

// line begins a call that prints, as println does.
func (g *grammar) line() string {
	g.trace++
	return fmt.Sprintf("fmt.Println(%d", g.trace)
}

// item draws a part of the program.
func (g *grammar) item() []item {
	if len(g.pending) > 0 && g.chance(3) {
		it := g.pending[0]
		g.pending = g.pending[1:]
		return []item{it}
	}
	kinds := []func() []item{g.statementItem, g.variableItem, g.statementItem, g.funcItem, g.procItem, g.statementItem, g.typeItem, g.statementItem}
	if g.has(Exact) {
		kinds = append(kinds, g.again)
	}
	its := one(g, kinds...)()
	its[0].joins = g.chance(3)
	return its
}

func (g *grammar) statementItem() []item {
	s := g.scoped(func() string { return g.statement() })
	return []item{{cell: s, run: s}}
}

func (g *grammar) variableItem() []item {
	t := g.typ(2)
	e := g.expr(t, 2).s
	name := g.fresh("v")
	it := item{cell: name + " := " + t.typed(e), decl: "var " + name + " " + t.text, run: name + " = " + e}
	if g.chance(3) {
		it.cell = "var " + name + " " + t.text + " = " + e
	}
	g.declare(name, t).global = true
	p := g.println(g.printed(name, t)...)
	it.cell, it.run = it.cell+"\n"+p, it.run+"\n"+p
	return []item{it}
}

// funcItem declares a function without side effects, which may get another
// body later.
func (g *grammar) funcItem() []item {
	f := &function{name: g.fresh("f"), results: []*typ{g.typ(1)}}
	head, body := g.funcText(f, true)
	defer func() { g.funcs = append(g.funcs, f) }()
	if !g.chance(3) {
		s := "func " + f.name + head + " {" + body() + "}"
		return []item{{cell: s, decl: s}}
	}
	first, second := body(), body()
	again := "again" + f.name
	whole := "func " + f.name + head + " { if " + again + " {" + second + "}" + first + "}"
	g.pending = append(g.pending, item{cell: "func " + f.name + head + " {" + second + "}", one: again + " = true", run: again + " = true"})
	return []item{{cell: "func " + f.name + head + " {" + first + "}", one: "var " + again + " bool\n" + whole, decl: "var " + again + " bool\n" + whole}}
}

func (g *grammar) procItem() []item {
	f := &function{name: g.fresh("p")}
	for range g.between(0, 2) {
		f.results = append(f.results, g.typ(1))
	}
	head, body := g.funcText(f, false)
	s := "func " + f.name + head + " {" + body() + "}"
	g.procs = append(g.procs, f)
	return []item{{cell: s, decl: s}}
}

// funcText draws a function's parameters, and then bodies for them.
func (g *grammar) funcText(f *function, pure bool) (head string, body func() string) {
	var ps []string
	var params []*variable
	for range g.between(0, 3) {
		t := g.typ(1)
		name := g.fresh("a")
		f.params = append(f.params, t)
		ps = append(ps, name+" "+t.text)
		params = append(params, &variable{name: name, t: t, fixed: t.shared()})
	}
	if len(f.params) > 0 && g.chance(4) {
		f.rest = true
		k := len(ps) - 1
		params[k] = &variable{name: params[k].name, t: g.slice(f.params[k]), fixed: true}
		ps[k] = params[k].name + " ..." + f.params[k].text
	}
	var rs []string
	var results []*variable
	name := len(f.results) > 0 && g.chance(3)
	for _, t := range f.results {
		if name {
			results = append(results, &variable{name: g.fresh("r"), t: t})
			rs = append(rs, results[len(results)-1].name+" "+t.text)
			continue
		}
		rs = append(rs, t.text)
	}
	head = "(" + strings.Join(ps, ", ") + ") (" + strings.Join(rs, ", ") + ")"
	return head, func() string {
		defer g.inside(pure, f.results)()
		g.canReturn = true
		if pure {
			g.vars = nil
		} else {
			g.vars = slices.Clone(g.vars)
		}
		g.vars = append(g.vars, params...)
		g.vars = append(g.vars, results...)
		return "\n" + g.block(1, 3) + g.ret(name) + "\n"
	}
}

// inside prepares for the body of a function; what it returns undoes that.
func (g *grammar) inside(pure bool, results []*typ) func() {
	outer := *g
	g.pure, g.results, g.loops, g.canReturn, g.inFunc = pure, results, nil, false, true
	return func() {
		g.vars, g.pure, g.results, g.loops, g.canReturn, g.inFunc = outer.vars, outer.pure, outer.results, outer.loops, outer.canReturn, outer.inFunc
	}
}

// closure draws the body of a function literal.
func (g *grammar) closure(lo, hi int) string {
	defer g.inside(g.pure, nil)()
	return g.block(lo, hi)
}

// ret draws a return statement; name says whether the results have names.
func (g *grammar) ret(named bool) string {
	if len(g.results) == 0 || named && g.chance(2) {
		return "return"
	}
	var es []string
	for _, t := range g.results {
		es = append(es, g.expr(t, 2).s)
	}
	return "return " + strings.Join(es, ", ")
}
