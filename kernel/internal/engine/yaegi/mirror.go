package yaegi

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
)

// mirror is an interpreted value in a call that formats it: it prints as the
// value of Go's type would, with the names of types and fields and the methods
// that reflection does not see.
type mirror struct {
	v any        // without wrappers
	t types.Type // nil where it is not known
	e *Engine
}

// mirror returns x, of the static type that has the name, as a value to format.
func (e *Engine) mirror(x any, name string) any { return mirror{bare(x), e.types.get(name), e} }

// formatted is what fmt is to format for the only element of holds, of a type
// that is not known: itself, if fmt formats that right.
func (e *Engine) formatted(holds []any) any {
	x := bare(holds[0])
	if v := reflect.ValueOf(x); isFace(v) {
		if _, ok := x.(error); ok {
			return x
		}
	}
	name := e.typeName(holds[0])
	t := e.types.get(name)
	if f := e.methods.bound(name, "Error", core(x)); f != nil {
		return errorText{mirror{core(x), t, e}, revealed(func() string { return fmt.Sprint(f()) })}
	}
	if t != nil || wraps(reflect.ValueOf(x), 0) || taggedInside(reflect.TypeOf(x), 0) {
		return mirror{core(x), t, e}
	}
	return x
}

// taggedInside tells types in which there are structs of cells'.
func taggedInside(t reflect.Type, depth int) bool {
	if t == nil || depth > 4 || t.PkgPath() != "" {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return taggedInside(t.Elem(), depth+1)
	case reflect.Map:
		return taggedInside(t.Key(), depth+1) || taggedInside(t.Elem(), depth+1)
	case reflect.Struct:
		return t.NumField() > 0 && strings.Contains(string(t.Field(0).Tag), `cell:"`)
	}
	return false
}

// Format prints as package fmt does.
func (m mirror) Format(f fmt.State, verb rune) {
	if verb == 'p' {
		fmt.Fprintf(f, fmt.FormatString(f, verb), m.v)
		return
	}
	p := mirrorPrinter{State: f, e: m.e, verb: verb}
	p.plus, p.sharp = verb == 'v' && f.Flag('+'), verb == 'v' && f.Flag('#')
	p.value(reflect.ValueOf(m.v), m.t, 0, false)
}

type mirrorPrinter struct {
	fmt.State
	e           *Engine
	verb        rune
	plus, sharp bool
}

func (p *mirrorPrinter) print(s string) { p.Write([]byte(s)) }

// leaf lets fmt print what has no parts.
func (p *mirrorPrinter) leaf(x any) { fmt.Fprintf(p.State, fmt.FormatString(p.State, p.verb), x) }

// value prints v, of Go's type t if that is known. hidden is said of what is
// in fields that other packages do not see: methods are not called there.
func (p *mirrorPrinter) value(v reflect.Value, t types.Type, depth int, hidden bool) {
	if v.IsValid() && v.CanInterface() && isWrapper(v) {
		x := v.Interface()
		name := p.e.typeName(x)
		v, t = reflect.ValueOf(core(x)), p.e.types.get(name)
		if t == nil && v.IsValid() {
			t = p.e.types.get(taggedType(v.Type()))
		}
	}
	if !v.IsValid() {
		p.nothing(t)
		return
	}
	if t == nil {
		t = p.e.types.get(taggedType(v.Type()))
	}
	if !hidden && p.method(v, t, depth) {
		return
	}
	under := types.Type(nil)
	if t != nil {
		under = t.Underlying()
	}
	switch v.Kind() {
	case reflect.Map:
		p.aMap(v, t, under, depth, hidden)
	case reflect.Struct:
		p.aStruct(v, t, under, depth, hidden)
	case reflect.Interface:
		if v.IsNil() {
			p.nothing(t)
			return
		}
		p.value(v.Elem(), nil, depth+1, hidden)
	case reflect.Slice, reflect.Array:
		p.list(v, t, under, depth, hidden)
	case reflect.Pointer:
		var elem types.Type
		if u, ok := under.(*types.Pointer); ok {
			elem = u.Elem()
		}
		if depth == 0 && !v.IsNil() {
			switch v.Elem().Kind() {
			case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
				p.print("&")
				p.value(v.Elem(), elem, depth+1, hidden)
				return
			}
		}
		p.pointer(v, t)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		p.pointer(v, t)
	default:
		p.leaf(plainValue(v))
	}
}

// nothing prints a nil interface.
func (p *mirrorPrinter) nothing(t types.Type) {
	if p.sharp && t != nil {
		p.print(goType(t) + "(nil)")
		return
	}
	if p.sharp {
		p.print("interface {}(nil)")
		return
	}
	if p.verb == 'v' {
		p.print("<nil>")
		return
	}
	p.leaf(nil)
}

// pointer prints an address.
func (p *mirrorPrinter) pointer(v reflect.Value, t types.Type) {
	at := v.UnsafePointer()
	switch {
	case p.sharp:
		name := v.Type().String()
		if t != nil {
			name = goType(t)
		}
		if at == nil {
			p.print("(" + name + ")(nil)")
		} else {
			p.print(fmt.Sprintf("(%s)(%p)", name, at))
		}
	case p.verb == 'v' && at == nil:
		p.print("<nil>")
	default:
		fmt.Fprintf(p.State, fmt.FormatString(p.State, p.verb), at)
	}
}

// method prints v by a method that fmt looks for.
func (p *mirrorPrinter) method(v reflect.Value, t types.Type, depth int) bool {
	if !v.CanInterface() {
		return false
	}
	text := p.verb == 'v' && !p.sharp || strings.ContainsRune("sxXq", p.verb)
	name := p.e.types.name(t)
	if name == "" {
		switch x := v.Interface().(type) {
		case fmt.Formatter:
			p.leaf(x)
			return true
		case fmt.GoStringer:
			if p.sharp {
				p.leaf(x)
				return true
			}
		case error, fmt.Stringer:
			if text && (v.Type().PkgPath() != "" || v.Kind() == reflect.Pointer || isFace(v)) {
				p.leaf(x)
				return true
			}
		}
		return false
	}
	if f := p.e.methods.function(name, "Format", v.Interface()); f.IsValid() && sameMethod(f.Type(), reflect.TypeFor[func(fmt.State, rune)]()) {
		f.Call([]reflect.Value{v, reflect.ValueOf(&p.State).Elem(), reflect.ValueOf(p.verb)})
		return true
	}
	if p.sharp {
		return p.byMethod(name, "GoString", v)
	}
	return text && (p.byMethod(name, "Error", v) || p.byMethod(name, "String", v))
}

func (p *mirrorPrinter) byMethod(typ, name string, v reflect.Value) bool {
	f := p.e.methods.function(typ, name, v.Interface())
	if !f.IsValid() || !sameMethod(f.Type(), reflect.TypeFor[func() string]()) {
		return false
	}
	if isNil(v.Interface()) {
		defer func() {
			if recover() != nil {
				p.print("<nil>")
			}
		}()
	}
	s := f.Call([]reflect.Value{v})[0].String()
	if p.sharp {
		p.print(s)
	} else {
		p.leaf(s)
	}
	return true
}

// plainValue is v as a value of a predeclared type.
func plainValue(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Float32:
		return float32(v.Float())
	case reflect.Float64:
		return v.Float()
	case reflect.Complex64:
		return complex64(v.Complex())
	case reflect.Complex128:
		return v.Complex()
	case reflect.Uintptr:
		return uintptr(v.Uint())
	}
	if v.CanInt() {
		return v.Int()
	}
	return v.Uint()
}
