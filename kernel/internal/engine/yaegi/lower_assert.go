package yaegi

import (
	"go/types"
)

// Assertions to compiled interfaces.
//
// yaegi makes the wrapper of an interpreted value in the frame of the
// assertion, where other variables stand in the value's place, and finds no
// methods of pointers in empty interfaces. The host knows the methods of every
// type, see lower_reveal.go, and makes the wrapper of them:
//
//	s, ok := x.(fmt.Stringer)
//	s, ok := maybe__1(x)
//
//	func is__1(x interface{}) bool { return host.Implements([]interface{}{x}, "fmt", "Stringer") }
//	func to__1(x interface{}) fmt.Stringer { return host.Assert([]interface{}{x}, "fmt", "Stringer").(fmt.Stringer) }
//	func maybe__1(x interface{}) (fmt.Stringer, bool) { if is__1(x) { return to__1(x), true }; return nil, false }

// assertion renders x.(to) with one result.
func (l *lowering) assertion(x string, from, to types.Type) string {
	if types.IsInterface(to) && l.compiled(to) {
		return l.toCompiled("to", from, to) + "(" + x + ")"
	}
	return l.asserted(x, from, to) + ".(" + l.typ(to) + ")"
}

// toCompiled is the function is, to or maybe for an interface type.
func (l *lowering) toCompiled(which string, from, to types.Type) string {
	fs, ts := l.typ(from), l.typ(to)
	o := types.Unalias(to).(*types.Named).Obj()
	path := ""
	if o.Pkg() != nil {
		path = o.Pkg().Path()
	}
	args := "([]interface{}{x}, " + quote(path) + ", " + quote(o.Name()) + ")"
	return l.helper(which, fs+", "+ts, func(n string) string {
		head := "func " + n + "(x " + fs + ") "
		switch which {
		case "is":
			return head + "bool { return " + host("Implements") + args + " }"
		case "to":
			return head + ts + " { return " + host("Assert") + args + ".(" + ts + ") }"
		}
		return head + "(" + ts + ", bool) { if " + l.toCompiled("is", from, to) + "(x) { return " + l.toCompiled("to", from, to) + "(x), true }; return nil, false }"
	})
}
