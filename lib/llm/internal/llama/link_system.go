//go:build cgo && llama_system

package llama

// #cgo pkg-config: llama
// #cgo CFLAGS: -DBRANCHBOOK_LLAMA_SYSTEM
// #cgo CXXFLAGS: -DBRANCHBOOK_LLAMA_SYSTEM
import "C"

const (
	Name   = "llama.cpp"
	Commit = "system"
	system = true
)
