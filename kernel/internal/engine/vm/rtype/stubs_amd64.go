package rtype

// processor: the package knows this processor's code.
const processor = true

// Goroutine returns a pointer that tells running goroutines apart.
func Goroutine() uintptr
