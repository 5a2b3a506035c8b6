package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"
)

// hint says what to do about an error of the type checker, if there is
// something to say.
func (k *check) hint(c *Cell, err types.Error) string {
	msg := err.Msg
	switch {
	case strings.HasPrefix(msg, "undefined: "):
		name := strings.TrimPrefix(msg, "undefined: ")
		if sel := selectorAt(c.File, err.Pos); sel != nil {
			return k.memberHint(c, sel)
		}
		if h := otherLanguages[name]; h != "" {
			return h
		}
		if s := closest(name, k.visible(c, err.Pos)); s != "" {
			return "did you mean " + s + "?"
		}
		if k.assigned(c, err.Pos) {
			return "declare it with " + name + " := …"
		}
	case strings.Contains(msg, " undefined (type "):
		sel := selectorAt(c.File, err.Pos)
		if sel == nil {
			return ""
		}
		if h := k.droppedHint(c, sel); h != "" {
			return h
		}
		if !strings.Contains(msg, "but does have") {
			return k.memberHint(c, sel)
		}
	case strings.HasPrefix(msg, "unknown field "):
		return k.fieldHint(c, err.Pos)
	case strings.HasSuffix(msg, "is not used") && strings.HasPrefix(msg, "append("):
		return "append returns the longer slice: xs = append(xs, …)"
	case strings.HasSuffix(msg, " is not used") && !strings.HasPrefix(msg, "nil ") && k.inBody(c, err.Pos):
		return "only the last expression of a cell is shown; print this one with fmt.Println(…)"
	case msg == "could not import C" || strings.HasPrefix(msg, "could not import C "):
		return "cells are not compiled; they cannot hold C"
	case strings.Contains(msg, "mismatched types int and float64"), strings.Contains(msg, "mismatched types float64 and int"):
		return "convert the int: float64(n)"
	case strings.HasPrefix(msg, "non-name ") && strings.HasSuffix(msg, "on left side of :="):
		return "assign with ="
	case strings.HasPrefix(msg, "invalid operation: cannot indirect ") && k.power(c, err.Pos):
		return "Go has no power operator; use math.Pow"
	case strings.HasPrefix(msg, "could not import "):
		return importHint(msg)
	}
	return ""
}

// inBody reports whether the expression at pos is a statement of the cell
// itself, in no function or block.
func (k *check) inBody(c *Cell, pos token.Pos) bool {
	return c.Body != nil && slices.ContainsFunc(c.Body.Body.List, func(s ast.Stmt) bool {
		x, ok := s.(*ast.ExprStmt)
		return ok && within(x, pos)
	})
}

// power reports whether the operand at pos stands behind two stars.
func (k *check) power(c *Cell, pos token.Pos) bool {
	off, ok := k.offset(pos)
	if !ok {
		return false
	}
	i := k.tokenAt(off)
	if k.at(i) == token.MUL {
		i++
	}
	return k.at(i-1) == token.MUL && k.at(i-2) == token.MUL && k.toks[i-2].end == k.toks[i-1].off
}

// otherLanguages are words that Go spells in another way.
var otherLanguages = map[string]string{
	"None": "Go's is nil", "null": "Go's is nil", "NULL": "Go's is nil", "nullptr": "Go's is nil",
	"True": "Go's is true", "False": "Go's is false",
	"self": "a method names its receiver: func (t T) M()", "this": "a method names its receiver: func (t T) M()",
	"str": "Go's is string", "double": "Go's is float64", "float": "Go's is float64", "char": "Go's are byte and rune", "long": "Go's is int64",
}

// selectorAt returns the selector expression whose selector stands at p.
func selectorAt(f *ast.File, p token.Pos) (found *ast.SelectorExpr) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Pos() == p {
			found = sel
		}
		return found == nil
	})
	return found
}

// memberHint suggests a member for one that does not exist.
func (k *check) memberHint(c *Cell, sel *ast.SelectorExpr) string {
	var names []string
	x := ""
	if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
		x = id.Name + "."
		if p, ok := c.Info.Uses[id].(*types.PkgName); ok {
			for _, name := range p.Imported().Scope().Names() {
				if token.IsExported(name) {
					names = append(names, name)
				}
			}
		}
	}
	if names == nil {
		if tv := c.Info.Types[sel.X]; tv.Type != nil {
			for _, o := range membersOf(tv.Type, tv.IsType(), c.Pkg) {
				names = append(names, o.Name())
			}
		}
	}
	if s := closest(sel.Sel.Name, names); s != "" {
		return "did you mean " + x + s + "?"
	}
	return ""
}

// droppedHint says where a method was declared that a type had before it
// changed.
func (k *check) droppedHint(c *Cell, sel *ast.SelectorExpr) string {
	t := c.Info.Types[sel.X].Type
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	e := k.live.names[named.Obj().Name()]
	if e == nil || e.obj != named.Obj() {
		return ""
	}
	for _, p := range e.dropped {
		if p.names[0] == sel.Sel.Name {
			return fmt.Sprintf("the method of In[%d] does not fit the type that %s is now; run In[%d] again", p.n, p.recv, p.n)
		}
	}
	return ""
}

// fieldHint suggests a field for the unknown one at p.
func (k *check) fieldHint(c *Cell, p token.Pos) string {
	hint := ""
	ast.Inspect(c.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok || kv.Pos() != p {
				continue
			}
			var names []string
			if st := structOf(c.Info.Types[lit].Type); st != nil {
				for f := range st.Fields() {
					names = append(names, f.Name())
				}
			}
			if id, ok := kv.Key.(*ast.Ident); ok {
				if s := closest(id.Name, names); s != "" {
					hint = "did you mean " + s + "?"
				}
			}
		}
		return true
	})
	return hint
}

// visible lists the names that may be used at p.
func (k *check) visible(c *Cell, p token.Pos) []string {
	var names []string
	for s := c.Pkg.Scope().Innermost(p); s != nil && s != c.Pkg.Scope(); s = s.Parent() {
		for _, name := range s.Names() {
			if s.Lookup(name).Pos() < p {
				names = append(names, name)
			}
		}
	}
	names = append(names, types.Universe.Names()...)
	for name := range k.declared {
		names = append(names, name)
	}
	for name := range k.live.names {
		names = append(names, name)
	}
	for name := range k.live.imports {
		names = append(names, name)
	}
	for name := range k.prelude.Imports {
		names = append(names, name)
	}
	return names
}

// assigned reports whether the identifier at p is assigned to.
func (k *check) assigned(c *Cell, p token.Pos) bool {
	found := false
	ast.Inspect(c.File, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, l := range a.Lhs {
				found = found || l.Pos() == p
			}
		}
		return !found
	})
	return found
}

// closest returns the candidate that is name but for a typing error: another
// case, or one letter in three wrong, missing, doubled or swapped. Ties go to
// the first in alphabetical order; "" means that none is close.
func closest(name string, candidates []string) string {
	best, bestDist := "", utf8.RuneCountInString(name)/3+1
	if len(name) < 2 {
		return ""
	}
	for _, c := range candidates {
		if c == name || c == "_" || strings.HasPrefix(c, "cell__") || len(c) < 2 {
			continue
		}
		d := 0
		if !strings.EqualFold(c, name) {
			d = distance(strings.ToLower(name), strings.ToLower(c), bestDist)
			d = max(d, 1)
		}
		if d < bestDist || d == bestDist && best != "" && c < best {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the number of edits (a letter inserted, deleted, replaced, or
// swapped with its neighbour) between a and b, or more than limit.
//
// Damerau, Communications of the ACM 7 (1964), restricted to disjoint edits.
func distance(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if len(s)-len(t) > limit || len(t)-len(s) > limit {
		return limit + 1
	}
	prev2, prev, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(t)]
}
