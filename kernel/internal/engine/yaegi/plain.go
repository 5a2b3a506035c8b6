package yaegi

import "reflect"

// plain is x without wrappers of interface values, also in the slices, maps
// and structs that it holds: a copy where there are any.
func plain(x any) any {
	x = bare(x)
	if v := reflect.ValueOf(x); wraps(v, 0) {
		c := reflect.New(v.Type()).Elem()
		unwrapInto(c, v)
		return c.Interface()
	}
	return x
}

// maxDepth bounds the search in values that hold themselves.
const maxDepth = 20

// wraps tells whether there is a wrapper in v.
func wraps(v reflect.Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		return !v.IsNil() && v.CanInterface() && (isWrapper(v.Elem()) || wraps(v.Elem(), depth+1))
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k <= reflect.Complex128 || k == reflect.String {
			return false
		}
		for i := range v.Len() {
			if wraps(v.Index(i), depth+1) {
				return true
			}
		}
	case reflect.Map:
		for _, e := range v.Seq2() {
			if wraps(e, depth+1) {
				return true
			}
		}
	case reflect.Pointer:
		return !v.IsNil() && v.CanInterface() && v.Type().PkgPath() == "" && wraps(v.Elem(), depth+1)
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanInterface() && wraps(f, depth+1) {
				return true
			}
		}
	}
	return false
}

// unwrapInto sets to, of v's type, to v without wrappers.
func unwrapInto(to, v reflect.Value) {
	if !wraps(v, 0) {
		to.Set(v)
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		to.Set(reflect.ValueOf(plain(v.Interface())))
	case reflect.Slice:
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			unwrapInto(to.Index(i), v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			unwrapInto(to.Index(i), v.Index(i))
		}
	case reflect.Map:
		to.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for k, e := range v.Seq2() {
			c := reflect.New(e.Type()).Elem()
			unwrapInto(c, e)
			to.SetMapIndex(k, c)
		}
	case reflect.Pointer:
		to.Set(reflect.New(v.Type().Elem()))
		unwrapInto(to.Elem(), v.Elem())
	case reflect.Struct:
		to.Set(v)
		for i := range v.NumField() {
			if to.Field(i).CanSet() {
				unwrapInto(to.Field(i), v.Field(i))
			}
		}
	}
}
