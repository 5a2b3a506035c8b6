package vm

import (
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// builtin compiles a call of a builtin function.
func (k *compiler) builtin(b *ssa.Builtin, c *ssa.CallCommon, x []uintptr, results []value, here int32) op {
	var z uintptr
	if len(results) > 0 {
		z = results[0].off
	}
	typ := func(i int) reflect.Type { return k.typ(c.Args[i]) }
	switch b.Name() {
	case "append":
		return k.appendTo(c, x, z, here)
	case "copy":
		elem := rtype.Of(typ(0).Elem())
		if typ(1).Kind() == reflect.String {
			return func(fr *frame) { store(fr, results, copy(*at[[]byte](fr, x[0]), *at[string](fr, x[1]))) }
		}
		return func(fr *frame) {
			store(fr, results, rtype.SliceCopy(elem, *at[rtype.Slice](fr, x[0]), *at[rtype.Slice](fr, x[1])))
		}
	case "len":
		return length(typ(0), z, x[0])
	case "cap":
		if typ(0).Kind() == reflect.Slice {
			return func(fr *frame) { *at[int](fr, z) = at[rtype.Slice](fr, x[0]).Cap }
		}
		t := typ(0)
		return func(fr *frame) { *at[int](fr, z) = reflect.NewAt(t, slot(fr, x[0])).Elem().Cap() }
	case "close":
		t := typ(0)
		return func(fr *frame) {
			fr.at = here
			reflect.NewAt(t, slot(fr, x[0])).Elem().Close()
		}
	case "delete":
		rt := rtype.Of(typ(0))
		return func(fr *frame) {
			fr.at = here
			rtype.MapDelete(rt, *at[unsafe.Pointer](fr, x[0]), slot(fr, x[1]))
		}
	case "clear":
		return clearOp(typ(0), x[0])
	case "min", "max":
		return minMax(b.Name() == "min", typ(0), z, x)
	case "real", "imag", "complex":
		return complexOp(b.Name(), typ(0), z, x)
	case "print", "println":
		ts := make([]reflect.Type, len(x))
		for i := range x {
			ts[i] = typ(i)
		}
		line := b.Name() == "println"
		return func(fr *frame) { printValues(fr, ts, x, line) }
	case "panic":
		return func(fr *frame) { fr.at = here; panic(*at[any](fr, x[0])) }
	case "recover":
		deferred := k.c.through // the frame that defers recover() is the one that calls it
		return func(fr *frame) {
			by := fr
			if deferred && fr.caller != nil {
				by = fr.caller
			}
			v := by.recover()
			if len(results) > 0 {
				*at[any](fr, z) = v
			}
		}
	case "ssa:wrapnilchk":
		recv, name := c.Args[1].(*ssa.Const), c.Args[2].(*ssa.Const)
		text := "value method " + stringOf(recv) + "." + stringOf(name) + " called using nil *" + lastName(stringOf(recv)) + " pointer"
		return func(fr *frame) {
			p := *at[unsafe.Pointer](fr, x[0])
			if p == nil {
				fr.at = here
				panic(plainError(text))
			}
			*at[unsafe.Pointer](fr, z) = p
		}
	case "ssa:deferstack":
		return func(fr *frame) { *at[unsafe.Pointer](fr, z) = unsafe.Pointer(fr) }
	case "String": // unsafe.String
		return func(fr *frame) {
			fr.at = here
			*at[string](fr, z) = unsafe.String(*at[*byte](fr, x[0]), *at[int](fr, x[1]))
		}
	case "StringData":
		return func(fr *frame) { *at[*byte](fr, z) = unsafe.StringData(*at[string](fr, x[0])) }
	case "SliceData":
		return func(fr *frame) { *at[unsafe.Pointer](fr, z) = at[rtype.Slice](fr, x[0]).Data }
	case "Slice":
		return func(fr *frame) {
			fr.at = here
			p, n := *at[unsafe.Pointer](fr, x[0]), *at[int](fr, x[1])
			_ = unsafe.Slice((*byte)(p), n)
			*at[rtype.Slice](fr, z) = rtype.Slice{Data: p, Len: n, Cap: n}
		}
	case "Add":
		return func(fr *frame) {
			*at[unsafe.Pointer](fr, z) = unsafe.Add(*at[unsafe.Pointer](fr, x[0]), *at[int](fr, x[1]))
		}
	}
	refuse("the builtin %s", b.Name())
	return nil
}

func store(fr *frame, results []value, n int) {
	if len(results) > 0 {
		*at[int](fr, results[0].off) = n
	}
}

func length(t reflect.Type, z, x uintptr) op {
	switch t.Kind() {
	case reflect.String:
		return func(fr *frame) { *at[int](fr, z) = len(*at[string](fr, x)) }
	case reflect.Slice:
		return func(fr *frame) { *at[int](fr, z) = at[rtype.Slice](fr, x).Len }
	case reflect.Map:
		return func(fr *frame) { *at[int](fr, z) = rtype.MapLen(*at[unsafe.Pointer](fr, x)) }
	}
	return func(fr *frame) { *at[int](fr, z) = reflect.NewAt(t, slot(fr, x)).Elem().Len() }
}

func (k *compiler) appendTo(c *ssa.CallCommon, x []uintptr, z uintptr, here int32) op {
	t := k.typ(c.Args[0])
	elem := rtype.Of(t.Elem())
	text := k.typ(c.Args[1]).Kind() == reflect.String
	size := elem.Size
	return func(fr *frame) {
		fr.at = here
		s := *at[rtype.Slice](fr, x[0])
		var more rtype.Slice
		if text {
			v := *at[string](fr, x[1])
			more = rtype.Slice{Data: unsafe.Pointer(unsafe.StringData(v)), Len: len(v), Cap: len(v)}
		} else {
			more = *at[rtype.Slice](fr, x[1])
		}
		if more.Len > 0 {
			n := s.Len
			if uint(n+more.Len) > uint(s.Cap) {
				if bytes := size * uintptr(n+more.Len); bytes >= large {
					fr.t.room(bytes + bytes/4) // as growslice grows large ones
				}
				s = rtype.Grow(elem, s, more.Len)
			}
			s.Len = n + more.Len
			rtype.SliceCopy(elem, rtype.Slice{Data: unsafe.Add(s.Data, uintptr(n)*size), Len: more.Len, Cap: more.Len}, more)
		}
		*at[rtype.Slice](fr, z) = s
	}
}

func clearOp(t reflect.Type, x uintptr) op {
	rt := rtype.Of(t)
	if t.Kind() == reflect.Map {
		return func(fr *frame) { rtype.MapClear(rt, *at[unsafe.Pointer](fr, x)) }
	}
	return func(fr *frame) { reflect.NewAt(t, slot(fr, x)).Elem().Clear() }
}

func minMax(least bool, t reflect.Type, z uintptr, x []uintptr) op {
	switch t.Kind() {
	case reflect.Int:
		return extreme[int](least, z, x)
	case reflect.Int8:
		return extreme[int8](least, z, x)
	case reflect.Int16:
		return extreme[int16](least, z, x)
	case reflect.Int32:
		return extreme[int32](least, z, x)
	case reflect.Int64:
		return extreme[int64](least, z, x)
	case reflect.Uint:
		return extreme[uint](least, z, x)
	case reflect.Uint8:
		return extreme[uint8](least, z, x)
	case reflect.Uint16:
		return extreme[uint16](least, z, x)
	case reflect.Uint32:
		return extreme[uint32](least, z, x)
	case reflect.Uint64:
		return extreme[uint64](least, z, x)
	case reflect.Uintptr:
		return extreme[uintptr](least, z, x)
	case reflect.Float32:
		return extreme[float32](least, z, x)
	case reflect.Float64:
		return extreme[float64](least, z, x)
	}
	return extreme[string](least, z, x)
}

func extreme[T ordered](least bool, z uintptr, x []uintptr) op {
	return func(fr *frame) {
		v := *at[T](fr, x[0])
		for _, y := range x[1:] {
			if least {
				v = min(v, *at[T](fr, y))
			} else {
				v = max(v, *at[T](fr, y))
			}
		}
		*at[T](fr, z) = v
	}
}

func complexOp(name string, t reflect.Type, z uintptr, x []uintptr) op {
	switch {
	case name == "complex" && t.Kind() == reflect.Float32:
		return func(fr *frame) { *at[complex64](fr, z) = complex(*at[float32](fr, x[0]), *at[float32](fr, x[1])) }
	case name == "complex":
		return func(fr *frame) { *at[complex128](fr, z) = complex(*at[float64](fr, x[0]), *at[float64](fr, x[1])) }
	case name == "real" && t.Kind() == reflect.Complex64:
		return func(fr *frame) { *at[float32](fr, z) = real(*at[complex64](fr, x[0])) }
	case name == "real":
		return func(fr *frame) { *at[float64](fr, z) = real(*at[complex128](fr, x[0])) }
	case t.Kind() == reflect.Complex64:
		return func(fr *frame) { *at[float32](fr, z) = imag(*at[complex64](fr, x[0])) }
	}
	return func(fr *frame) { *at[float64](fr, z) = imag(*at[complex128](fr, x[0])) }
}

// printValues is print and println, which write to file descriptor 2 what Go's
// do of any value.
func printValues(fr *frame, ts []reflect.Type, x []uintptr, line bool) {
	fr.t.native = printCode
	if fr.t.run.stopping.Load() {
		fr.t.halt()
	}
	engine.Print() // waits for what was printed before
	for i, t := range ts {
		if i > 0 && line {
			print(" ")
		}
		printValue(t, slot(fr, x[i]))
	}
	if line {
		print("\n")
	}
	fr.t.native = 0
}

// printCode stands for print and println among compiled functions.
var printCode = reflect.ValueOf(engine.Print).Pointer()

func printValue(t reflect.Type, p unsafe.Pointer) {
	v := reflect.NewAt(t, p).Elem()
	switch {
	case t.Kind() == reflect.Bool:
		print(v.Bool())
	case v.CanInt():
		print(v.Int())
	case v.CanUint():
		print(v.Uint())
	case t.Kind() == reflect.Float32:
		print(float32(v.Float()))
	case t.Kind() == reflect.Float64:
		print(v.Float())
	case t.Kind() == reflect.Complex64:
		print(complex64(v.Complex()))
	case v.CanComplex():
		print(v.Complex())
	case t.Kind() == reflect.String:
		print(v.String())
	case t.Kind() == reflect.Interface:
		print(*(*any)(p)) // two words, whatever the methods
	case t.Kind() == reflect.Slice:
		print(*(*[]byte)(p))
	default:
		print(*(*unsafe.Pointer)(p))
	}
}

func stringOf(c *ssa.Const) string {
	s := c.Value.ExactString()
	if len(s) > 1 && s[0] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

func lastName(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return s[i+1:]
		}
	}
	return s
}

// plainError is a runtime.Error with a text of its own.
type plainError string

func (e plainError) Error() string { return string(e) }
func (e plainError) RuntimeError() {}
