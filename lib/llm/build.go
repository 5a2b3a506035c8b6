package llm

import "github.com/branchbook/branchbook/lib/llm/internal/llama"

// Engine describes the llama.cpp in this program. Threads is what a model
// uses whose options do not say; Context is 0, which only a session has.
// Without cgo there is none, and Build is "none".
func Engine() EngineInfo {
	build, cpu := llama.Build()
	return EngineInfo{Name: llama.Name, Commit: llama.Commit, Build: build, CPU: cpu, Threads: cores()}
}
