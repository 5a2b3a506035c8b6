package yaegi

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/traefik/yaegi/interp"
)

// Interpreted values in compiled interfaces.
//
// Where an interpreted value becomes an error or a fmt.Stringer, yaegi puts it
// into a struct of its methods. These structs have more methods than the
// interface, for those who ask: errors.Is and errors.As, displays, fmt. yaegi
// takes the first of the list whose methods the type has, by name only, so the
// fields take a method of any signature.

type errorUnwrapIs struct {
	IValue  any
	WError  func() string
	WUnwrap any
	WIs     any
}

func (w errorUnwrapIs) Error() string        { return w.WError() }
func (w errorUnwrapIs) Unwrap() error        { return callUnwrap(w.WUnwrap) }
func (w errorUnwrapIs) Is(target error) bool { return callIs(w.WIs, target) }

type errorUnwrap struct {
	IValue  any
	WError  func() string
	WUnwrap any
}

func (w errorUnwrap) Error() string { return w.WError() }
func (w errorUnwrap) Unwrap() error { return callUnwrap(w.WUnwrap) }

type errorIs struct {
	IValue any
	WError func() string
	WIs    any
}

func (w errorIs) Error() string        { return w.WError() }
func (w errorIs) Is(target error) bool { return callIs(w.WIs, target) }

type stringerBundle struct {
	IValue      any
	WString     func() string
	WMIMEBundle any
}

func (w stringerBundle) String() string             { return w.WString() }
func (w stringerBundle) MIMEBundle() map[string]any { return callBundle(w.WMIMEBundle) }

// readerWriterTo is a reader that io.Copy asks to write itself.
type readerWriterTo struct {
	IValue   any
	WRead    func([]byte) (int, error)
	WWriteTo any
}

func (w readerWriterTo) Read(b []byte) (int, error) { return w.WRead(b) }

func (w readerWriterTo) WriteTo(to io.Writer) (int64, error) {
	if f, ok := w.WWriteTo.(func(io.Writer) (int64, error)); ok {
		return f(to)
	}
	return io.Copy(to, struct{ io.Reader }{w})
}

// boxed is an error of an interpreted type.
type boxed struct {
	IValue     any
	typ        string // as the interpreter writes it
	err        func() string
	unwrap, is any // nil, or functions
}

func makeError(x any, typ string, err func() string, unwrap, is any) error {
	return boxed{bare(x), typ, err, bare(unwrap), bare(is)}
}

func (b boxed) Error() string        { return b.err() }
func (b boxed) Unwrap() error        { return callUnwrap(b.unwrap) }
func (b boxed) Is(target error) bool { return callIs(b.is, target) }

func callUnwrap(f any) error {
	switch f := f.(type) {
	case func() error:
		return f()
	case func() []error:
		return errors.Join(f()...)
	}
	return nil
}

func callIs(f any, target error) bool {
	is, ok := f.(func(error) bool)
	return ok && is(target)
}

func callBundle(f any) map[string]any {
	if b, ok := f.(func() map[string]any); ok {
		return b()
	}
	return nil
}

// wrappers tells the interpreter of them; it has the tables of fmt and io.
func (r *reach) wrappers() interp.Exports {
	m := map[reflect.Value][]reflect.Type{}
	if s, ok := r.binary("fmt", "_Stringer"); ok {
		m[s] = []reflect.Type{reflect.TypeFor[stringerBundle]()}
	}
	if s, ok := r.binary("io", "_Reader"); ok {
		m[s] = []reflect.Type{reflect.TypeFor[readerWriterTo]()}
	}
	if e, ok := r.binary("", "_error"); ok {
		m[e] = []reflect.Type{reflect.TypeFor[errorUnwrapIs](), reflect.TypeFor[errorUnwrap](), reflect.TypeFor[errorIs]()}
	}
	return interp.Exports{".": {"MapTypes": reflect.ValueOf(m)}}
}

var (
	_ error        = errorUnwrapIs{}
	_ error        = errorUnwrap{}
	_ error        = errorIs{}
	_ fmt.Stringer = stringerBundle{}
)
