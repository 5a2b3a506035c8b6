package yaegi

import (
	"fmt"
	"go/types"
	"strings"
)

// Assertions to interfaces.
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
//
// An interface that a cell declares is found where the interpreter's wrapper
// knows the type. Else the host looks for methods, and the value gets a type
// that has them:
//
//	s, ok := x.(shape)
//	s, ok := maybe__2(x)
//
//	type face__3 struct { IValue interface{}; area__f func() float64 }
//	func (f face__3) area() float64 { return f.area__f() }
//	func maybe__2(x interface{}) (shape, bool) {
//		if y, ok := host.Any(x).(shape); ok { return y, true }
//		f := face__3{}
//		if !host.Bind([]interface{}{x}, "area", &f.area__f) { return nil, false }
//		f.IValue = x; var y shape = f; return y, true }

// Assertions to other types.
//
// To yaegi types of the same shape are the same, but its wrapper of a value in
// an interface knows the type, as the host's of an error does. Only structs
// are told apart by their tags, see lower_struct.go. The host looks:
//
//	c, ok := x.(celsius)
//	c, ok := maybe__1(x)
//
//	func maybe__1(x interface{}) (celsius, bool) {
//		var y celsius; ok := host.CastAny(x, "main.celsius", &y); return y, ok }

// assertion renders x.(to) with one result.
func (l *lowering) assertion(x string, from, to types.Type) string {
	if l.asserts(from, to) || l.interpreted(to) && !types.IsInterface(to) { // else its panic names yaegi's type
		return l.toType("to", from, to) + "(" + x + ")"
	}
	return l.asserted(x, from, to) + ".(" + l.typ(to) + ")"
}

// asserts tells assertions that are not left to yaegi.
func (l *lowering) asserts(from, to types.Type) bool {
	if types.IsInterface(to) {
		return l.compiled(to) || !empty(to)
	}
	return l.mayBeConfused(to) || l.interpreted(to) && l.methodful(to) && (empty(from) || l.compiled(from))
}

// toType is the function is, to or maybe for a type.
func (l *lowering) toType(which string, from, to types.Type) string {
	if types.IsInterface(to) {
		return l.toInterface(which, from, to)
	}
	fs, ts := l.typ(from), l.typ(to)
	return l.helper(which, fs+", "+ts, func(n string) string {
		head := "func " + n + "(x " + fs + ") "
		switch which {
		case "is":
			return head + "bool { _, ok := " + l.toType("maybe", from, to) + "(x); return ok }"
		case "to":
			return head + ts + " { y, ok := " + l.toType("maybe", from, to) + "(x); if !ok { " +
				host("Mismatch") + "([]interface{}{x}, " + quote(types.TypeString(from, pathless)) + ", " + quote(types.TypeString(to, pathless)) + ") }; return y }"
		}
		cast, held := "Cast", "[]interface{}{x}"
		if empty(from) { // the variable holds what the slice would
			cast, held = "CastAny", "x"
		}
		return head + "(" + ts + ", bool) { var y " + ts + "; ok := " + host(cast) + "(" + held + ", " + l.quoted(to) + ", &y); return y, ok }"
	})
}

// pathless names packages as runtime errors do.
func pathless(p *types.Package) string { return p.Name() }

// toInterface is the function is, to or maybe for an interface type.
func (l *lowering) toInterface(which string, from, to types.Type) string {
	if !l.compiled(to) {
		return l.toInterpreted(which, from, to)
	}
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
		return head + "(" + ts + ", bool) { if " + l.toInterface("is", from, to) + "(x) { return " + l.toInterface("to", from, to) + "(x), true }; return nil, false }"
	})
}

func (l *lowering) toInterpreted(which string, from, to types.Type) string {
	fs, ts := l.typ(from), l.typ(to)
	return l.helper(which, fs+", "+ts, func(n string) string {
		head := "func " + n + "(x " + fs + ") "
		var names []string
		for m := range to.Underlying().(*types.Interface).Methods() {
			names = append(names, quote(m.Name()))
		}
		switch which {
		case "is":
			return head + "bool { _, ok := " + l.toInterface("maybe", from, to) + "(x); return ok }"
		case "to":
			return head + ts + " { y, ok := " + l.toInterface("maybe", from, to) + "(x); if !ok { " +
				host("Lacks") + "([]interface{}{x}, " + quote(types.TypeString(to, pathless)) + ", " + strings.Join(names, ", ") + ") }; return y }"
		}
		face := l.face(to)
		var b strings.Builder
		b.WriteString(head + "(" + ts + ", bool) { if y, ok := " + host("Any") + "(x).(" + ts + "); ok { return y, true }; f := " + face + "{}; ")
		for m := range to.Underlying().(*types.Interface).Methods() {
			fmt.Fprintf(&b, "if !%s([]interface{}{x}, %q, &f.%s__f) { return nil, false }; ", host("Bind"), m.Name(), m.Name())
		}
		return b.String() + "f.IValue = x; var y " + ts + " = f; return y, true }"
	})
}

// face is the name of a type with the methods of an interface.
func (l *lowering) face(to types.Type) string {
	ts := l.typ(to)
	return l.helper("face", ts, func(n string) string {
		fields, methods := "", ""
		for m := range to.Underlying().(*types.Interface).Methods() {
			sig := l.subst(m.Type()).(*types.Signature)
			fields += "; " + m.Name() + "__f func" + l.signature(sig)
			t := l.forward(sig, "")
			methods += "\nfunc (f " + n + ") " + m.Name() + t.params + t.results + " { " + t.ret + "f." + m.Name() + "__f" + t.args + " }"
		}
		return "type " + n + " struct { IValue interface{}" + fields + " }" + methods
	})
}
