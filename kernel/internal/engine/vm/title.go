package vm

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A type's name has its type arguments in it, as the linker writes them; first
// come those of the function that the type is declared in, if that is generic:
//
//	func F[A any]() { type T[B any] struct{} ... }
//
// has T[int;string]. Among type arguments, a type that is declared in a
// function is numbered, main.T·3 being the third of the package.

// local is a type that is declared in a function.
type local struct {
	n       int
	generic bool // the function is
}

// number numbers the types of a package that are declared in functions.
func (u *universe) number(files []*ast.File) {
	n := 0
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			generic := ok && (fn.Type.TypeParams != nil || fn.Recv != nil && len(fn.Recv.List) == 1 && hasTypeParams(fn.Recv.List[0].Type))
			ast.Inspect(d, func(x ast.Node) bool {
				s, ok := x.(*ast.TypeSpec)
				if !ok || s.Assign.IsValid() || topLevel(d, s) {
					return true
				}
				n++
				if u.locals == nil {
					u.locals = map[token.Pos]local{}
				}
				u.locals[s.Name.Pos()] = local{n, generic}
				return true
			})
		}
	}
}

func topLevel(d ast.Decl, s *ast.TypeSpec) bool {
	g, ok := d.(*ast.GenDecl)
	return ok && slices.Contains(g.Specs, ast.Spec(s))
}

// hasTypeParams reports whether a receiver's type has.
func hasTypeParams(t ast.Expr) bool {
	switch t := ast.Unparen(t).(type) {
	case *ast.StarExpr:
		return hasTypeParams(t.X)
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

// enter says which function's types are asked for until leave is called.
func (u *universe) enter(f *ssa.Function) (leave func()) {
	old := u.within
	for f.Parent() != nil {
		f = f.Parent()
	}
	u.within = f
	return func() { u.within = old }
}

// title is a named type's name.
func (u *universe) title(n *types.Named) string {
	var args []types.Type
	l := u.locals[n.Obj().Pos()]
	if l.generic {
		f := u.within
		if f == nil || f.Syntax() == nil || n.Obj().Pos() < f.Syntax().Pos() || f.Syntax().End() <= n.Obj().Pos() {
			refuse("the type %s outside of the generic function that declares it", n)
		}
		args = append(args, f.TypeArgs()...)
	}
	implicit := len(args)
	args = slices.AppendSeq(args, n.TypeArgs().Types())
	if len(args) == 0 {
		return n.Obj().Name()
	}
	var b strings.Builder
	b.WriteString(n.Obj().Name())
	for i, t := range args {
		switch i {
		case 0:
			b.WriteByte('[')
		case implicit:
			b.WriteByte(';')
		default:
			b.WriteByte(',')
		}
		b.WriteString(u.written(t))
	}
	return b.String() + "]"
}

// written is the text of a type argument: packages by their paths, no other
// names for types, spaces as in package reflect.
func (u *universe) written(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[t.Kind()].Name() // uint8, not byte
	case *types.Named:
		s := u.find(t).Name() // made where its title is known
		if p := t.Obj().Pkg(); p != nil {
			s = p.Path() + "." + s
		}
		if l := u.locals[t.Obj().Pos()]; l.n > 0 {
			s += fmt.Sprint("·", l.n)
		}
		return s
	case *types.Pointer:
		return "*" + u.written(t.Elem())
	case *types.Slice:
		return "[]" + u.written(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), u.written(t.Elem()))
	case *types.Map:
		return "map[" + u.written(t.Key()) + "]" + u.written(t.Elem())
	case *types.Chan:
		e := u.written(t.Elem())
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + e
		case types.RecvOnly:
			return "<-chan " + e
		}
		if strings.HasPrefix(e, "<-") {
			e = "(" + e + ")"
		}
		return "chan " + e
	case *types.Signature:
		return "func" + u.writtenSignature(t)
	case *types.Struct:
		var fs []string
		for i := range t.NumFields() {
			f := t.Field(i)
			s := u.written(f.Type())
			if !f.Embedded() {
				s = qualified(f) + " " + s
			}
			if tag := t.Tag(i); tag != "" {
				s += fmt.Sprintf(" %q", tag)
			}
			fs = append(fs, s)
		}
		return braced("struct", fs)
	case *types.Interface:
		var ms []string
		for m := range t.Methods() {
			ms = append(ms, qualified(m)+u.writtenSignature(m.Signature()))
		}
		return braced("interface", ms)
	}
	return types.TypeString(t, nil)
}

func (u *universe) writtenSignature(s *types.Signature) string {
	list := func(vs *types.Tuple, variadic bool) string {
		var r []string
		for v := range vs.Variables() {
			r = append(r, u.written(v.Type()))
		}
		if k := len(r) - 1; variadic {
			r[k] = "..." + strings.TrimPrefix(r[k], "[]")
		}
		return strings.Join(r, ", ")
	}
	text := "(" + list(s.Params(), s.Variadic()) + ")"
	switch s.Results().Len() {
	case 0:
		return text
	case 1:
		return text + " " + list(s.Results(), false)
	}
	return text + " (" + list(s.Results(), false) + ")"
}

// qualified is the name of a field or method, with its package where that is a
// part of it.
func qualified(o types.Object) string {
	if o.Exported() || o.Pkg() == nil {
		return o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

func braced(what string, parts []string) string {
	if len(parts) == 0 {
		return what + " {}"
	}
	return what + " { " + strings.Join(parts, "; ") + " }"
}
