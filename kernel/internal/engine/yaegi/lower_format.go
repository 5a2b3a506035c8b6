package yaegi

import (
	"go/ast"
	"go/types"
	"strings"

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

// Other compiled code gets the value without what the interpreter puts around
// it, and code that looks into values gets none of that in what they hold:
//
//	json.Marshal(x)
//	json__.Marshal(host.Plain([]interface{}{x}))

// keeping are the packages whose functions hand back what they get as an empty
// interface. They get it with its methods.
var keeping = map[string]bool{"container/heap": true, "container/list": true, "container/ring": true, "context": true, "sync": true, "sync/atomic": true}

// reads tells packages that look into values.
func reads(path string) bool {
	return path == "reflect" || path == "text/template" || path == "html/template" || strings.HasPrefix(path, "encoding/")
}

// wrapped renders argument a at place n, which is s already, of a compiled
// function whose parameter has type to.
func (l *lowering) wrapped(f ast.Expr, n int, a ast.Expr, s string, to types.Type) (string, bool) {
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
	case keeping[fn.Pkg().Path()] && !isKey(fn, n):
		return host("Key") + "([]interface{}{" + l.converted(a, s, to) + "})", true
	case reads(fn.Pkg().Path()) && (types.IsInterface(t) || holdsAny(t, 0)):
		return host("Plain") + "([]interface{}{" + s + "})", true
	case types.IsInterface(t):
		return host("Bare") + "([]interface{}{" + s + "})", true
	}
	return "", false
}

// isKey tells parameters that are compared.
func isKey(fn *types.Func, n int) bool {
	p := fn.Signature().Params()
	return n < p.Len() && p.At(n).Name() == "key"
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
				e := l.makeError(t) + "(x)"
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
