//go:build cgo

package llama

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"runtime/cgo"
	"sync"
	"unsafe"
)

var initialise = sync.OnceFunc(func() { C.bb_init() })

// MaxSequences is llama_max_parallel_sequences.
func MaxSequences() int { return int(C.llama_max_parallel_sequences()) }

// BlockSize is ggml_blck_size and ggml_type_size: how many values of a tensor
// type go into how many bytes.
func BlockSize(tensorType int) (values, bytes int) {
	t := C.enum_ggml_type(tensorType)
	return int(C.ggml_blck_size(t)), int(C.ggml_type_size(t))
}

// Build says how the engine was compiled: "native", "baseline" or "system",
// and the instruction sets of this package's own C code, which is compiled
// with the same flags as an embedded llama.cpp.
func Build() (kind, cpu string) {
	cpu = C.GoString(C.bb_cpu())
	switch {
	case system:
		return "system", cpu
	case bool(C.bb_native()):
		return "native", cpu
	}
	return "baseline", cpu
}

// Model is a llama_model. It is safe for concurrent use until Free.
type Model struct {
	Facts Facts
	c     *C.struct_llama_model
	vocab *C.struct_llama_vocab
}

// Load is llama_model_load_from_file. The error holds llama.cpp's own words.
func Load(path string, p LoadParams) (*Model, error) {
	initialise()
	progress := p.Progress
	if progress == nil {
		progress = func(float32) bool { return true }
	}
	handle := cgo.NewHandle(progress)
	defer handle.Delete()
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	msg := newMessage()
	defer msg.free()
	mark := log.mark()
	c := C.bb_model_load(cpath, C.bool(p.Map), C.int32_t(p.GPULayers), C.uintptr_t(handle), msg.c)
	if c == nil {
		return nil, msg.error(mark, "llama.cpp gives no reason")
	}
	m := &Model{c: c, vocab: C.llama_model_get_vocab(c)}
	m.readFacts()
	return m, nil
}

// Free is llama_model_free. Every Context of the model must be freed before.
func (m *Model) Free() {
	C.llama_model_free(m.c)
	m.c, m.vocab = nil, nil
}

func (m *Model) readFacts() {
	f := &m.Facts
	f.Vocabulary = int(C.llama_vocab_n_tokens(m.vocab))
	f.ContextTrain = int(C.llama_model_n_ctx_train(m.c))
	f.Parameters = uint64(C.llama_model_n_params(m.c))
	f.HasEncoder, f.HasDecoder = bool(C.llama_model_has_encoder(m.c)), bool(C.llama_model_has_decoder(m.c))
	f.Recurrent, f.Hybrid = bool(C.llama_model_is_recurrent(m.c)), bool(C.llama_model_is_hybrid(m.c))
	f.Tokenizer = C.llama_vocab_type(m.vocab) != C.LLAMA_VOCAB_TYPE_NONE
	f.AddBOS = bool(C.llama_vocab_get_add_bos(m.vocab))
	f.BOS, f.EOS = int32(C.llama_vocab_bos(m.vocab)), int32(C.llama_vocab_eos(m.vocab))
	if t := C.llama_model_chat_template(m.c, nil); t != nil {
		f.Template = C.GoString(t)
	}

	f.Metadata = make(map[string]string)
	for i := range C.llama_model_meta_count(m.c) {
		key := cText(func(buf *C.char, n C.size_t) C.int32_t { return C.llama_model_meta_key_by_index(m.c, i, buf, n) })
		f.Metadata[key] = cText(func(buf *C.char, n C.size_t) C.int32_t { return C.llama_model_meta_val_str_by_index(m.c, i, buf, n) })
	}

	f.End, f.Control = make([]bool, f.Vocabulary), make([]bool, f.Vocabulary)
	if f.Vocabulary == 0 || !f.Tokenizer { // the flags are the tokenizer's
		return
	}
	flags := make([]byte, f.Vocabulary)
	C.bb_token_flags(m.vocab, (*C.uint8_t)(&flags[0]))
	for i, b := range flags {
		f.End[i], f.Control[i] = b&C.BB_END != 0, b&C.BB_CONTROL != 0
	}
}

// Tokenize is llama_tokenize without added tokens. special says whether the
// text of a control token becomes that token.
func (m *Model) Tokenize(text string, special bool) ([]int32, error) {
	if text == "" {
		return nil, nil
	}
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	msg := newMessage()
	defer msg.free()
	mark := log.mark()
	// A token has at least one byte; a prefix space may add one.
	out := make([]int32, len(text)+2)
	for {
		n := C.bb_tokenize(m.vocab, ctext, C.int32_t(len(text)), (*C.llama_token)(&out[0]), C.int32_t(len(out)), C.bool(special), msg.c)
		switch {
		case n == C.INT32_MIN:
			return nil, msg.error(mark, "the vocabulary has no token for some of its bytes")
		case n < 0:
			out = make([]int32, -n)
			continue
		}
		return out[:n:n], nil
	}
}

// Piece is llama_token_to_piece with control tokens shown: the token's bytes.
// It is nil for a token outside the vocabulary.
func (m *Model) Piece(token int32) []byte {
	if token < 0 || int(token) >= m.Facts.Vocabulary || !m.Facts.Tokenizer {
		return nil
	}
	var small [64]C.char
	n := C.bb_piece(m.vocab, C.llama_token(token), &small[0], C.int32_t(len(small)))
	if n >= 0 {
		return C.GoBytes(unsafe.Pointer(&small[0]), C.int(n))
	}
	buf := make([]C.char, -n)
	n = C.bb_piece(m.vocab, C.llama_token(token), &buf[0], C.int32_t(len(buf)))
	return C.GoBytes(unsafe.Pointer(&buf[0]), C.int(max(n, 0)))
}

// BuiltinChat is llama_chat_apply_template: llama.cpp's own rendering, by
// recognition, of the common families of templates. Each of messages is a
// role and a content. The second result is false for an unknown template.
func BuiltinChat(template string, messages [][2]string, addAssistant bool) (string, bool) {
	text := template
	n := 256
	tmpl := C.CString(text)
	defer C.free(unsafe.Pointer(tmpl))
	// One array of C memory, because C may not be given a Go slice of pointers.
	ptrs := C.malloc(C.size_t(2*len(messages)+1) * C.size_t(unsafe.Sizeof(tmpl)))
	defer C.free(ptrs)
	list := unsafe.Slice((**C.char)(ptrs), 2*len(messages)+1)
	for i, m := range messages {
		list[i], list[len(messages)+i] = C.CString(m[0]), C.CString(m[1])
		defer C.free(unsafe.Pointer(list[i]))
		defer C.free(unsafe.Pointer(list[len(messages)+i]))
		n += 2*len(m[0]) + 2*len(m[1]) + 64
	}
	buf := make([]byte, n)
	got := C.bb_chat(tmpl, &list[0], &list[len(messages)], C.int32_t(len(messages)), C.bool(addAssistant), (*C.char)(unsafe.Pointer(&buf[0])), C.int32_t(n))
	if got < 0 || int(got) > n {
		return "", false
	}
	return string(buf[:got]), true
}

// message is a buffer in C memory for the text of a C++ exception.
type message struct{ c *C.char }

func newMessage() message { return message{(*C.char)(C.calloc(1, C.BB_ERR_SIZE))} }
func (m message) free()   { C.free(unsafe.Pointer(m.c)) }

// error joins the exception's text, or else what was logged since mark, or
// else otherwise.
func (m message) error(mark int, otherwise string) error {
	text := C.GoString(m.c)
	if text == "" {
		text = log.since(mark)
	}
	if text == "" {
		text = otherwise
	}
	return errors.New(text)
}

// cText calls a snprintf-like function with a buffer that is long enough.
func cText(call func(buf *C.char, n C.size_t) C.int32_t) string {
	for size := 256; ; {
		buf := (*C.char)(C.malloc(C.size_t(size)))
		n := int(call(buf, C.size_t(size)))
		if n < size {
			defer C.free(unsafe.Pointer(buf))
			return C.GoStringN(buf, C.int(max(n, 0)))
		}
		C.free(unsafe.Pointer(buf))
		size = n + 1
	}
}
