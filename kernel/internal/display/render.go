package display

import (
	"maps"
	"reflect"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// renderers are the methods by which values show themselves in notebooks of
// gophernotes', each a form.
var renderers = []struct{ method, mime string }{
	{"HTML", "text/html"},
	{"JavaScript", "application/javascript"},
	{"JPEG", "image/jpeg"},
	{"JSON", "application/json"},
	{"Latex", "text/latex"},
	{"Markdown", "text/markdown"},
	{"PNG", "image/png"},
	{"PDF", "application/pdf"},
	{"SVG", "image/svg+xml"},
}

var (
	stringType = reflect.TypeFor[string]()
	bytesType  = reflect.TypeFor[[]byte]()
	mapType    = reflect.TypeFor[map[string]any]()
)

// formType is what a renderer's method has to return.
func formType(mime string) reflect.Type {
	switch mime {
	case "image/jpeg", "image/png", "application/pdf":
		return bytesType
	case "application/json":
		return mapType
	}
	return stringType
}

// rendered asks a value's methods for its forms.
func rendered(v engine.Value) map[string]any {
	b := map[string]any{}
	for _, name := range []string{"Render", "SimpleRender"} {
		call, _ := niladic(v, name)
		if call == nil {
			continue
		}
		protect(func() {
			switch x := call().(type) {
			case interface{ MIMEBundle() map[string]any }:
				maps.Copy(b, x.MIMEBundle())
			case map[string]any:
				maps.Copy(b, x)
			}
		})
	}
	for _, r := range renderers {
		if call, result := niladic(v, r.method); call != nil && result == formType(r.mime) {
			protect(func() { b[r.mime] = call() })
		}
	}
	return b
}

// niladic finds a method without parameters and with one result.
func niladic(v engine.Value, name string) (call func() any, result reflect.Type) {
	m := method(v, name)
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return nil, nil
	}
	return func() any { return m.Call(nil)[0].Interface() }, m.Type().Out(0)
}

// method finds a method, whoever runs it.
func method(v engine.Value, name string) (m reflect.Value) {
	if v.Method != nil {
		m = v.Method(name)
	}
	if r := reflect.ValueOf(v.Any); !m.IsValid() && r.IsValid() && !(r.Kind() == reflect.Pointer && r.IsNil()) {
		m = r.MethodByName(name)
	}
	return m
}
