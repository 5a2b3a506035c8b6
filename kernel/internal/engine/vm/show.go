package vm

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// The last expression's values become the arguments of a call of println at a
// place where no call can be: package ssa knows that builtin, and the compiler
// makes the call take the values for the notebook.

// shown are the static types of the values.
type shown struct {
	types []types.Type
}

// showCall returns the cell's file with that call, and the call.
func showCall(c *cell.Cell) (*ast.File, *ast.CallExpr) {
	if c.Show == nil {
		return c.File, nil
	}
	var params []*types.Var
	switch t := c.Info.Types[c.Show].Type.(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			params = append(params, v)
		}
	default:
		if c.Info.Types[c.Show].IsNil() {
			t = types.NewInterfaceType(nil, nil)
		}
		params = append(params, types.NewParam(token.NoPos, nil, "", types.Default(t)))
	}
	name := &ast.Ident{Name: "println", NamePos: c.Show.Pos()}
	call := &ast.CallExpr{Fun: name, Lparen: c.Show.Pos(), Args: []ast.Expr{c.Show}, Rparen: c.Show.End()}
	c.Info.Uses[name] = types.Universe.Lookup("println")
	c.Info.Types[name] = types.TypeAndValue{Type: types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, false)}
	c.Info.Types[call] = types.TypeAndValue{Type: types.NewTuple()}

	file, body, block := *c.File, *c.Body, *c.Body.Body
	block.List = append([]ast.Stmt(nil), block.List...)
	for i, s := range block.List {
		if x, ok := s.(*ast.ExprStmt); ok && x.X == c.Show {
			block.List[i] = &ast.ExprStmt{X: call}
		}
	}
	body.Body = &block
	file.Decls = append([]ast.Decl(nil), file.Decls...)
	for i, d := range file.Decls {
		if d == ast.Decl(c.Body) {
			file.Decls[i] = &body
		}
	}
	c.Info.FileVersions[&file] = c.Info.FileVersions[c.File]
	return &file, call
}

// findShow finds the call in the instructions of the cell's function.
func (e *Engine) findShow(pkg *ssa.Package, c *cell.Cell, call *ast.CallExpr) {
	for _, b := range pkg.Func(c.Body.Name.Name).Blocks {
		for _, i := range b.Instrs {
			v, ok := i.(*ssa.Call)
			if !ok || v.Pos() != call.Lparen {
				continue
			}
			if f, ok := v.Call.Value.(*ssa.Builtin); ok && f.Name() == "println" {
				s := &shown{}
				for p := range f.Type().(*types.Signature).Params().Variables() {
					s.types = append(s.types, p.Type())
				}
				e.showing[v] = s
			}
		}
	}
}

func (e *Engine) shows(v *ssa.Call) *shown { return e.showing[v] }

// show compiles the call.
func (k *compiler) show(v *ssa.Call, s *shown) op {
	delete(k.e.showing, v)
	var vs []value
	var names []string
	for i, a := range v.Call.Args {
		vs = append(vs, value{k.slot(a), k.typ(a)})
		names = append(names, types.TypeString(s.types[i], cell.Qualify))
	}
	return func(fr *frame) {
		r := fr.t.run
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, v := range vs {
			p := reflect.New(v.typ)
			rtype.Move(rtype.Of(v.typ), p.UnsafePointer(), slot(fr, v.off))
			r.values = append(r.values, shownValue(p.Elem(), names[i]))
		}
	}
}

func shownValue(v reflect.Value, typ string) engine.Value {
	s := engine.Value{Any: v.Interface(), Type: typ}
	if v := reflect.ValueOf(s.Any); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return s
	}
	if m, ok := s.Any.(interface{ MIMEBundle() map[string]any }); ok {
		s.MIMEBundle = m.MIMEBundle
	}
	if m, ok := s.Any.(fmt.Stringer); ok {
		s.String = m.String
	}
	if m, ok := s.Any.(error); ok {
		s.Error = m.Error
	}
	return s
}
