//go:build cgo

package llama

// #include "shim.h"
import "C"

import (
	"runtime/cgo"
	"strings"
	"sync"
)

//export goProgress
func goProgress(done C.float, handle C.uintptr_t) C.bool {
	f := cgo.Handle(handle).Value().(func(float32) bool)
	return C.bool(f(float32(done)))
}

//export goLog
func goLog(level C.int32_t, text *C.char) {
	log.add(int(level), C.GoString(text))
}

// log keeps the last warnings and errors that llama.cpp and ggml wrote, which
// say why a call that only returned null failed. llama.cpp has one logger for
// the process, so lines of two loads at once can mix.
var log logBuffer

type logBuffer struct {
	mu    sync.Mutex
	n     int // lines ever kept
	lines [16]logLine
}

type logLine struct {
	level int
	text  string
}

func (b *logBuffer) add(level int, text string) {
	text = strings.TrimSpace(text)
	if (level != C.GGML_LOG_LEVEL_WARN && level != C.GGML_LOG_LEVEL_ERROR) || text == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[b.n%len(b.lines)] = logLine{level, text}
	b.n++
}

func (b *logBuffer) mark() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

// since joins the kept lines from a mark on, without repetition: the errors,
// or if there are none the warnings.
func (b *logBuffer) since(mark int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	worst := 0
	for i := max(mark, b.n-len(b.lines)); i < b.n; i++ {
		worst = max(worst, b.lines[i%len(b.lines)].level)
	}
	var out []string
	for i := max(mark, b.n-len(b.lines)); i < b.n; i++ {
		line := b.lines[i%len(b.lines)]
		if line.level == worst && (len(out) == 0 || out[len(out)-1] != line.text) {
			out = append(out, line.text)
		}
	}
	return strings.Join(out, "; ")
}
