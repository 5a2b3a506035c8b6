package vm

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// genericMethods are methods of generic types of compiled packages, which
// need more than their source says.
var genericMethods = map[string]func([]reflect.Value) []reflect.Value{
	"(*sync/atomic.Pointer).Load": func(a []reflect.Value) []reflect.Value {
		p := atomic.LoadPointer(word(a[0]))
		return []reflect.Value{pointerLike(a[0], p)}
	},
	"(*sync/atomic.Pointer).Store": func(a []reflect.Value) []reflect.Value {
		atomic.StorePointer(word(a[0]), a[1].UnsafePointer())
		return nil
	},
	"(*sync/atomic.Pointer).Swap": func(a []reflect.Value) []reflect.Value {
		p := atomic.SwapPointer(word(a[0]), a[1].UnsafePointer())
		return []reflect.Value{pointerLike(a[0], p)}
	},
	"(*sync/atomic.Pointer).CompareAndSwap": func(a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(atomic.CompareAndSwapPointer(word(a[0]), a[1].UnsafePointer(), a[2].UnsafePointer()))}
	},
}

// word is the last field of an atomic.Pointer.
func word(v reflect.Value) *unsafe.Pointer {
	t := v.Type().Elem()
	return (*unsafe.Pointer)(unsafe.Add(v.UnsafePointer(), t.Field(t.NumField()-1).Offset))
}

// pointerLike is p as the type that the atomic.Pointer is of: its first field
// is an array of such pointers.
func pointerLike(v reflect.Value, p unsafe.Pointer) reflect.Value {
	return reflect.NewAt(v.Type().Elem().Field(0).Type.Elem().Elem(), p)
}
