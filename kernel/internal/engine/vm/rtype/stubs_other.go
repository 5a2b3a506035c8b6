//go:build !amd64

package rtype

// processor: the package knows this processor's code.
const processor = false

// Goroutine returns a pointer that tells running goroutines apart.
func Goroutine() uintptr { panic("rtype: not on this processor") }
