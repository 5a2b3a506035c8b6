//go:build cgo

package llama

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Context is a llama_context: one KV cache, and the logits of the last
// decode. One goroutine uses it at a time; only Stop may be called beside.
type Context struct {
	Cells, Batch int // as llama.cpp rounded them

	c     *C.bb_context
	vocab int
}

// NewContext is llama_init_from_model with flash attention and one KV cache
// for all sequences.
func (m *Model) NewContext(p ContextParams) (*Context, error) {
	msg := newMessage()
	defer msg.free()
	mark := log.mark()
	c := C.bb_context_new(m.c, C.uint32_t(p.Cells), C.uint32_t(p.Batch), C.uint32_t(p.MicroBatch), C.uint32_t(p.Sequences), C.int32_t(p.Threads), C.uint32_t(p.Poll), msg.c)
	if c == nil {
		return nil, msg.error(mark, "out of memory")
	}
	if !C.bb_has_memory(c) {
		C.bb_context_free(c)
		return nil, errors.New("the model keeps no KV cache, so it continues no text")
	}
	return &Context{Cells: int(C.bb_context_cells(c)), Batch: int(C.bb_context_batch(c)), c: c, vocab: m.Facts.Vocabulary}, nil
}

// Free is llama_free.
func (c *Context) Free() {
	C.bb_context_free(c.c)
	c.c = nil
}

// SetThreads is llama_set_n_threads; at most the number at NewContext.
func (c *Context) SetThreads(n int) { C.bb_context_threads(c.c, C.int32_t(n)) }

// Stop makes a decode that runs now, and every later one, end with ErrAborted
// until Stop(false). It may be called from any goroutine.
func (c *Context) Stop(stop bool) { C.bb_context_stop(c.c, 1, C.bool(stop)) }

// Late is a second reason to stop, beside that of Stop.
func (c *Context) Late(late bool) { C.bb_context_stop(c.c, 2, C.bool(late)) }

// Decode is llama_decode, and waits for its end. After any error the cells of
// some of the batch's tokens may be filled: Remove them.
func (c *Context) Decode(b Batch) error {
	n := len(b.Token)
	if len(b.Pos) != n || len(b.Seq) != n || len(b.Out) != n {
		panic("llama: Batch slices differ in length")
	}
	if n == 0 || n > c.Batch {
		return fmt.Errorf("batch holds 1 to %d tokens, not %d", c.Batch, n)
	}
	msg := newMessage()
	defer msg.free()
	mark := log.mark()
	// C keeps pointers into Seq during the call, in its own memory.
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&b.Seq[0])
	rc := C.bb_decode(c.c, C.int32_t(n), (*C.int32_t)(&b.Token[0]), (*C.int32_t)(&b.Pos[0]), (*C.int32_t)(&b.Seq[0]), (*C.int8_t)(&b.Out[0]), msg.c)
	switch rc {
	case 0:
		return nil
	case 1:
		return ErrNoSlot
	case 2:
		return ErrAborted
	}
	return fmt.Errorf("llama_decode returned %d: %w", rc, msg.error(mark, "llama.cpp gives no reason"))
}

// CPUSeconds is for how long the calling thread ran in the last decode; less
// than the decode took if other threads wanted its core.
func (c *Context) CPUSeconds() float64 { return float64(C.bb_cpu_seconds(c.c)) }

// Row is the logits after one token of the last decode. It is valid until the
// next, and may be read from several goroutines.
type Row struct {
	c *C.float
	n int
}

// Row is llama_get_logits_ith: i counts the batch's tokens, whose Out was 1.
func (c *Context) Row(i int) (Row, error) {
	p := C.bb_logits(c.c, C.int32_t(i))
	if p == nil {
		return Row{}, fmt.Errorf("no logits for token %d of the batch", i)
	}
	return Row{p, c.vocab}, nil
}

// Copy copies the logits.
func (r Row) Copy() []float32 {
	return append([]float32(nil), unsafe.Slice((*float32)(r.c), r.n)...)
}

// Read reduces the row in C.
func (r Row) Read(q Query) (Answer, error) { return read(r.c, r.n, q) }

// Read reduces logits that Go holds, as Row.Read does those of llama.cpp.
func Read(logits []float32, q Query) (Answer, error) {
	if len(logits) == 0 {
		return Answer{}, ErrNotFinite
	}
	return read((*C.float)(&logits[0]), len(logits), q)
}

func read(x *C.float, n int, q Query) (Answer, error) {
	for _, t := range q.Score {
		if t < 0 || int(t) >= n {
			return Answer{}, fmt.Errorf("token %d is outside the vocabulary of %d", t, n)
		}
	}
	top := min(max(q.Top, 0), n)
	ids, lps := make([]int32, top+len(q.Draws)), make([]float64, top+len(q.Draws)+len(q.Score)+2)
	a := Answer{
		Top: ids[:top:top], Drawn: ids[top:],
		TopLP: lps[:top:top], DrawnLP: lps[top : top+len(q.Draws)], ScoreLP: lps[top+len(q.Draws) : len(lps)-2],
	}
	stats := lps[len(lps)-2:]
	rc := C.bb_read(x, C.int32_t(n), C.double(q.Power),
		C.int32_t(top), (*C.int32_t)(unsafe.SliceData(a.Top)), (*C.double)(unsafe.SliceData(a.TopLP)),
		C.int32_t(len(q.Draws)), (*C.double)(unsafe.SliceData(q.Draws)), (*C.int32_t)(unsafe.SliceData(a.Drawn)), (*C.double)(unsafe.SliceData(a.DrawnLP)),
		C.int32_t(len(q.Score)), (*C.int32_t)(unsafe.SliceData(q.Score)), (*C.double)(unsafe.SliceData(a.ScoreLP)),
		(*C.double)(&stats[0]), (*C.double)(&stats[1]))
	switch rc {
	case 0:
		a.LogZ, a.Entropy = stats[0], stats[1]
		return a, nil
	case 1:
		return Answer{}, ErrNotFinite
	}
	return Answer{}, errors.New("out of memory")
}

// CopySequence is llama_memory_seq_cp of all positions, once for each of to.
func (c *Context) CopySequence(from int, to []int32) {
	if len(to) > 0 {
		C.bb_copy(c.c, C.int32_t(from), (*C.int32_t)(&to[0]), C.int32_t(len(to)))
	}
}

// Remove is llama_memory_seq_rm of the positions from first on. It is false
// where the model cannot forget a part.
func (c *Context) Remove(seq, first int) bool {
	return bool(C.bb_remove(c.c, C.int32_t(seq), C.int32_t(first)))
}
