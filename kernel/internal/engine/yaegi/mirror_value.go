package yaegi

import (
	"cmp"
	"go/types"
	"reflect"
	"slices"
)

// name is a type's, for %#v.
func (p *mirrorPrinter) name(v reflect.Value, t types.Type) string {
	if t != nil {
		return goType(t)
	}
	return v.Type().String()
}

// The parts of values follow package fmt's printValue.

func (p *mirrorPrinter) aStruct(v reflect.Value, t, under types.Type, depth int, hidden bool) {
	st, _ := under.(*types.Struct)
	if st != nil && st.NumFields() != v.NumField() { // of an earlier type of the name
		st = nil
	}
	if p.sharp {
		p.print(p.name(v, t))
	}
	p.print("{")
	for i := range v.NumField() {
		if i > 0 && p.sharp {
			p.print(", ")
		} else if i > 0 {
			p.print(" ")
		}
		name, private := v.Type().Field(i).Name, v.Type().Field(i).PkgPath != ""
		var ft types.Type
		if st != nil {
			name, ft = st.Field(i).Name(), st.Field(i).Type()
			private = !st.Field(i).Exported()
		}
		if p.plus || p.sharp {
			p.print(name + ":")
		}
		p.value(v.Field(i), ft, depth+1, hidden || private)
	}
	p.print("}")
}

func (p *mirrorPrinter) list(v reflect.Value, t, under types.Type, depth int, hidden bool) {
	var elem types.Type
	switch u := under.(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem = u.Elem()
	}
	if v.Type().Elem().Kind() == reflect.Uint8 && !p.sharp {
		switch p.verb {
		case 's', 'q', 'x', 'X':
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			p.leaf(b)
			return
		}
	}
	open, sep, end := "[", " ", "]"
	if p.sharp {
		p.print(p.name(v, t))
		if v.Kind() == reflect.Slice && v.IsNil() {
			p.print("(nil)")
			return
		}
		open, sep, end = "{", ", ", "}"
	}
	p.print(open)
	for i := range v.Len() {
		if i > 0 {
			p.print(sep)
		}
		p.value(v.Index(i), elem, depth+1, hidden)
	}
	p.print(end)
}

func (p *mirrorPrinter) aMap(v reflect.Value, t, under types.Type, depth int, hidden bool) {
	var key, elem types.Type
	if m, ok := under.(*types.Map); ok {
		key, elem = m.Key(), m.Elem()
	}
	open, sep, end := "map[", " ", "]"
	if p.sharp {
		p.print(p.name(v, t))
		if v.IsNil() {
			p.print("(nil)")
			return
		}
		open, sep, end = "{", ", ", "}"
	}
	p.print(open)
	for i, k := range sortedKeys(v) {
		if i > 0 {
			p.print(sep)
		}
		e := v.MapIndex(k)
		if k.Kind() == reflect.Interface {
			k = k.Elem()
		}
		if k.IsValid() && k.Type() == reflect.TypeFor[keyed]() {
			typ := k.Interface().(keyed)
			p.value(reflect.ValueOf(typ.IValue), p.e.types.get(typ.typ), depth+1, hidden)
		} else {
			p.value(k, key, depth+1, hidden)
		}
		p.print(":")
		p.value(e, elem, depth+1, hidden)
	}
	p.print(end)
}

// sortedKeys are a map's keys in the order in which fmt prints them.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortStableFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b reflect.Value) int {
	if a.Kind() == reflect.Interface && b.Kind() == reflect.Interface {
		if a.IsNil() || b.IsNil() {
			return cmp.Compare(boolInt(!a.IsNil()), boolInt(!b.IsNil()))
		}
		a, b = reflect.ValueOf(core(a.Interface())), reflect.ValueOf(core(b.Interface()))
		if a.Kind() != b.Kind() {
			return cmp.Compare(a.Kind(), b.Kind())
		}
	}
	switch {
	case a.Kind() != b.Kind():
		return 0
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool:
		return cmp.Compare(boolInt(a.Bool()), boolInt(b.Bool()))
	case a.Kind() == reflect.Pointer, a.Kind() == reflect.Chan:
		return cmp.Compare(a.Pointer(), b.Pointer())
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if c := compareKeys(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	case a.Kind() == reflect.Array:
		for i := range a.Len() {
			if c := compareKeys(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
