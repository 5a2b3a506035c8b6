package yaegi

import (
	"go/types"
	"strings"
)

// Methods of values whose type is not known where they are shown.
//
// An interpreted value in an interface has no methods in compiled code. The
// host learns, of every type, the methods that a display or fmt looks for; the
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
		for _, m := range displayMethods {
			s := set.Lookup(nil, m.name)
			if s == nil || types.TypeString(s.Type(), nil) != displaySignatures[m.name] {
				continue
			}
			sig := strings.Replace(displaySignatures[m.name], "func()", "func(x "+star+ref+")", 1)
			l.methods = append(l.methods, host("Method")+`("`+star+"main."+ref+`", "`+m.name+`", `+
				strings.Replace(sig, "any", "interface{}", 1)+" { return x."+m.name+"() })")
		}
	}
}

// held puts a value of type t where the interpreter keeps its type. The
// elements of a slice or map of an interpreted type go with their text.
func (l *lowering) held(t types.Type, s string) string {
	if !l.interpreted(t) && !holdsAny(t) {
		if f, ok := l.formatted(t, s, 0); ok {
			s = f
		}
	}
	return "[]interface{}{" + s + "}"
}

// holdsAny tells slices, arrays and maps of values of any type.
func holdsAny(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return holdsAny(u.Elem())
	case *types.Array:
		return holdsAny(u.Elem())
	case *types.Map:
		return holdsAny(u.Elem())
	case *types.Interface:
		return u.NumMethods() == 0
	}
	return false
}
