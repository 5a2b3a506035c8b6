package yaegi

import (
	"go/types"
)

// Methods of values whose type is not known where they are shown.
//
// An interpreted value in an interface has no methods in compiled code. The
// host learns the methods of every type that a cell declares; the
// interpreter's wrapper of an interface value says which type it is. A slice
// keeps the wrapper on the way.
//
//	type T int; func (t T) String() string {...}; nb.Display(x)
//	func init() { host.Method("main.T", "String", func(x T) string { return x.String() }) }
//	nb__.Display(host.Value("any", []interface{}{x}))

// methodsOf notes the registration of the methods of a new type.
func (l *lowering) methodsOf(ref string, t types.Type) {
	if types.IsInterface(t) {
		return
	}
	for _, star := range []string{"", "*"} {
		if star != "" {
			t = types.NewPointer(t)
		}
		set := types.NewMethodSet(t)
		for s := range set.Methods() {
			m := s.Obj().(*types.Func)
			if !l.callable(m) { // promoted
				continue
			}
			f := l.forward(l.subst(s.Type()).(*types.Signature), "", "x "+star+ref)
			l.methods = append(l.methods, host("Method")+`("`+star+"main."+ref+`", "`+m.Name()+`", func`+f.params+f.results+
				" { "+f.ret+"x."+m.Name()+f.args+" })")
		}
	}
}

// callable tells methods that lowered text may call.
func (l *lowering) callable(m *types.Func) bool {
	if m.Exported() || m.Pkg().Path() == "main" {
		return true
	}
	n, ok := types.Unalias(deref(m.Signature().Recv().Type())).(*types.Named)
	return ok && l.ours(n.Origin().Obj())
}

// held puts a value of type t where the interpreter keeps its type. The
// elements of a slice or map of an interpreted type go with their text.
func (l *lowering) held(t types.Type, s string) string {
	if !l.interpreted(t) && !holdsAny(t, 0) {
		if f, ok := l.withTexts(t, s, 0); ok {
			s = f
		}
	}
	return "[]interface{}{" + s + "}"
}

// withTexts renders s, of type t, with the texts of what has methods in it.
func (l *lowering) withTexts(t types.Type, s string, depth int) (string, bool) {
	if l.interpreted(t) {
		switch {
		case types.Implements(t, errorType):
			if types.IsInterface(t) {
				return host("Error") + "(" + s + ")", true
			}
			ts := l.typ(t)
			return l.helper("text", ts, func(n string) string {
				return "func " + n + "(x " + ts + ") interface{} { return " + host("ErrorText") + "(x, " + l.makeError(t) + "(x), " + l.typeName(t) + ") }"
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
		v, ok := l.withTexts(u.Elem(), "v", depth+1)
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
	v, ok := l.withTexts(e, "v", depth+1)
	if !ok {
		return "", false
	}
	ts := l.typ(t)
	return l.helper("texts", ts, func(n string) string {
		return "func " + n + "(x " + ts + ") interface{} { r := []interface{}{}; for _, v := range x { r = append(r, " + v + ") }; return r }"
	}) + "(" + s + ")", true
}

// holdsAny tells slices, arrays and maps of values of any type.
func holdsAny(t types.Type, depth int) bool {
	if depth > 2 { // as deep as formatted goes; a type can be a slice of itself
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return holdsAny(u.Elem(), depth+1)
	case *types.Array:
		return holdsAny(u.Elem(), depth+1)
	case *types.Map:
		return holdsAny(u.Elem(), depth+1)
	case *types.Interface:
		return u.NumMethods() == 0
	}
	return false
}
