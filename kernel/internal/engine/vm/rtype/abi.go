package rtype

import (
	"reflect"
	"unsafe"
)

// The structures of internal/abi, Go 1.26.

type tflag uint8

const (
	flagUncommon   tflag = 1 << 0
	flagExtraStar  tflag = 1 << 1
	flagNamed      tflag = 1 << 2
	flagMemory     tflag = 1 << 3 // equality is that of the bytes
	flagMaskLater  tflag = 1 << 4
	flagDirect     tflag = 1 << 5 // the data word of an interface is the value
	variadicResult       = 1 << 15
)

// Type is abi.Type.
type Type struct {
	Size       uintptr
	PtrBytes   uintptr
	Hash       uint32
	flag       tflag
	align      uint8
	fieldAlign uint8
	kind       uint8
	Equal      func(unsafe.Pointer, unsafe.Pointer) bool
	gcData     unsafe.Pointer
	str        int32
	ptrToThis  int32
}

type method struct {
	name, typ, ifn, tfn int32
}

type uncommon struct {
	pkgPath  int32
	methods  uint16
	exported uint16
	off      uint32
	_        uint32
}

type imethod struct{ name, typ int32 }

type interfaceType struct {
	Type
	pkgPath *byte
	methods []imethod
}

type structField struct {
	name   *byte
	typ    *Type
	offset uintptr
}

type structType struct {
	Type
	pkgPath *byte
	fields  []structField
}

type elemType struct { // of pointers and slices
	Type
	elem *Type
}

type arrayType struct {
	Type
	elem, slice *Type
	len         uintptr
}

type chanType struct {
	Type
	elem *Type
	dir  int
}

type funcType struct {
	Type
	in, out uint16
}

type mapType struct {
	Type
	key, elem, group             *Type
	hasher                       func(unsafe.Pointer, uintptr) uintptr
	groupSize, slotSize, elemOff uintptr
	flags                        uint32
}

// Of returns the run-time type behind t.
func Of(t reflect.Type) *Type {
	return (*Type)((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])
}

// Reflect returns the reflect.Type of t.
func (t *Type) Reflect() reflect.Type {
	var x any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&x))[0] = unsafe.Pointer(t)
	return reflect.TypeOf(x)
}

// Direct reports whether the data word of an interface holds a value of the
// type itself and not a pointer to it.
func (t *Type) Direct() bool { return t.flag&flagDirect != 0 }

// name encodes a name as abi.Name does.
func name(s, tag string, exported, embedded bool, pkgPath int32) *byte {
	var bits byte
	if exported {
		bits |= 1
	}
	if tag != "" {
		bits |= 2
	}
	if pkgPath != 0 {
		bits |= 4
	}
	if embedded {
		bits |= 8
	}
	b := appendText([]byte{bits}, s)
	if tag != "" {
		b = appendText(b, tag)
	}
	if pkgPath != 0 {
		b = append(b, (*[4]byte)(unsafe.Pointer(&pkgPath))[:]...)
	}
	return &b[0]
}

func appendText(b []byte, s string) []byte {
	n := len(s)
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(append(b, byte(n)), s...)
}
