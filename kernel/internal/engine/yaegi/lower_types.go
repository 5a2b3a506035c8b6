package yaegi

import (
	"go/types"
	"slices"
)

// The order of types.
//
// yaegi does not always go back to a type that was incomplete, so types stand
// behind those that they hold. Of types that hold each other through a function
// it makes the first one that is asked for, and takes it for a pointer where
// another holds it by value; the memory that it lays out then is another's. It
// is asked for the one that is held by none first:
//
//	type iter struct{ b buffer }; type buffer struct{ next func(*iter) }; var b buffer
//	var force__1 iter; type buffer ...; type iter ...; var b buffer

// holds names the types whose values are part of t's: what t is defined as, its
// elements and fields, but not what it points to.
func (l *lowering) holds(t types.Type) string {
	switch t := types.Unalias(l.subst(t)).(type) {
	case *types.Named:
		if l.ours(t.Obj()) {
			return l.typ(t)
		}
	case *types.Array:
		return l.holds(t.Elem())
	case *types.Struct:
		s := ""
		for f := range t.Fields() {
			s += l.holds(f.Type())
		}
		return s
	}
	return ""
}

// inTypeOrder moves the declarations of types behind those of the types that
// they hold.
func (l *lowering) inTypeOrder(pieces []*piece) []*piece {
	types := map[int]*piece{}
	for _, q := range pieces {
		if q.name != nil && q.name.kind == typeName && types[q.name.id] == nil {
			types[q.name.id] = q
		}
	}
	r := l.forced(types)
	done := map[*piece]bool{}
	var add func(q *piece)
	add = func(q *piece) {
		if done[q] {
			return
		}
		done[q] = true
		if q.name != nil && types[q.name.id] == q {
			spell(q.holds, func(id int) string {
				if other := types[id]; other != nil {
					add(other)
				}
				return ""
			})
		}
		r = append(r, q)
	}
	for _, q := range pieces {
		add(q)
	}
	return r
}

// forced are variables of the types that must be made first.
func (l *lowering) forced(types map[int]*piece) (r []*piece) {
	held := map[int]bool{} // by another that it refers to in turn
	outer := map[int]bool{}
	for id, q := range types {
		for _, part := range ids(q.holds) {
			if types[part] != nil && part != id && refers(types, part, id) {
				held[part], outer[id] = true, true
			}
		}
	}
	var list []int
	for id := range outer {
		if !held[id] {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	for _, id := range list {
		n := l.add("force", varName)
		n.current = l.numbered("force")
		r = append(r, &piece{name: n, text: "var " + nameRef(n.id) + " " + nameRef(id)})
	}
	return r
}

// refers tells whether type from is made of type to, in whatever way.
func refers(types map[int]*piece, from, to int) bool {
	seen := map[int]bool{}
	todo := []int{from}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if seen[id] || types[id] == nil {
			continue
		}
		seen[id] = true
		for _, part := range ids(types[id].text) {
			if part == to {
				return true
			}
			todo = append(todo, part)
		}
	}
	return false
}

// ids are the names that lowered text refers to.
func ids(text string) (r []int) {
	spell(text, func(id int) string { r = append(r, id); return "" })
	return r
}
