package enginetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// shrinkFor bounds the time in which a program is made small.
const shrinkFor = 90 * time.Second

// shrink makes a program smaller as long as what it prints differs, and
// returns the difference.
//
// Fewer and smaller draws would change all that is drawn after them, and every
// try would cost a compilation. Here pieces of the program's
// text are cut: many, each alone, are compiled at once, and then as many as
// possible of those that the difference does without are cut together.
func (d *differential) shrink(t testing.TB, p generated, diff string) string {
	tried := map[string]bool{}
	for end := time.Now().Add(shrinkFor); time.Now().Before(end); {
		var cuts []cut
		var ps []generated
		for _, c := range p.cuts() {
			q, ok := p.cut(c)
			if s := q.text("Run"); ok && len(s) < p.size() && !tried[s] && !number.MatchString(s) && q.vet() == nil {
				tried[s] = true
				cuts, ps = append(cuts, c), append(ps, q)
			}
			if len(ps) == 100 || time.Now().After(end) {
				break
			}
		}
		if len(ps) == 0 {
			break
		}
		whys := d.differing(t, ps)
		var good []cut
		best := -1
		for i, why := range whys {
			if why != "" && strings.Contains(why, "\ncheck: ") == strings.Contains(diff, "\ncheck: ") {
				good = append(good, cuts[i])
				if best < 0 || ps[i].size() < ps[best].size() {
					best = i
				}
			}
		}
		if best < 0 {
			continue
		}
		together := p.together(good)
		whyTogether := d.differing(t, together)
		p, diff = ps[best], whys[best]
		for i, why := range whyTogether {
			if why != "" && strings.Contains(why, "\ncheck: ") == strings.Contains(diff, "\ncheck: ") && together[i].size() < p.size() {
				p, diff = together[i], why
			}
		}
	}
	return diff
}

// number matches the rest of a name that is a number now, another one for the
// compiler.
var number = regexp.MustCompile(`(^|\W)\d+ø`)

// together makes all cuts, and halves, quarters and so on of them.
func (p generated) together(cuts []cut) []generated {
	var r []generated
	for n := len(cuts); n > 1 && len(r) < 40; n = (n + 1) / 2 {
		for part := range slices.Chunk(cuts, n) {
			q := p
			for _, c := range part {
				if s, ok := q.cut(c); ok && s.size() < q.size() && s.vet() == nil {
					q = s
				}
			}
			r = append(r, q)
		}
	}
	return r
}

func (p generated) size() int { return len(p.text("Run")) }

// differing compiles programs and says of each what differs.
func (d *differential) differing(t testing.TB, ps []generated) []string {
	if len(ps) == 0 {
		return nil
	}
	want, err := compilePrograms(ps, 1, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	whys := make([]string, len(ps))
	for i, p := range ps {
		if want[i] != "" { // a loop may have lost its end
			whys[i] = d.compare(t, p, want[i])
		}
	}
	return whys
}

// A cut leaves out items, or replaces a text by a shorter one.
type cut struct {
	from, to string

	items int
	item  item // the first
}

// cut replaces in all forms of the program; ok is false where one form has the
// text and another has not.
func (p generated) cut(c cut) (q generated, ok bool) {
	q.items = slices.Clone(p.items)
	if c.items > 0 {
		i := slices.Index(q.items, c.item)
		if i < 0 || i+c.items > len(q.items) {
			return q, false
		}
		q.items = slices.Delete(q.items, i, i+c.items)
		return q, true
	}
	for i, it := range q.items {
		in := []*string{&it.cell, &it.decl, &it.run}
		if it.one != "" {
			in = append(in, &it.one)
		}
		n := 0
		for _, s := range in {
			if k := strings.Index(*s, c.from); k >= 0 {
				*s = (*s)[:k] + c.to + (*s)[k+len(c.from):]
				n++
			}
		}
		if n == 0 {
			continue
		}
		if n != 2 && n != 3 || (it.one == "") != (n == 2) {
			return q, false
		}
		q.items[i] = it
		return q, true
	}
	return q, false
}

// cuts are the pieces that may be left out, or be replaced by a part of them.
func (p generated) cuts() []cut {
	text := "package p\n" + p.text("Run")
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	src := func(n ast.Node) string { return text[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset] }
	var r []cut
	for n := len(p.items) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(p.items); i += n {
			r = append(r, cut{items: n, item: p.items[i]})
		}
	}
	put := func(n ast.Node, to string) { r = append(r, cut{from: src(n), to: to}) }
	list := func(es []ast.Expr) {
		for i, e := range es {
			r = append(r, cut{from: ", " + src(e)})
			if i+1 < len(es) {
				r = append(r, cut{from: src(e) + ", "})
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			put(n, src(n.Body))
			if n.Else != nil {
				put(n, src(n.Else))
				r = append(r, cut{from: " else " + src(n.Else)})
			}
		case *ast.ForStmt:
			put(n, src(n.Body))
		case *ast.RangeStmt:
			put(n, src(n.Body))
		case *ast.LabeledStmt:
			put(n, src(n.Stmt))
		case *ast.BlockStmt:
			if len(n.List) == 1 {
				put(n, src(n.List[0]))
			}
		case *ast.CaseClause:
			put(n, "")
		case *ast.CommClause:
			put(n, "")
		case *ast.CallExpr:
			list(n.Args)
			for _, e := range n.Args {
				put(n, src(e))
			}
			if lit, ok := n.Fun.(*ast.FuncLit); ok {
				put(n, src(lit.Body))
			}
		case *ast.CompositeLit:
			list(n.Elts)
			if len(n.Elts) == 1 {
				put(n.Elts[0], "")
			}
		case *ast.BinaryExpr:
			put(n, src(n.X))
			put(n, src(n.Y))
		case *ast.UnaryExpr:
			put(n, src(n.X))
		case *ast.ParenExpr:
			put(n, src(n.X))
		}
		switch n.(type) {
		case *ast.IncDecStmt, *ast.BranchStmt: // a loop ends by them
		case ast.Stmt:
			put(n, "")
		}
		if e, ok := n.(ast.Expr); ok && len(src(e)) > 2 {
			for _, s := range []string{"0", "1", `""`, "true", "false"} {
				put(e, s)
			}
		}
		return true
	})
	return r
}
