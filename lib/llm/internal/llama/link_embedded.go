//go:build cgo && !llama_system

package llama

// The module carries llama.cpp as cgo packages; importing it links it.
import _ "github.com/ollama/ollama/llama/llama.cpp/src"

// The llama.cpp that Version v0.17.4 of that module carries, unchanged for
// the functions used here.
const (
	Name   = "llama.cpp"
	Commit = "ec98e2002"
	system = false
)
