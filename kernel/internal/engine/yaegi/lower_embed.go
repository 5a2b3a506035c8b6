package yaegi

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Methods of embedded interfaces.
//
// yaegi does not find the methods that a struct has from an interface in it.
// The type gets them as its own:
//
//	type T struct{ sort.Interface }
//	type T struct{ sort.Interface }; func (x T) Len() int { return x.Interface.Len() } ...

// forwards adds the methods that a type has from interfaces embedded in it.
func (l *lowering) forwards(ref string, named *types.Named, add func(text string, pos token.Pos, fn string)) {
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := range st.NumFields() {
		f := st.Field(i)
		if !f.Embedded() || !types.IsInterface(f.Type()) {
			continue
		}
		for s := range types.NewMethodSet(named).Methods() {
			if len(s.Index()) != 2 || s.Index()[0] != i {
				continue
			}
			sig := l.subst(s.Type()).(*types.Signature)
			var ps, as []string
			for k, p := range l.params(sig) {
				a := "a" + strconv.Itoa(k) + "__"
				ps, as = append(ps, a+" "+p), append(as, a)
			}
			dots, res, back := "", "", ""
			if sig.Variadic() {
				dots = "..."
			}
			if sig.Results().Len() > 0 {
				res, back = " ("+strings.Join(l.types(sig.Results()), ", ")+")", "return "
			}
			m := s.Obj().Name()
			add("func (x__ "+ref+") "+m+"("+strings.Join(ps, ", ")+")"+res+" { "+back+"x__."+l.fieldName(f)+"."+m+"("+strings.Join(as, ", ")+dots+") }",
				named.Obj().Pos(), named.Obj().Name()+"."+m)
		}
	}
}
