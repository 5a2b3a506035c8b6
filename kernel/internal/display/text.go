package display

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

const (
	maxItems = 100 // elements of a slice, array, map or struct that are shown
	maxDepth = 6   // of nested values; deeper ones are "…"
	maxWidth = 80  // bytes of a composite that stands on one line
)

// Text prints v as a Go reader would like to see it: a string is itself, a
// composite is a literal in the spirit of %#v, elements without their types,
// of at most maxItems elements a level, maxDepth levels and maxText bytes.
func Text(v any) string { return text(engine.Value{Any: v}) }

// text is Text for a value that the notebook knows by a static type: an
// interpreter's values have types without names.
func text(v engine.Value) string {
	if s, ok := v.Any.(string); ok {
		return clip(strings.ToValidUTF8(s, "\uFFFD"))
	}
	p := printer{budget: maxText, reveal: v.Reveal}
	static := v.Type
	if v.Dynamic != "" {
		static = v.Dynamic
	} else if v.Reveal != nil && static == "any" {
		if r, ok := v.Reveal(v.Any); ok {
			static = r.Type
		}
	}
	out := ""
	if !protect(func() { out = p.value(reflect.ValueOf(v.Any), static, 0) }) {
		out = fmt.Sprintf("%T", v.Any)
	}
	return clip(out)
}

// printer prints one value. budget is how many bytes of leaves it may still
// print, so that a wide tree or a cycle ends.
type printer struct {
	budget int
	reveal func(x any) (engine.Value, bool)
}

// implied is the static type of an element whose list or map says its type.
const implied = "implied by its list"

// value prints v. static is the name of its type in the notebook, for types
// whose name reflection does not know; it may be empty, or implied.
func (p *printer) value(v reflect.Value, static string, depth int) string {
	if !v.IsValid() {
		return "nil"
	}
	if p.budget <= 0 {
		return "…"
	}
	if depth > 0 {
		inner, name, said, ok := p.nested(v)
		if ok {
			return p.leaf(said)
		}
		v = inner
		if static != implied {
			static = name
		}
		if !v.IsValid() {
			return "nil"
		}
	}
	switch v.Kind() {
	case reflect.String:
		return p.leaf(quote(v.String()))
	case reflect.Pointer:
		return p.pointer(v, static, depth)
	case reflect.Slice, reflect.Array:
		return p.list(v, static, depth)
	case reflect.Map:
		return p.mapping(v, static, depth)
	case reflect.Struct:
		return p.structure(v, static, depth)
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

// nested finds what a value inside another one is, and its type's name where
// that is news; ok is true if said is all of it, by its Error or String method.
func (p *printer) nested(v reflect.Value) (inner reflect.Value, static, said string, ok bool) {
	boxed := v.Kind() == reflect.Interface
	if boxed {
		v = v.Elem()
	}
	if !v.IsValid() || !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() {
		return v, "", "", false
	}
	m := engine.Value{Any: v.Interface()}
	if p.reveal != nil {
		if r, ok := p.reveal(m.Any); ok {
			m, v = r, reflect.ValueOf(r.Any)
			if boxed {
				static = r.Type
			}
		}
	}
	said, ok = words(bind(m))
	return v, static, strings.ToValidUTF8(said, "\uFFFD"), ok
}

func quote(s string) string {
	if strings.ContainsAny(s, `"\`) && utf8.ValidString(s) && strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func (p *printer) pointer(v reflect.Value, static string, depth int) string {
	if v.IsNil() {
		return "nil"
	}
	if static == implied {
		static = ""
	}
	switch v.Elem().Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return "&" + p.value(v.Elem(), strings.TrimPrefix(static, "*"), depth)
	default:
		return p.leaf(fmt.Sprintf("(%s)(%#x)", typeName(v.Type()), v.Pointer()))
	}
}

func (p *printer) list(v reflect.Value, static string, depth int) string {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return "nil"
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 && v.Len() > 0 {
		if text, ok := printable(v.Bytes()); ok {
			return p.leaf(typeName(v.Type()) + "(" + quote(text) + ")")
		}
	}
	return p.items(v.Type(), static, depth, v.Len(), func(i int) string { return p.value(v.Index(i), element(v), depth+1) })
}

func (p *printer) mapping(v reflect.Value, static string, depth int) string {
	if v.IsNil() {
		return "nil"
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, compare)
	return p.items(v.Type(), static, depth, len(keys), func(i int) string {
		return p.value(keys[i], "", depth+1) + ": " + p.value(v.MapIndex(keys[i]), element(v), depth+1)
	})
}

// element is the static type of the elements of a list or map.
func element(v reflect.Value) string {
	if v.Type().Elem().Kind() == reflect.Interface {
		return ""
	}
	return implied
}

func (p *printer) structure(v reflect.Value, static string, depth int) string {
	t := v.Type()
	if sealed(t) {
		return p.leaf(typeName(t) + "{…}")
	}
	return p.items(t, static, depth, t.NumField(), func(i int) string {
		return fieldName(t.Field(i).Name) + ": " + p.value(v.Field(i), "", depth+1)
	})
}

// items writes T{a, b, c} for n items, on one line if it is short or holds
// but numbers and names, else one item a line.
func (p *printer) items(t reflect.Type, static string, depth, n int, item func(i int) string) string {
	name := ""
	switch {
	case static == implied:
	case t.Name() == "" && static != "" && static != "any" && !strings.HasPrefix(static, "struct{"):
		name = static
	case depth == 0 || t.Name() != "":
		name = typeName(t) // an element whose type has no name needs none
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
	name = strings.ReplaceAll(name, "]uint8", "]byte")
	if i := strings.Index(name, "struct {"); i >= 0 {
		return name[:i] + "struct" // the fields follow with their values
	}
	return strings.ReplaceAll(name, "main.", "")
}

// sealed tells structs of compiled packages that show nothing of themselves,
// as a sync.Mutex.
func sealed(t reflect.Type) bool {
	if t.PkgPath() == "" || t.PkgPath() == "main" || t.NumField() == 0 {
		return false
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

// printable returns b as a text if a reader can read it as one. A long one is
// cut.
func printable(b []byte) (text string, ok bool) {
	head := b[:min(len(b), maxText)]
	text = strings.ToValidUTF8(string(head), "")
	if len(text) < len(head)-utf8.UTFMax || len(head) == len(b) && len(text) < len(b) {
		return "", false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return "", false
		}
	}
	return text, true
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
