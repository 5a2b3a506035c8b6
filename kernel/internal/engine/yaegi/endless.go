package yaegi

import "go/types"

// Types that are made of themselves. yaegi compiles few of their uses.

// endless tells types like type T []T and type F func() F: t is part of n and
// leads back to it through no struct and no interface.
func endless(n *types.Named, t types.Type) bool {
	seen := map[types.Type]bool{}
	var follow func(t types.Type) bool
	follow = func(t types.Type) bool {
		if m, ok := types.Unalias(t).(*types.Named); ok {
			if m == n {
				return true
			}
			if seen[m] || m.TypeArgs().Len() > 0 {
				return false
			}
			seen[m] = true
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			return follow(u.Elem())
		case *types.Slice:
			return follow(u.Elem())
		case *types.Array:
			return follow(u.Elem())
		case *types.Chan:
			return follow(u.Elem())
		case *types.Map:
			return follow(u.Key()) || follow(u.Elem())
		case *types.Signature:
			for v := range u.Params().Variables() {
				if follow(v.Type()) {
					return true
				}
			}
			for v := range u.Results().Variables() {
				if follow(v.Type()) {
					return true
				}
			}
		}
		return false
	}
	return follow(t)
}

// array tells types of pointers and arrays only.
func array(t types.Type) bool {
	array := false
	for range 20 {
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Array:
			t, array = u.Elem(), true
		default:
			return false
		}
	}
	return array
}
