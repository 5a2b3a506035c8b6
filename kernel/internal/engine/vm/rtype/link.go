package rtype

import (
	"reflect"
	"unsafe"
)

// addReflectOff registers a name, type or piece of code and returns the offset
// by which types that lie outside the program's data refer to it.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(unsafe.Pointer) int32

// The first offset that is given out means "removed by the linker" in some
// places: it goes to a name that nothing uses.
var _ = addReflectOff(unsafe.Pointer(name("_", "", false, false, 0)))

// New returns new zero memory of a type.
//
//go:linkname New reflect.unsafe_New
func New(*Type) unsafe.Pointer

// NewArray returns new zero memory for n values of a type.
//
//go:linkname NewArray reflect.unsafe_NewArray
func NewArray(t *Type, n int) unsafe.Pointer

// Move copies a value.
//
//go:linkname Move reflect.typedmemmove
//go:noescape
func Move(t *Type, dst, src unsafe.Pointer)

// Clear makes a value zero.
//
//go:linkname Clear reflect.typedmemclr
//go:noescape
func Clear(t *Type, p unsafe.Pointer)

// MapGet returns where the element of a key lies, or nil.
//
//go:linkname MapGet reflect.mapaccess
//go:noescape
func MapGet(t *Type, m, key unsafe.Pointer) unsafe.Pointer

//go:linkname mapGetString reflect.mapaccess_faststr
//go:noescape
func mapGetString(t *Type, m unsafe.Pointer, key string) unsafe.Pointer

// MapSet sets an element.
//
//go:linkname MapSet reflect.mapassign0
//go:noescape
func MapSet(t *Type, m, key, elem unsafe.Pointer)

// MapDelete deletes an element.
//
//go:linkname MapDelete reflect.mapdelete
//go:noescape
func MapDelete(t *Type, m, key unsafe.Pointer)

// MapLen returns the number of elements.
//
//go:linkname MapLen reflect.maplen
//go:noescape
func MapLen(m unsafe.Pointer) int

// MapClear deletes all elements.
//
//go:linkname MapClear reflect.mapclear
func MapClear(t *Type, m unsafe.Pointer)

// MakeMap returns a new map.
//
//go:linkname MakeMap reflect.makemap
func MakeMap(t *Type, n int) unsafe.Pointer

// MakeChan returns a new channel.
//
//go:linkname MakeChan reflect.makechan
func MakeChan(t *Type, n int) unsafe.Pointer

// ChanSend sends, unless try is set and that would block.
//
//go:linkname ChanSend reflect.chansend0
//go:noescape
func ChanSend(ch, val unsafe.Pointer, try bool) bool

// ChanReceive receives, unless try is set and that would block.
//
//go:linkname ChanReceive reflect.chanrecv
//go:noescape
func ChanReceive(ch unsafe.Pointer, try bool, val unsafe.Pointer) (selected, received bool)

// Assert makes dst, of interface type t, hold what x holds; it panics where
// x's type lacks a method.
//
//go:linkname Assert reflect.ifaceE2I
func Assert(t *Type, x any, dst unsafe.Pointer)

// SliceCopy copies elements of slices, whose headers are given.
//
//go:linkname SliceCopy reflect.typedslicecopy
//go:noescape
func SliceCopy(elem *Type, dst, src Slice) int

// Grow returns a slice with room for n more.
//
//go:linkname Grow reflect.growslice
func Grow(elem *Type, old Slice, n int) Slice

// Slice is the header of a slice.
type Slice struct {
	Data unsafe.Pointer
	Len  int
	Cap  int
}

// StackUsed returns how many bytes of its stack the goroutine uses.
func StackUsed() int {
	var here byte
	// A goroutine begins with the bounds of its stack.
	high := (*[2]uintptr)(pointer(Goroutine()))[1]
	return int(high - uintptr(unsafe.Pointer(&here)))
}

// pointer is a pointer to what the garbage collector does not own.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// stubs is the address of the first piece of code of stubs_amd64.s, enter that
// of the code of Func.
var stubs, enter uintptr

const (
	stubCount = 4096
	stubSize  = 16
)

// methods are the closures to which the pieces jump.
var methods [stubCount]unsafe.Pointer

// FuncPointer returns the closure behind a value of a func type.
func FuncPointer(f reflect.Value) unsafe.Pointer {
	p := reflect.New(f.Type())
	p.Elem().Set(f)
	return *(*unsafe.Pointer)(p.UnsafePointer())
}

// Enter is the code of a func value that goes on to the func value which lies
// in its second word.
func Enter() uintptr { return enter }
