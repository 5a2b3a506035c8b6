package vm

import (
	"reflect"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// A move copies one value between frames.
type move struct {
	dst, src uintptr
	how      kind
	typ      *rtype.Type
}

// kind says how a value is copied: by its size, and by which of its words are
// pointers, for the garbage collector sees each pointer that is written.
type kind uint8

const (
	copyNone kind = iota
	copy1
	copy2
	copy4
	copy8
	copy16
	copy24
	copy32
	copyPointer
	copyString    // a pointer and another word
	copySlice     // a pointer and two others
	copyInterface // two pointers
	copyStrings   // two strings
	copyPlain     // more bytes without pointers
	copyTyped
)

func kindOf(t reflect.Type) kind {
	switch t.Size() {
	case 0:
		return copyNone
	case 1:
		return copy1
	case 2:
		return copy2
	case 4:
		return copy4
	}
	switch t.Kind() {
	case reflect.String:
		return copyString
	case reflect.Slice:
		return copySlice
	case reflect.Interface:
		return copyInterface
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return copyPointer
	}
	pointers := rtype.Of(t).PtrBytes > 0
	if t.Size()%8 == 0 && t.Size() <= 32 {
		words := make([]byte, t.Size()/8)
		if pointers {
			markPointers(t, 0, words)
		}
		switch k := wordKinds[string(words)]; {
		case k != copyNone:
			return k
		}
	}
	if !pointers {
		return copyPlain
	}
	return copyTyped
}

// wordKinds are the kinds of values by their words: 1 is a pointer.
var wordKinds = map[string]kind{
	"\x00": copy8, "\x01": copyPointer, "\x00\x00": copy16, "\x01\x00": copyString, "\x01\x01": copyInterface,
	"\x00\x00\x00": copy24, "\x01\x00\x00": copySlice, "\x00\x00\x00\x00": copy32, "\x01\x00\x01\x00": copyStrings,
}

// markPointers marks the words of a value at an offset that are pointers.
func markPointers(t reflect.Type, off uintptr, words []byte) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			markPointers(t.Field(i).Type, off+t.Field(i).Offset, words)
		}
	case reflect.Array:
		for i := range t.Len() {
			markPointers(t.Elem(), off+uintptr(i)*t.Elem().Size(), words)
		}
	case reflect.Interface:
		words[off/8], words[off/8+1] = 1, 1
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.String, reflect.Slice:
		words[off/8] = 1
	}
}

func newMove(dst, src uintptr, t reflect.Type) move {
	return move{dst, src, kindOf(t), rtype.Of(t)}
}

// do copies from one piece of memory to another.
func (m *move) do(to, from unsafe.Pointer) {
	copyValue(m.how, m.typ, unsafe.Add(to, m.dst), unsafe.Add(from, m.src))
}

func copyValue(how kind, t *rtype.Type, dst, src unsafe.Pointer) {
	switch how {
	case copy8:
		*(*uint64)(dst) = *(*uint64)(src)
	case copyPointer:
		*(*unsafe.Pointer)(dst) = *(*unsafe.Pointer)(src)
	case copyString:
		*(*string)(dst) = *(*string)(src)
	case copySlice:
		*(*[]byte)(dst) = *(*[]byte)(src)
	case copyInterface:
		*(*[2]unsafe.Pointer)(dst) = *(*[2]unsafe.Pointer)(src)
	case copy16:
		*(*[2]uint64)(dst) = *(*[2]uint64)(src)
	case copy24:
		*(*[3]uint64)(dst) = *(*[3]uint64)(src)
	case copy32:
		*(*[4]uint64)(dst) = *(*[4]uint64)(src)
	case copyStrings:
		*(*[2]string)(dst) = *(*[2]string)(src)
	case copy4:
		*(*uint32)(dst) = *(*uint32)(src)
	case copy2:
		*(*uint16)(dst) = *(*uint16)(src)
	case copy1:
		*(*uint8)(dst) = *(*uint8)(src)
	case copyPlain:
		copy(unsafe.Slice((*byte)(dst), t.Size), unsafe.Slice((*byte)(src), t.Size))
	case copyTyped:
		rtype.Move(t, dst, src)
	}
}

// copyOp copies between slots of a frame.
func copyOp(t reflect.Type, z, x uintptr) op {
	if z == x {
		return nil
	}
	switch how := kindOf(t); how {
	case copyNone:
		return nil
	case copy1:
		return copies[uint8](z, x)
	case copy2:
		return copies[uint16](z, x)
	case copy4:
		return copies[uint32](z, x)
	case copy8:
		return copies[uint64](z, x)
	case copyPointer:
		return copies[unsafe.Pointer](z, x)
	case copyString:
		return copies[string](z, x)
	case copySlice:
		return copies[[]byte](z, x)
	case copyInterface:
		return copies[[2]unsafe.Pointer](z, x)
	case copy16:
		return copies[[2]uint64](z, x)
	case copy24:
		return copies[[3]uint64](z, x)
	case copy32:
		return copies[[4]uint64](z, x)
	case copyStrings:
		return copies[[2]string](z, x)
	default:
		rt := rtype.Of(t)
		return func(fr *frame) { copyValue(how, rt, slot(fr, z), slot(fr, x)) }
	}
}

func copies[T any](z, x uintptr) op {
	return func(fr *frame) { *at[T](fr, z) = *at[T](fr, x) }
}

// zeroOp makes a slot zero.
func zeroOp(t reflect.Type, z uintptr) op {
	switch kindOf(t) {
	case copyNone:
		return nil
	case copy1:
		return zeroes[uint8](z)
	case copy2:
		return zeroes[uint16](z)
	case copy4:
		return zeroes[uint32](z)
	case copy8:
		return zeroes[uint64](z)
	case copyPointer:
		return zeroes[unsafe.Pointer](z)
	case copyString:
		return zeroes[string](z)
	case copySlice:
		return zeroes[[]byte](z)
	case copyInterface:
		return zeroes[[2]unsafe.Pointer](z)
	case copy16:
		return zeroes[[2]uint64](z)
	case copy24:
		return zeroes[[3]uint64](z)
	case copy32:
		return zeroes[[4]uint64](z)
	case copyStrings:
		return zeroes[[2]string](z)
	}
	rt := rtype.Of(t)
	return func(fr *frame) { rtype.Clear(rt, slot(fr, z)) }
}

func zeroes[T any](z uintptr) op {
	return func(fr *frame) {
		var zero T
		*at[T](fr, z) = zero
	}
}

// touch faults if p is nil, as a use of *p does. It reads nothing else: to take an
// address is no race.
func touch(p unsafe.Pointer) {
	if p == nil {
		_ = *(*byte)(p)
	}
}
