package cell

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/scanner"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
)

// A fault is an error of ours at an offset of the source.
type fault struct {
	off       int
	msg, hint string
}

func (f *fault) Error() string { return f.msg }

// diagnose turns the errors of the parser and the type checker into
// diagnostics, without those that a notebook allows.
func (k *check) diagnose(c *Cell) Diagnostics {
	d := slices.Clone(k.diags)
	stale := k.staleUses(c)
	d = append(d, stale...)
	isStale := map[int]bool{} // by line
	for _, s := range stale {
		isStale[s.Line] = true
	}
	type place struct{ line, col int }
	from := map[place]types.Error{}
	for _, err := range k.withoutEchoes() {
		switch err := err.(type) {
		case *scanner.Error:
			if len(k.diags) == 0 {
				k.chunkFaults()
			}
			if len(k.diags) > 0 {
				d = k.diags
				continue
			}
			line, col := k.where(err.Pos)
			at, words := k.syntaxFault(k.lines[line-1]+col-1, err.Msg)
			line, col = k.position(at)
			d = append(d, Diagnostic{Line: line, Col: col, Msg: words})
		case *fault:
			line, col := k.position(err.off)
			d = append(d, Diagnostic{Line: line, Col: col, Msg: err.msg, Hint: err.hint})
		case types.Error:
			if k.allowed(c, err) {
				continue
			}
			line, col := k.where(k.fset.Position(err.Pos))
			if rest, ok := strings.CutPrefix(err.Msg, "\t"); ok {
				if len(d) == 0 {
					continue
				}
				last := &d[len(d)-1]
				if msg, ok := strings.CutSuffix(last.Msg, " already declared"); ok && strings.HasPrefix(msg, "label ") {
					last.Msg = msg + " already defined at " + k.fset.Position(err.Pos).String()
					continue
				}
				if last.Hint != "" {
					last.Hint += "; "
				}
				last.Hint += fmt.Sprintf("%s at line %d, column %d", unqualify(rest), line, col)
				continue
			}
			if isStale[line] {
				continue // a consequence
			}
			at := place{line, col}
			if _, ok := from[at]; !ok {
				from[at] = err
			}
			d = append(d, Diagnostic{Line: line, Col: col, Msg: k.words(c, err)})
		default:
			d = append(d, Diagnostic{Line: 1, Col: 1, Msg: err.Error()})
		}
	}
	for _, decl := range k.bodyless(c) {
		line, col := k.where(k.fset.Position(decl.Name.Pos()))
		msg := "missing function body"
		off, ok := k.offset(decl.End())
		if i := k.tokenAt(off); ok && k.newline(i) && k.at(i+1) == token.LBRACE {
			line, col = k.position(k.toks[i+1].off)
			msg = "syntax error: unexpected semicolon or newline before {"
		}
		d = append(d, Diagnostic{Line: line, Col: col, Msg: msg})
	}
	if x := k.show(c); x != nil && len(d) == 0 {
		if t, ok := overflow(c.Info.Types[x]); ok {
			line, col := k.where(k.fset.Position(x.Pos()))
			d = append(d, Diagnostic{Line: line, Col: col, Msg: "cannot show the constant: it overflows " + t})
		}
	}
	for _, g := range d {
		if label, ok := strings.CutPrefix(g.Msg, "invalid continue label "); ok {
			d = slices.DeleteFunc(d, func(g Diagnostic) bool { return g.Msg == "label "+label+" defined and not used" })
			break
		}
	}
	// Hints are looked for once it is known which few errors are told.
	d = d.tidy(k.split)
	for i, g := range d {
		if g.Hint != "" {
			continue
		}
		if err, ok := from[place{g.Line, g.Col}]; ok {
			d[i].Line, d[i].Col = k.where(k.fset.Position(k.place(c, err)))
			d[i].Hint = k.hint(c, err)
		}
	}
	return d
}

// where returns the line and column of the source that a position of the text
// is about: the first, if it lies in what the cell did not write.
func (k *check) where(pos token.Position) (line, col int) {
	if pos.Filename != fileName(k.n) {
		return 1, 1
	}
	return pos.Line, pos.Column
}

// overflow reports whether an untyped constant is beyond the type that its
// value would have, and which type that is.
func overflow(tv types.TypeAndValue) (string, bool) {
	t, ok := tv.Type.(*types.Basic)
	if !ok || tv.Value == nil {
		return "", false
	}
	switch t.Kind() {
	case types.UntypedInt:
		_, exact := constant.Int64Val(tv.Value)
		return "int", !exact
	case types.UntypedRune:
		v, exact := constant.Int64Val(tv.Value)
		return "rune", !exact || v != int64(int32(v))
	case types.UntypedFloat:
		v, _ := constant.Float64Val(tv.Value)
		return "float64", math.IsInf(v, 0)
	}
	return "", false
}

// withoutEchoes returns the errors without those of the file of declarations
// that the cell's own has in the same statement: there they read as in a
// function.
func (k *check) withoutEchoes() []error {
	if k.decls == nil {
		return k.errs
	}
	var all []*vars
	for i := range k.chunks {
		all = append(all, k.vars[i]...)
	}
	told := map[*vars]bool{}
	statement := func(err types.Error) *vars {
		off, ok := k.offset(err.Pos)
		if !ok {
			return nil
		}
		i, found := slices.BinarySearchFunc(all, off, func(v *vars, off int) int { return k.toks[v.start].off - off })
		if !found {
			i--
		}
		if i < 0 || off >= k.toks[all[i].end-1].end {
			return nil
		}
		return all[i]
	}
	for _, err := range k.errs {
		if e, ok := err.(types.Error); ok && !within(k.decls, e.Pos) {
			told[statement(e)] = true
		}
	}
	delete(told, nil)
	return slices.DeleteFunc(slices.Clone(k.errs), func(err error) bool {
		e, ok := err.(types.Error)
		return ok && within(k.decls, e.Pos) && told[statement(e)]
	})
}

// bodyless lists the functions without body, which would be written in
// assembly.
func (k *check) bodyless(c *Cell) []*ast.FuncDecl {
	var list []*ast.FuncDecl
	for _, d := range c.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil && len(k.errs) == 0 {
			list = append(list, f)
		}
	}
	return list
}

// allowed reports whether an error of Go's is none in a notebook.
func (k *check) allowed(c *Cell, err types.Error) bool {
	switch {
	case strings.HasPrefix(err.Msg, "declared and not used"), strings.HasSuffix(err.Msg, "imported and not used"):
		return true
	case strings.HasPrefix(err.Msg, "initialization cycle"):
		// What refers to itself through a function is in order where the
		// variable is assigned by a statement.
		return k.decls != nil && within(k.decls, err.Pos)
	case strings.HasPrefix(err.Msg, "implicit assignment to unexported field") && !strings.Contains(err.Msg, " field _ "):
		// Of earlier cells' types; see nameElements. Here is too little or too
		// much in the literal, which is told as well.
		return strings.Contains(err.Msg, " of type main.")
	case strings.HasSuffix(err.Msg, "is not used"):
		x := k.lastExpr(c)
		return x != nil && !c.Info.Types[x].IsNil() && within(x, err.Pos) && !insideFunc(x, err.Pos)
	}
	return false
}

func within(n ast.Node, p token.Pos) bool { return n.Pos() <= p && p < n.End() }

// insideFunc reports whether p lies in the body of a function literal of x.
func insideFunc(x ast.Expr, p token.Pos) bool {
	inside := false
	ast.Inspect(x, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && within(f.Body, p) {
			inside = true
		}
		return !inside
	})
	return inside
}
