//go:build !amd64

package rtype

// Supported reports whether the package knows this processor's code.
const Supported = false

// Goroutine returns a pointer that tells running goroutines apart.
func Goroutine() uintptr { panic("rtype: not on this processor") }
