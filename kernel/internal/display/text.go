package display

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxItems = 100 // elements of a slice, array, map or struct that are shown
	maxDepth = 6   // of nested values; deeper ones are "…"
	maxWidth = 80  // bytes of a composite that stands on one line
)

// Text prints v as a Go reader would like to see it: a string is itself, a
// composite is a literal in the spirit of %#v, elements without their types,
// of at most maxItems elements a level, maxDepth levels and maxText bytes.
func Text(v any) string { return text(v, "") }

// text is Text for a value that the notebook knows by a static type: an
// interpreter's values have types without names.
func text(v any, static string) string {
	if s, ok := v.(string); ok {
		return clip(strings.ToValidUTF8(s, "\uFFFD"))
	}
	p := printer{budget: maxText, static: static}
	out := ""
	if !protect(func() { out = p.value(reflect.ValueOf(v), 0) }) {
		out = fmt.Sprintf("%T", v)
	}
	return clip(out)
}

// printer prints one value. budget is how many bytes of leaves it may still
// print, so that a wide tree or a cycle ends. static names the outermost type
// where reflection does not know its name.
type printer struct {
	budget int
	static string
}

func (p *printer) value(v reflect.Value, depth int) string {
	if !v.IsValid() {
		return "nil"
	}
	if p.budget <= 0 {
		return "…"
	}
	if strings.HasSuffix(v.Type().PkgPath(), "/yaegi/interp") {
		return p.leaf("…") // an interpreted value in an interface, wrapped
	}
	if depth > 0 {
		if text, ok := method(v); ok {
			return p.leaf(text)
		}
	}
	switch v.Kind() {
	case reflect.String:
		return p.leaf(quote(v.String()))
	case reflect.Pointer:
		return p.pointer(v, depth)
	case reflect.Interface:
		return p.value(v.Elem(), depth)
	case reflect.Slice, reflect.Array:
		return p.list(v, depth)
	case reflect.Map:
		return p.mapping(v, depth)
	case reflect.Struct:
		return p.structure(v, depth)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if v.IsNil() {
			return "nil"
		}
		return p.leaf(typeName(v.Type()))
	default:
		return p.leaf(fmt.Sprint(v))
	}
}

func (p *printer) leaf(text string) string {
	p.budget -= len(text)
	return clip(text)
}

// method shows a nested value by its Error or String method, if reflection
// may call it.
func method(v reflect.Value) (text string, ok bool) {
	if !v.CanInterface() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return "", false
	}
	switch m := v.Interface().(type) {
	case error:
		text, ok = call(m.Error)
	case fmt.Stringer:
		text, ok = call(m.String)
	}
	return strings.ToValidUTF8(text, "\uFFFD"), ok
}

func quote(s string) string {
	if strings.ContainsAny(s, `"\`) && utf8.ValidString(s) && strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func (p *printer) pointer(v reflect.Value, depth int) string {
	if v.IsNil() {
		return "nil"
	}
	switch v.Elem().Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return "&" + p.value(v.Elem(), depth)
	default:
		return p.leaf(fmt.Sprintf("(%s)(%#x)", typeName(v.Type()), v.Pointer()))
	}
}

func (p *printer) list(v reflect.Value, depth int) string {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return "nil"
	}
	return p.items(v.Type(), depth, v.Len(), func(i int) string { return p.value(v.Index(i), depth+1) })
}

func (p *printer) mapping(v reflect.Value, depth int) string {
	if v.IsNil() {
		return "nil"
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, compare)
	return p.items(v.Type(), depth, len(keys), func(i int) string {
		return p.value(keys[i], depth+1) + ": " + p.value(v.MapIndex(keys[i]), depth+1)
	})
}

func (p *printer) structure(v reflect.Value, depth int) string {
	t := v.Type()
	return p.items(t, depth, t.NumField(), func(i int) string {
		return fieldName(t.Field(i).Name) + ": " + p.value(v.Field(i), depth+1)
	})
}

// items writes T{a, b, c} for n items, on one line if it is short or holds
// but numbers and names, else one item a line.
func (p *printer) items(t reflect.Type, depth, n int, item func(i int) string) string {
	name := ""
	if depth == 0 || t.Name() != "" {
		name = typeName(t) // an element whose type has no name needs none
	}
	if depth == 0 && t.Name() == "" && p.static != "" && p.static != "any" {
		name = strings.TrimPrefix(p.static, "*")
	}
	if depth >= maxDepth && n > 0 {
		return name + "{…}"
	}
	var parts []string
	for i := 0; i < min(n, maxItems) && p.budget > 0; i++ {
		parts = append(parts, item(i))
	}
	if more := n - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("… %d more", more))
	}
	flat := strings.Join(parts, ", ")
	if len(flat) <= maxWidth || !strings.ContainsAny(flat, "{\n\"`") {
		return name + "{" + flat + "}"
	}
	var b strings.Builder
	b.WriteString(name + "{\n")
	for _, part := range parts {
		b.WriteString("    " + strings.ReplaceAll(part, "\n", "\n    ") + ",\n")
	}
	return b.String() + "}"
}

// typeName is t in Go, as a cell would write it.
func typeName(t reflect.Type) string {
	name := strings.ReplaceAll(t.String(), "interface {}", "any")
	if i := strings.Index(name, "struct {"); i >= 0 {
		return name[:i] + "struct" // the fields follow with their values
	}
	return strings.ReplaceAll(name, "main.", "")
}

// fieldName undoes the X that yaegi puts before an unexported field's name,
// which reflection cannot make.
func fieldName(name string) string {
	if len(name) > 1 && name[0] == 'X' && (name[1] >= 'a' && name[1] <= 'z' || name[1] == '_') {
		return name[1:]
	}
	return name
}

// compare orders map keys: numbers and strings by value, others as printed.
func compare(a, b reflect.Value) int {
	for a.Kind() == reflect.Interface {
		a = a.Elem()
	}
	for b.Kind() == reflect.Interface {
		b = b.Elem()
	}
	if a.Kind() == b.Kind() {
		switch {
		case a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case a.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		case a.CanFloat():
			return cmp.Compare(a.Float(), b.Float())
		}
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}
