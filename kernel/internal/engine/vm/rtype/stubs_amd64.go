package rtype

// Supported reports whether the package knows this processor's code.
const Supported = true

// Goroutine returns a pointer that tells running goroutines apart.
func Goroutine() uintptr
