package yaegi

import (
	"go/types"
	"maps"
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
//	type buffer ...; type iter ...; var force__1 iter; var b buffer
//
// While it makes the first, it notes where the others refer to types that are
// not finished yet, and then takes all those for one and the same type. So the
// first must be one such that the others refer, of the unfinished, to it alone:
//
//	type edge struct{ to *node }; type node struct{ next *node; edges []*edge }
//	type edge ...; type node ...; var force__1 node
//
// What the others are made of alone is made before. There is no such type where
// two structs refer to themselves and to each other.

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

// parts names the types that t is made of, in the order in which yaegi makes
// them. It makes none for the methods of an interface.
func (l *lowering) parts(t types.Type) string {
	switch t := types.Unalias(l.subst(t)).(type) {
	case *types.Named:
		if l.ours(t.Obj()) {
			return l.typ(t)
		}
	case *types.Pointer:
		return l.parts(t.Elem())
	case *types.Slice:
		return l.parts(t.Elem())
	case *types.Array:
		return l.parts(t.Elem())
	case *types.Chan:
		return l.parts(t.Elem())
	case *types.Map:
		return l.parts(t.Key()) + l.parts(t.Elem())
	case *types.Tuple:
		s := ""
		for v := range t.Variables() {
			s += l.parts(v.Type())
		}
		return s
	case *types.Signature:
		return l.parts(t.Params()) + l.parts(t.Results())
	case *types.Struct:
		s := ""
		for f := range t.Fields() {
			s += l.parts(f.Type())
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
	var r []*piece
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
	if forced := l.forced(types); len(forced) > 0 {
		for _, q := range pieces {
			if q.name != nil && types[q.name.id] == q {
				add(q)
			}
		}
		r = append(r, forced...)
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
	for _, id := range first(types, held, outer) {
		n := l.add("force", varName)
		n.current = l.numbered("force")
		r = append(r, &piece{name: n, text: "var " + nameRef(n.id) + " " + nameRef(id)})
	}
	return r
}

// first lists the types that must be made first, in order: the outer ones, and
// where yaegi would make some type wrong, all that it makes right, those that
// others are made of before the others.
func first(types map[int]*piece, held, outer map[int]bool) (list []int) {
	all := slices.Sorted(maps.Keys(types))
	wrong := slices.ContainsFunc(all, func(id int) bool { return !makes(types, id, map[int]bool{}) })
	seen, made := map[int]bool{}, map[int]bool{}
	var visit func(id int)
	visit = func(id int) {
		if types[id] == nil || seen[id] {
			return
		}
		seen[id] = true
		for _, part := range ids(types[id].parts) {
			visit(part)
		}
		if held[id] || made[id] {
			return
		}
		if with := maps.Clone(made); outer[id] || wrong && refers(types, id, id) && makes(types, id, with) {
			list = append(list, id)
			maps.Copy(made, with)
		}
	}
	for _, id := range all {
		visit(id)
	}
	return list
}

// makes tells whether yaegi makes the types right that type first is made of
// when it begins with that: they refer, of the unfinished, to first alone. It
// adds them to those that are made.
func makes(types map[int]*piece, first int, made map[int]bool) bool {
	begun := map[int]bool{}
	var visit func(id int) bool
	visit = func(id int) bool {
		begun[id] = true
		for _, part := range ids(types[id].parts) {
			switch {
			case types[part] == nil || made[part]:
			case begun[part]:
				if id != first && part != first {
					return false
				}
			case !visit(part):
				return false
			}
		}
		made[id] = true
		return true
	}
	return visit(first)
}

// refers tells whether type from is made of type to, directly or not.
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
		for _, part := range ids(types[id].parts) {
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
