package vm

import (
	"sync/atomic"
	"unsafe"
)

// boundsError is runtime's, whose fields are its own.
type boundsError struct {
	x      int64
	y      int
	signed bool
	code   uint8
}

// conversion is the panic of a slice that is too short for an array.
var conversion = caught(func() {
	s := make([]int, 0)
	sink.Store((*int)(unsafe.Pointer((*[1]int)(s))))
})

var sink atomic.Pointer[int]

func caught(f func()) (x any) {
	defer func() { x = recover() }()
	f()
	return nil
}

// shortSlice panics as the conversion of a slice to a longer array does.
func shortSlice(have, want int) {
	x := conversion
	w := (*words)(unsafe.Pointer(&x))
	e := *(*boundsError)(w.data)
	e.x, e.y = int64(want), have
	w.data = unsafe.Pointer(&e)
	panic(x)
}
