package yaegi

import (
	"go/ast"
	"go/types"
	"strings"
)

// errors.Is and errors.As.
//
// Compiled, they see the type of no interpreted error. Interpreted versions
// walk the chain:
//
//	errors.As(err, &e)
//	As__1(err, &e)
//
//	func As__1(err error, target **E) bool {
//		if err == nil { return false }
//		if v, ok := err.(*E); ok { *target = v; return true }
//		...
//	}

// unwrapping ends both functions: again is the call for what err wraps.
func unwrapping(again string) string {
	return "for _, err := range " + host("Unwrap") + "(err) { if " + again + " { return true } }; return false }"
}

func (l *lowering) errorsCall(c *ast.CallExpr) (string, bool) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || len(c.Args) != 2 {
		return "", false
	}
	o, ok := l.src.info.Uses[sel.Sel].(*types.Func)
	if !ok || o.Pkg() == nil || o.Pkg().Path() != "errors" {
		return "", false
	}
	switch o.Name() {
	case "Is":
		h := l.helper("Is", "", func(n string) string {
			return "func " + n + "(err, target error) bool { if err == nil || target == nil { return err == nil && target == nil }; " +
				"if " + host("Same") + "(err, target) { return true }; " +
				"if " + host("Is") + "(err, target) { return true }; " +
				unwrapping(n+"(err, target)")
		})
		var as []string
		for _, a := range c.Args {
			as = append(as, l.converted(a, l.text(a), errorVar.Type()))
		}
		return h + "(" + strings.Join(as, ", ") + ")", true
	case "As":
		p, ok := l.typeOf(c.Args[1]).Underlying().(*types.Pointer)
		if !ok {
			return "", false
		}
		t := l.typ(p.Elem())
		h := l.helper("As", t, func(n string) string {
			return "func " + n + "(err error, target *" + t + ") bool { if err == nil { return false }; " +
				"if v, ok := err.(" + t + "); ok { *target = v; return true }; " +
				unwrapping(n+"(err, target)")
		})
		return h + "(" + l.converted(c.Args[0], l.text(c.Args[0]), errorVar.Type()) + ", " + l.text(c.Args[1]) + ")", true
	}
	return "", false
}

// Conversions to interfaces.
//
// yaegi puts literals as they are into variables of compiled interface types,
// and where a struct becomes an error it keeps its last field instead of the
// struct, so that err.(E) is false. Structs become errors in the host:
//
//	return E{4}
//	return error__1(E{4})
//
//	func error__1(x E) error { return host.MakeError(x, func() string { return x.Error() }, nil, nil) }

// converted renders an operand, which is s already, that becomes a value of
// type to.
func (l *lowering) converted(e ast.Expr, s string, to types.Type) string {
	from := l.typeOf(e)
	i, ok := to.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 || !l.compiled(to) || types.IsInterface(from) || !l.interpreted(from) {
		return s
	}
	if _, ok := from.Underlying().(*types.Struct); ok && types.Identical(i, errorType) {
		return l.makeError(from) + "(" + s + ")"
	}
	return l.asInterface(s, from, l.typ(to))
}

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

// methodTypes are the signatures that package errors looks for.
var methodTypes = map[string]*types.Signature{
	"Unwrap": types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(errorVar), false),
	"Is":     types.NewSignatureType(nil, nil, nil, types.NewTuple(errorVar), types.NewTuple(types.NewVar(0, nil, "", types.Typ[types.Bool])), false),
}

var errorVar = types.NewVar(0, nil, "", types.Universe.Lookup("error").Type())

// makeError is the function that makes an error of a struct type.
func (l *lowering) makeError(t types.Type) string {
	ts := l.typ(t)
	set := types.NewMethodSet(t)
	closure := func(name, sig, call string) string {
		m := set.Lookup(nil, name)
		if m == nil || !types.Identical(m.Type().Underlying(), methodTypes[name]) {
			return "nil"
		}
		return sig + " { return x." + call + " }"
	}
	return l.helper("error", ts, func(n string) string {
		return "func " + n + "(x " + ts + ") error { return " + host("MakeError") + "(x, func() string { return x.Error() }, " +
			closure("Unwrap", "func() error", "Unwrap()") + ", " + closure("Is", "func(target error) bool", "Is(target)") + ") }"
	})
}
