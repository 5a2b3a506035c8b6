package yaegi

import (
	"go/token"
	"go/types"
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
			t := l.forward(l.subst(s.Type()).(*types.Signature), "__")
			m := s.Obj().Name()
			add("func (x__ "+ref+") "+m+t.params+t.results+" { "+t.ret+"x__."+l.fieldName(f)+"."+m+t.args+" }",
				named.Obj().Pos(), named.Obj().Name()+"."+m)
		}
	}
}
