package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Conversions to interfaces.
//
// yaegi loses or mistypes the result of an operator that becomes an interface:
//
//	var y any = -x
//	var y interface{} = as__1(-x)
//
//	func as__1(x int) interface{} { var y interface{} = x; return y }
//
// A value in an empty interface keeps its type's methods only where the type
// is a name that declares some, so pointers and structs with promoted methods
// go through an interface that has one. A value whose methods are all its
// pointer's would keep those, so it goes through the host:
//
//	var s any = &square{2}
//	var s interface{} = as__2(&square{2})
//
//	func as__2(x *square) interface{} { var y interface{ area() float64 } = x; return y }
//
// yaegi puts literals as they are into variables of compiled interface types,
// takes errors of one shape for another's, and keeps the last field of a struct
// instead of the struct. Errors are made in the host, with the type's name:
//
//	return E{4}
//	return error__1(E{4})
//
//	func error__1(x E) error { return host.MakeError(x, "main.E", func() string { return x.Error() }, nil, nil) }
//
// A nil pointer would make a compiled interface nil, so it is wrapped by the
// host:
//
//	var p *E; return p
//	return as__3(p)
//
//	func as__3(x *E) error { if x == nil { return to__4(x) }; var y error = x; return y }
//
// as is a value with the methods of an embedded compiled struct.
//
// In an interface with methods yaegi keeps not the value of a variable but the
// variable, so that it changes with that. A function's parameter is a copy:
//
//	s := square{2}; shapes[0] = s
//	s := square{2}; shapes[0] = as__4(s)

// converted renders an operand, which is s already, that becomes a value of
// type to.
func (l *lowering) converted(e ast.Expr, s string, to types.Type) string {
	from := l.typeOf(e)
	i, ok := to.Underlying().(*types.Interface)
	switch {
	case !ok || types.IsInterface(from) || l.src.info.Types[e].IsNil():
		return s
	case !l.interpreted(from) || i.NumMethods() > 0 && !l.compiled(to):
		if l.operation(e) || i.NumMethods() > 0 && l.variable(e) {
			return l.asInterface(s, from, to)
		}
		return s
	case i.NumMethods() == 0:
		if l.operation(e) || l.methodful(from) {
			return l.asInterface(s, from, to)
		}
		return s
	}
	if types.Identical(i, errorType) {
		return l.makeError(from) + "(" + s + ")"
	}
	return l.asInterface(s, from, to)
}

// methodful tells types that declare methods, or whose values have some.
func (l *lowering) methodful(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.NumMethods() > 0 || types.NewMethodSet(t).Len() > 0 || l.marked(t)
}

// A type whose values neither have methods nor are told from others by a tag,
// see lower_struct.go, gets a method, so that they keep their type:
//
//	type celsius float64
//	type celsius float64; func (celsius) type__() {}

const markMethod = "type__"

// marked tells types that get that method.
func (l *lowering) marked(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !l.ours(n.Obj()) || types.NewMethodSet(n).Len() > 0 {
		return false
	}
	switch u := n.Underlying().(type) {
	case *types.Interface, *types.Pointer, *types.Signature:
		return false
	case *types.Struct:
		return u.NumFields() == 0
	}
	return true
}

// marking declares the method for a type that is declared as ref.
func (l *lowering) marking(t types.Type, ref string) string {
	if !l.marked(t) {
		return ""
	}
	return "\nfunc (" + ref + ") " + markMethod + "() {}"
}

// asInterface makes a value of type from an interface value. yaegi wraps all
// kinds of values where a variable is assigned, and no results of calls where
// they are arguments.
func (l *lowering) asInterface(s string, from, to types.Type) string {
	if types.IsInterface(from) {
		return s
	}
	fs, ts := l.typ(from), l.typ(to)
	return l.helper("as", fs+", "+ts, func(n string) string {
		head := "func " + n + "(x " + fs + ") " + ts + " { "
		through := ts
		if i := to.Underlying().(*types.Interface); i.NumMethods() == 0 && l.interpreted(from) && l.methodful(from) {
			set := types.NewMethodSet(from)
			switch {
			case l.marked(from):
				through = "interface{ " + markMethod + "() }"
			case set.Len() == 0:
				return head + "return " + host("Any") + "(x) }"
			default:
				for m := range set.Methods() {
					if f := m.Obj().(*types.Func); l.callable(f) && !l.foreignMethod(f) {
						through = "interface{ " + f.Name() + l.signature(m.Type().(*types.Signature)) + " }"
						break
					}
				}
			}
		} else if l.borrows(from, to) {
			return head + "return " + l.toInterface("to", from, to) + "(x) }"
		} else if _, ok := from.Underlying().(*types.Pointer); ok && i.NumMethods() > 0 && l.compiled(to) {
			head += "if x == nil { return " + l.toInterface("to", from, to) + "(x) }; "
		}
		return head + "var y " + through + " = x; return y }"
	}) + "(" + s + ")"
}

// borrows tells types that have methods of compiled interface to from an
// embedded field of a compiled type, where yaegi does not find them.
func (l *lowering) borrows(from, to types.Type) bool {
	if !l.compiled(to) || !l.interpreted(from) {
		return false
	}
	set := types.NewMethodSet(from)
	for m := range to.Underlying().(*types.Interface).Methods() {
		s := set.Lookup(m.Pkg(), m.Name())
		if s == nil || len(s.Index()) < 2 {
			continue
		}
		if l.foreignMethod(s.Obj().(*types.Func)) {
			return true
		}
	}
	return false
}

// foreignMethod tells methods of compiled types that are no interfaces.
func (l *lowering) foreignMethod(f *types.Func) bool {
	n, ok := types.Unalias(deref(f.Signature().Recv().Type())).(*types.Named)
	return ok && !l.ours(n.Origin().Obj()) && !types.IsInterface(n)
}

// operation tells operators' results that are no constants.
func (l *lowering) operation(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op != token.AND && l.src.info.Types[e].Value == nil
	case *ast.BinaryExpr:
		return l.src.info.Types[e].Value == nil
	}
	return false
}

// variable tells what can be assigned to after its value was taken.
func (l *lowering) variable(e ast.Expr) bool { return l.src.info.Types[e].Addressable() }

// elements notes the conversions of a literal's elements.
func (l *lowering) elements(c *ast.CompositeLit) {
	var elem types.Type
	var fields *types.Struct
	switch u := deref(l.typeOf(c)).Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem = u.Elem()
	case *types.Map:
		elem = u.Elem()
	case *types.Struct:
		fields = u
	}
	for i, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && fields == nil {
			l.index(c, kv.Key)
			if _, ok := l.faceKeys(l.typeOf(c)); ok {
				l.keyed[kv.Key] = true
			}
		}
		to := elem
		if fields != nil && i < fields.NumFields() {
			to = fields.Field(i).Type()
		}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok && fields != nil {
				if f, ok := l.src.info.Uses[id].(*types.Var); ok {
					to = l.subst(f.Type())
				}
			}
		}
		if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
			continue // its type is the element's
		}
		if to != nil && types.IsInterface(to) {
			l.becomes[e] = to
		}
	}
}
