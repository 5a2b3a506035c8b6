package rtype

import (
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// Interface makes the type of interfaces with the given methods, sorted as
// Go's: exported ones first, by name. pkgPath is that of unexported ones.
//
// Each call makes another type: the caller keeps one for each that is
// identical in Go.
func Interface(pkgPath string, methods []Method) reflect.Type {
	if len(methods) == 0 {
		return reflect.TypeFor[any]()
	}
	t := new(interfaceType)
	t.copyHeader(Of(reflect.TypeFor[error]()))
	t.ptrToThis = 0
	var b strings.Builder
	b.WriteString("interface { ")
	for i, m := range methods {
		if i > 0 {
			b.WriteString("; ")
		}
		if !m.Exported {
			b.WriteString(lastElement(pkgPath) + ".")
		}
		b.WriteString(m.Name + strings.TrimPrefix(m.Type.String(), "func"))
		t.methods = append(t.methods, imethod{
			name: offset(name(m.Name, "", m.Exported, false, 0)),
			typ:  offset((*byte)(unsafe.Pointer(Of(m.Type)))),
		})
	}
	b.WriteString(" }")
	t.str = offset(name(b.String(), "", true, false, 0))
	t.Hash = hash(b.String())
	if pkgPath != "" {
		t.pkgPath = name(pkgPath, "", false, false, 0)
	}
	keep(&t.Type)
	return t.Reflect()
}

// Field is a field of a struct type.
type Field struct {
	Name     string
	PkgPath  string // of an unexported one
	Type     reflect.Type
	Tag      string
	Embedded bool
}

// Struct makes the type of structs with the given fields.
//
// Where reflect.StructOf can make it, it does, so that it is the type that
// compiled code has. The others are those with embedded and with blank fields:
// each call makes another one.
func Struct(fields []Field) reflect.Type {
	special := false
	fs := make([]reflect.StructField, len(fields))
	for i, f := range fields {
		special = special || f.Embedded || f.Name == "_" || f.PkgPath != "" && f.PkgPath != fields[0].PkgPath
		fs[i] = reflect.StructField{Name: f.Name, Type: f.Type, Tag: reflect.StructTag(f.Tag), PkgPath: f.PkgPath}
	}
	if !special {
		return reflect.StructOf(fs)
	}
	for i := range fs { // any names: only the memory counts
		fs[i] = reflect.StructField{Name: "F" + strings.Repeat("_", i), Type: fs[i].Type}
	}
	layout := reflect.StructOf(fs)
	from := (*structType)(unsafe.Pointer(Of(layout)))
	t := new(structType)
	t.copyHeader(&from.Type)
	t.ptrToThis = 0
	var b strings.Builder
	b.WriteString("struct {")
	pkgPath := ""
	for i, f := range fields {
		if i > 0 {
			b.WriteString(";")
		}
		b.WriteString(" ")
		if !f.Embedded {
			b.WriteString(f.Name + " ")
		}
		b.WriteString(f.Type.String())
		if f.Tag != "" {
			b.WriteString(" " + strconv.Quote(f.Tag))
		}
		if f.PkgPath != "" {
			pkgPath = f.PkgPath
		}
		t.fields = append(t.fields, structField{
			name: name(f.Name, f.Tag, f.PkgPath == "", f.Embedded, 0), typ: Of(f.Type), offset: from.fields[i].offset,
		})
		if f.Name == "_" {
			t.flag &^= flagMemory
		}
	}
	b.WriteString(" }")
	t.str = offset(name(b.String(), "", true, false, 0))
	t.Hash = hash(b.String())
	if pkgPath != "" {
		t.pkgPath = name(pkgPath, "", false, false, 0)
	}
	if from.Equal != nil {
		t.Equal = fieldsEqual(fields, t.fields)
	}
	keep(&t.Type)
	return t.Reflect()
}

// fieldsEqual compares what is not blank.
func fieldsEqual(fields []Field, at []structField) func(p, q unsafe.Pointer) bool {
	return func(p, q unsafe.Pointer) bool {
		for i, f := range at {
			if fields[i].Name != "_" && !f.typ.Equal(unsafe.Add(p, f.offset), unsafe.Add(q, f.offset)) {
				return false
			}
		}
		return true
	}
}
