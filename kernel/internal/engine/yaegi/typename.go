package yaegi

import (
	"fmt"
	"go/token"
	"go/types"
)

// goType is the name of a type as reflection gives it.
func goType(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if types.Default(t) != t {
			return goType(types.Default(t))
		}
		return types.Typ[t.Kind()].Name()
	case *types.Named:
		o := t.Obj()
		if o.Pkg() == nil {
			return o.Name()
		}
		s := o.Pkg().Name() + "." + o.Name()
		if args := t.TypeArgs(); args.Len() > 0 {
			s += "["
			for i := range args.Len() {
				if i > 0 {
					s += ","
				}
				s += goType(args.At(i))
			}
			s += "]"
		}
		return s
	case *types.Pointer:
		return "*" + goType(t.Elem())
	case *types.Slice:
		return "[]" + goType(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), goType(t.Elem()))
	case *types.Map:
		return "map[" + goType(t.Key()) + "]" + goType(t.Elem())
	case *types.Chan:
		return map[types.ChanDir]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()] + goType(t.Elem())
	case *types.Signature:
		return "func" + goSignature(t)
	case *types.Struct:
		s := "struct {"
		for i := range t.NumFields() {
			if i > 0 {
				s += ";"
			}
			if f := t.Field(i); f.Embedded() {
				s += " " + goType(f.Type())
			} else {
				s += " " + f.Name() + " " + goType(f.Type())
			}
			if tag := t.Tag(i); tag != "" {
				s += fmt.Sprintf(" %q", tag)
			}
		}
		if t.NumFields() > 0 {
			s += " "
		}
		return s + "}"
	case *types.Interface:
		s := "interface {"
		for i := range t.NumMethods() {
			if i > 0 {
				s += ";"
			}
			m := t.Method(i)
			s += " "
			if !token.IsExported(m.Name()) {
				s += m.Pkg().Name() + "."
			}
			s += m.Name() + goSignature(m.Signature())
		}
		if t.NumMethods() > 0 {
			s += " "
		}
		return s + "}"
	}
	return t.String()
}

func goSignature(t *types.Signature) string {
	list := func(tuple *types.Tuple, variadic bool) string {
		s := ""
		for i := range tuple.Len() {
			if i > 0 {
				s += ", "
			}
			v := tuple.At(i).Type()
			if sl, ok := v.(*types.Slice); ok && variadic && i == tuple.Len()-1 {
				s += "..." + goType(sl.Elem())
			} else {
				s += goType(v)
			}
		}
		return s
	}
	s := "(" + list(t.Params(), t.Variadic()) + ")"
	switch r := t.Results(); r.Len() {
	case 0:
		return s
	case 1:
		return s + " " + list(r, false)
	default:
		return s + " (" + list(r, false) + ")"
	}
}
