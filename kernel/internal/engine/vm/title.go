package vm

import (
	"fmt"
	"go/types"
	"strings"
)

// title is a type's name, with its type arguments as compiled Go writes them.
func title(n *types.Named) string {
	s := n.Obj().Name()
	if n.TypeArgs().Len() == 0 {
		return s
	}
	var args []string
	for t := range n.TypeArgs().Types() {
		args = append(args, written(t))
	}
	return s + "[" + strings.Join(args, ",") + "]"
}

// written is the text of a type argument: packages by their paths, no other
// names for types, spaces as in package reflect.
func written(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[t.Kind()].Name() // uint8, not byte
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil {
			return p.Path() + "." + title(t)
		}
		return title(t)
	case *types.Pointer:
		return "*" + written(t.Elem())
	case *types.Slice:
		return "[]" + written(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), written(t.Elem()))
	case *types.Map:
		return "map[" + written(t.Key()) + "]" + written(t.Elem())
	case *types.Chan:
		e := written(t.Elem())
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
		return "func" + writtenSignature(t)
	case *types.Struct:
		var fs []string
		for i := range t.NumFields() {
			f := t.Field(i)
			s := written(f.Type())
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
			ms = append(ms, qualified(m)+writtenSignature(m.Signature()))
		}
		return braced("interface", ms)
	}
	return types.TypeString(t, nil)
}

func writtenSignature(s *types.Signature) string {
	list := func(vs *types.Tuple, variadic bool) string {
		var r []string
		for v := range vs.Variables() {
			r = append(r, written(v.Type()))
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
