package vm

import (
	"reflect"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// lookup compiles m[k].
func (k *compiler) lookup(v *ssa.Lookup) op {
	m, key, here := k.slot(v.X), k.slot(v.Index), k.spot(v.Pos())
	t := k.typ(v.X)
	rt, elem := rtype.Of(t), rtype.Of(t.Elem())
	how := kindOf(t.Elem())
	if v.CommaOk {
		z, ok := k.tuples[v][0].off, k.tuples[v][1].off
		return func(fr *frame) {
			fr.at = here
			p := rtype.MapGet(rt, *at[unsafe.Pointer](fr, m), slot(fr, key))
			*at[bool](fr, ok) = p != nil
			if p == nil {
				rtype.Clear(elem, slot(fr, z))
			} else {
				copyValue(how, elem, slot(fr, z), p)
			}
		}
	}
	z := k.slot(v)
	assigned := k.assigned(v)
	return func(fr *frame) {
		fr.at = here
		if assigned && lenOf(*at[unsafe.Pointer](fr, m)) == 0 {
			rtype.Clear(elem, slot(fr, z))
		} else if p := rtype.MapGet(rt, *at[unsafe.Pointer](fr, m), slot(fr, key)); p != nil {
			copyValue(how, elem, slot(fr, z), p)
		} else {
			rtype.Clear(elem, slot(fr, z))
		}
	}
}

// assigned tells the m[k] of m[k] op= x, where compiled Go only looks for the
// place to assign to: what is wrong with the key is that place's panic.
func (k *compiler) assigned(v *ssa.Lookup) bool {
	for _, i := range *v.Referrers() {
		x, ok := i.(*ssa.BinOp)
		if !ok {
			continue
		}
		for _, i := range *x.Referrers() {
			if u, ok := i.(*ssa.MapUpdate); ok && u.Map == v.X && u.Key == v.Index && u.Pos() == v.Pos() {
				return true
			}
		}
	}
	return false
}

func lenOf(m unsafe.Pointer) int {
	if m == nil {
		return 0
	}
	return *(*int)(m) // the first word of a map, for compilers too
}

func (k *compiler) mapUpdate(v *ssa.MapUpdate) op {
	m, key, x, here := k.slot(v.Map), k.slot(v.Key), k.slot(v.Value), k.spot(v.Pos())
	rt := rtype.Of(k.typ(v.Map))
	return func(fr *frame) {
		fr.at = here
		rtype.MapSet(rt, *at[unsafe.Pointer](fr, m), slot(fr, key), slot(fr, x))
	}
}

// textIter ranges over a string.
type textIter struct {
	text string
	at   int
}

// iterate compiles the start of a range over a map or a string.
func (k *compiler) iterate(v *ssa.Range) op {
	z, x, t := k.slot(v), k.slot(v.X), k.typ(v.X)
	if t.Kind() == reflect.String {
		return func(fr *frame) {
			*at[unsafe.Pointer](fr, z) = unsafe.Pointer(&textIter{text: *at[string](fr, x)})
		}
	}
	return func(fr *frame) {
		*at[unsafe.Pointer](fr, z) = unsafe.Pointer(reflect.NewAt(t, slot(fr, x)).Elem().MapRange())
	}
}

func (k *compiler) next(v *ssa.Next) op {
	iter, r := k.slot(v.Iter), k.tuples[v]
	ok := r[0].off
	if v.IsString {
		key, elem := r[1], r[2]
		return func(fr *frame) {
			it := *at[*textIter](fr, iter)
			*at[bool](fr, ok) = it.at < len(it.text)
			if it.at == len(it.text) {
				return
			}
			c, n := utf8.DecodeRuneInString(it.text[it.at:])
			if key.typ != nil {
				*at[int](fr, key.off) = it.at
			}
			if elem.typ != nil {
				*at[rune](fr, elem.off) = c
			}
			it.at += n
		}
	}
	key, elem := r[1], r[2]
	return func(fr *frame) {
		it := *at[*reflect.MapIter](fr, iter)
		more := it.Next()
		*at[bool](fr, ok) = more
		if !more {
			return
		}
		if key.typ != nil {
			reflect.NewAt(key.typ, slot(fr, key.off)).Elem().SetIterKey(it)
		}
		if elem.typ != nil {
			reflect.NewAt(elem.typ, slot(fr, elem.off)).Elem().SetIterValue(it)
		}
	}
}
