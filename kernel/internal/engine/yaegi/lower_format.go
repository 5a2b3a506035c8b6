package yaegi

import (
	"go/ast"
	"go/types"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// Interpreted values in fmt and its like.
//
// An interpreted type has no methods in compiled code. Values that are
// formatted go with their text, as do the elements of slices, arrays and maps:
//
//	fmt.Println(celsius(20), []celsius{1})
//	fmt__.Println(text__1(celsius(20)), texts__1([]celsius{1}))
//
//	func text__1(x celsius) interface{} {
//		return host.Text(x, func() string { return x.String() }) }
//	func texts__1(x []celsius) interface{} {
//		r := []interface{}{}; for _, v := range x { r = append(r, text__1(v)) }; return r }

// formatting are the packages whose functions format what they get as an
// empty interface.
var formatting = map[string]bool{"fmt": true, "log": true, "log/slog": true, "testing": true}

// nbPackage shows what it gets as an empty interface. displayPackage does so
// with what is nothing that it knows.
const (
	nbPackage      = "github.com/branchbook/branchbook/kernel/nb"
	displayPackage = nbPackage + "/display"
)

var (
	errorType    = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	stringerType = types.NewInterfaceType([]*types.Func{types.NewFunc(0, nil, "String",
		types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(0, nil, "", types.Typ[types.String])), false))}, nil).Complete()
)

// wrapped renders argument a, which is s already, of a compiled function whose
// parameter has type to.
func (l *lowering) wrapped(f, a ast.Expr, s string, to types.Type) (string, bool) {
	i, ok := to.Underlying().(*types.Interface)
	fn := l.foreignFunc(f)
	if !ok || fn == nil || i.NumMethods() > 0 || l.src.info.Types[a].IsNil() {
		return "", false
	}
	t := l.typeOf(a)
	switch {
	case formatting[fn.Pkg().Path()]:
		return l.formatted(t, s, 0)
	case fn.Pkg().Path() == nbPackage && fn.Name() != "JSON", fn.Pkg().Path() == displayPackage && l.interpreted(t) && !types.IsInterface(t):
		return host("Value") + "(" + quote(types.TypeString(types.Default(t), cell.Qualify)) + ", " + l.held(types.Default(t), s) + ")", true
	}
	return "", false
}

// formatsAll tells the arguments args... of a function that formats.
func (l *lowering) formatsAll(f, a ast.Expr) bool {
	s, ok := l.typeOf(a).Underlying().(*types.Slice)
	if !ok || !formatting[l.foreignPackage(f)] {
		return false
	}
	i, ok := s.Elem().Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

func (l *lowering) formatted(t types.Type, s string, depth int) (string, bool) {
	if l.interpreted(t) {
		switch {
		case types.Implements(t, errorType):
			if types.IsInterface(t) {
				return host("Error") + "(" + s + ")", true
			}
			ts := l.typ(t)
			return l.helper("text", ts, func(n string) string {
				e := l.asInterface("x", t, "error")
				if _, ok := t.Underlying().(*types.Struct); ok {
					e = l.makeError(t) + "(x)"
				}
				return "func " + n + "(x " + ts + ") interface{} { return " + host("ErrorText") + "(x, " + e + ") }"
			}) + "(" + s + ")", true
		case types.Implements(t, stringerType):
			ts := l.typ(t)
			return l.helper("text", ts, func(n string) string {
				return "func " + n + "(x " + ts + ") interface{} { return " + host("Text") + "(x, func() string { return x.String() }) }"
			}) + "(" + s + ")", true
		}
	}
	if depth > 2 {
		return "", false
	}
	if i, ok := t.Underlying().(*types.Interface); ok && i.NumMethods() == 0 {
		return host("Formatted") + "([]interface{}{" + s + "})", true
	}
	var e types.Type
	switch u := t.Underlying().(type) {
	case *types.Slice:
		e = u.Elem()
	case *types.Array:
		e = u.Elem()
	case *types.Map:
		v, ok := l.formatted(u.Elem(), "v", depth+1)
		if !ok {
			return "", false
		}
		ts := l.typ(t)
		return l.helper("texts", ts, func(n string) string {
			return "func " + n + "(x " + ts + ") interface{} { r := map[" + l.typ(u.Key()) + "]interface{}{}; for k, v := range x { r[k] = " + v + " }; return r }"
		}) + "(" + s + ")", true
	default:
		return "", false
	}
	v, ok := l.formatted(e, "v", depth+1)
	if !ok {
		return "", false
	}
	ts := l.typ(t)
	return l.helper("texts", ts, func(n string) string {
		return "func " + n + "(x " + ts + ") interface{} { r := []interface{}{}; for _, v := range x { r = append(r, " + v + ") }; return r }"
	}) + "(" + s + ")", true
}

// asInterface makes a value of type t an interface value. yaegi wraps all
// kinds of values where a variable is assigned, and no results of calls where
// they are arguments.
func (l *lowering) asInterface(s string, t types.Type, i string) string {
	if types.IsInterface(t) {
		return s
	}
	ts := l.typ(t)
	return l.helper("as", ts+", "+i, func(n string) string {
		return "func " + n + "(x " + ts + ") " + i + " { var y " + i + " = x; return y }"
	}) + "(" + s + ")"
}
