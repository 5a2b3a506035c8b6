// Package rtype makes types at run time that compiled code cannot tell from
// its own: types with names and methods, and interface types.
//
// Package reflect makes composite types at run time, but no named ones. A
// named type made here has an identity of its own, so that interface values,
// type switches, map keys, fmt, encoding/json and errors.As mean what they
// mean in a compiled program; its methods are functions that the caller gives.
//
//	d := rtype.Declare("Celsius", "main", reflect.TypeFor[float64](), 1, 1)
//	d.Complete(reflect.TypeFor[float64](), methods, methods)
//	v := reflect.New(d.Type()).Elem()
//
// # How
//
// The structures of internal/abi are written down again in abi.go; a test
// compares them with what reflect says of compiled types. A name, a type and a
// piece of code are found by offsets that package reflect registers with the
// runtime for its own types; link.go uses the same entry.
//
// Code that an interface method table points to gets no closure. It is one of
// many small pieces of stubs_amd64.s, each of which jumps to the closure that
// lies in the table of its number: any Go func value can be a method so.
//
// Types are never freed, like those of package reflect.
package rtype
