package rtype

import (
	"reflect"
	"unsafe"
)

// Memory collects values into one piece of memory.
type Memory struct {
	size uintptr
	bits []byte // a bit a word: it holds a pointer
}

// Add reserves room for a value and returns its offset, which is one of a
// whole word: what lies behind a small value belongs to nobody.
func (m *Memory) Add(t reflect.Type) uintptr {
	at := (m.size + word - 1) &^ (word - 1)
	m.size = at + t.Size()
	m.mark(Of(t), at)
	return at
}

// Size is the size so far.
func (m *Memory) Size() uintptr { return m.size }

// Mark notes the pointers of a value of type t at an offset.
func (m *Memory) mark(t *Type, at uintptr) {
	if t.PtrBytes == 0 {
		return
	}
	switch reflect.Kind(t.kind) {
	case reflect.Array:
		a := (*arrayType)(unsafe.Pointer(t))
		for i := range a.len {
			m.mark(a.elem, at+i*a.elem.Size)
		}
	case reflect.Struct:
		for _, f := range (*structType)(unsafe.Pointer(t)).fields {
			m.mark(f.typ, at+f.offset)
		}
	case reflect.Interface:
		m.set(at)
		m.set(at + word)
	default: // pointers, strings and slices: the first word
		m.set(at)
	}
}

const word = unsafe.Sizeof(uintptr(0))

func (m *Memory) set(at uintptr) {
	i := at / word
	for uintptr(len(m.bits)) <= i/8 {
		m.bits = append(m.bits, 0)
	}
	m.bits[i/8] |= 1 << (i % 8)
}

// Type returns the type of the memory, which only New and Move understand. A
// whole word can be read wherever a value begins, and inside of it.
// Memory of the type must not outlive it.
func (m *Memory) Type() *Type {
	t := &Type{Size: (m.size + 2*word - 1) &^ (word - 1), align: uint8(word), fieldAlign: uint8(word), kind: uint8(reflect.Struct)}
	last := uintptr(0)
	for i := range uintptr(len(m.bits)) * 8 {
		if m.bits[i/8]&(1<<(i%8)) != 0 {
			last = i + 1
		}
	}
	t.PtrBytes = last * word
	if last > 0 {
		// The runtime reads whole words of the mask.
		bits := make([]byte, (uintptr(len(m.bits))+word-1)&^(word-1)+word)
		copy(bits, m.bits)
		t.gcData = unsafe.Pointer(&bits[0])
	}
	return t
}
