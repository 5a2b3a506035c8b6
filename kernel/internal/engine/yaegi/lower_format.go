package yaegi

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
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
	case fn.FullName() == "fmt.Errorf" && l.interpreted(t) && !types.IsInterface(t) && types.Implements(t, errorType):
		return l.makeError(t) + "(" + s + ")", true // it may be what the new one wraps
	case formatting[fn.Pkg().Path()]:
		return l.formatted(t, s)
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

// %T asks no value, and %p no method. A format that has one goes to the host:
//
//	fmt.Printf("%T %v\n", x, y)
//	fmt__.Printf("%s", host.Sprintf("%T %v\n", []interface{}{x, y}))

var typeVerb = regexp.MustCompile(`%[-+# 0-9.*\[\]]*[Tp]`)

// typeVerbs renders a call with such a format.
func (l *lowering) typeVerbs(c *ast.CallExpr) (string, bool) {
	fn := l.foreignFunc(c.Fun)
	if fn == nil || !formatting[fn.Pkg().Path()] || fn.Name() == "Errorf" || c.Ellipsis.IsValid() {
		return "", false
	}
	params := fn.Signature().Params()
	k := params.Len() - 2
	if k < 0 || params.At(k).Name() != "format" || len(c.Args) <= k {
		return "", false
	}
	format := l.src.info.Types[c.Args[k]].Value
	if format == nil || !typeVerb.MatchString(constant.StringVal(format)) {
		return "", false
	}
	var as []string
	for i, a := range c.Args[k+1:] {
		s := l.text(a)
		if w, ok := l.wrapped(c.Fun, k+1+i, a, s, types.NewInterfaceType(nil, nil)); ok {
			s = w
		} else if t := l.typeOf(a); l.interpreted(t) || holdsNamed(t) {
			s = host("Mirror") + "(" + s + ", " + l.typeName(t) + ")"
		}
		as = append(as, s)
	}
	head := l.texts(c.Args[:k])
	if head != "" {
		head += ", "
	}
	return l.text(c.Fun) + "(" + head + `"%s", ` + host("Sprintf") + "(" + l.text(c.Args[k]) + ", []interface{}{" + strings.Join(as, ", ") + "}))", true
}

// holdsNamed tells types that are made of others, whose names reflection may
// not see.
func holdsNamed(t types.Type) bool {
	switch types.Unalias(t).(type) {
	case *types.Basic, *types.Named:
		return false
	}
	return true
}

// formatted renders s, of type t, for fmt, where that would not format it
// right.
func (l *lowering) formatted(t types.Type, s string) (string, bool) {
	switch {
	case types.IsInterface(t):
		if types.Implements(t, errorType) {
			return host("Error") + "(" + s + ")", true
		}
		return host("Formatted") + "([]interface{}{" + s + "})", true
	case l.interpreted(t) && types.Implements(t, errorType):
		ts := l.typ(t)
		return l.helper("text", ts, func(n string) string {
			return "func " + n + "(x " + ts + ") interface{} { return " + host("ErrorText") + "(x, " + l.makeError(t) + "(x), " + l.typeName(t) + ") }"
		}) + "(" + s + ")", true
	case l.mirrored(t, nil):
		return host("Mirror") + "(" + s + ", " + l.typeName(t) + ")", true
	}
	return "", false
}

// typeName is a literal of the name by which the host knows type t.
func (l *lowering) typeName(t types.Type) string {
	t = l.subst(t)
	name := strings.Trim(l.quoted(t), `"`)
	if name == "" || name == "*" { // not strconv.Quote: the marks of names have to stay
		name = strings.NewReplacer(`"`, "'", `\`, "/").Replace(unmarked(l.typ(t)))
	}
	l.known[name] = t
	return `"` + name + `"`
}

// mirrored tells types that hold what reflection does not see: methods, and
// the names of types and fields.
func (l *lowering) mirrored(t types.Type, seen []types.Type) bool {
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	n, isNamed := types.Unalias(t).(*types.Named)
	if isNamed && !l.interpreted(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return isNamed && (n.NumMethods() > 0 || len(seen) > 1)
	case *types.Pointer:
		return l.mirrored(u.Elem(), seen)
	case *types.Slice:
		return isNamed || l.mirrored(u.Elem(), seen)
	case *types.Array:
		return isNamed || l.mirrored(u.Elem(), seen)
	case *types.Map:
		return isNamed || l.mirrored(u.Key(), seen) || l.mirrored(u.Elem(), seen)
	case *types.Struct:
		return u.NumFields() > 0 || isNamed
	case *types.Interface:
		return true
	}
	return false
}
