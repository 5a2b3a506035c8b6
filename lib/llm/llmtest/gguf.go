package llmtest

import (
	"bytes"
	"encoding/binary"
	"math"
)

// gguf collects what goes into a file of the format that ggml's docs/gguf.md
// describes, version 3.
type gguf struct {
	pairs   int
	meta    bytes.Buffer
	tensors []tensor
}

// tensor is a matrix of float32, its first dimension the fastest.
type tensor struct {
	name string
	dims []uint64
	data []float32
}

const alignment = 32

func put(b *bytes.Buffer, v any) { _ = binary.Write(b, binary.LittleEndian, v) } // a Buffer takes all

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

// set adds a pair; v is a uint32, float32, bool, string, []string, []float32
// or []int32.
func (g *gguf) set(key string, v any) {
	g.pairs++
	putString(&g.meta, key)
	b := &g.meta
	array := func(kind uint32, n int) { put(b, [2]uint32{9, kind}); put(b, uint64(n)) }
	switch v := v.(type) {
	case uint32:
		put(b, uint32(4))
		put(b, v)
	case float32:
		put(b, uint32(6))
		put(b, v)
	case bool:
		put(b, uint32(7))
		put(b, v)
	case string:
		put(b, uint32(8))
		putString(b, v)
	case []string:
		array(8, len(v))
		for _, s := range v {
			putString(b, s)
		}
	case []float32:
		array(6, len(v))
		put(b, v)
	case []int32:
		array(5, len(v))
		put(b, v)
	default:
		panic("llmtest: no such value in a GGUF file")
	}
}

func (g *gguf) add(name string, data []float32, dims ...uint64) {
	g.tensors = append(g.tensors, tensor{name, dims, data})
}

func padded(n int) int { return (n + alignment - 1) / alignment * alignment }

// bytes lays the file out: header, pairs, descriptions, then the data, each
// tensor's aligned.
func (g *gguf) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, uint32(3))
	put(&b, uint64(len(g.tensors)))
	put(&b, uint64(g.pairs))
	b.Write(g.meta.Bytes())
	at := 0
	for _, t := range g.tensors {
		putString(&b, t.name)
		put(&b, uint32(len(t.dims)))
		put(&b, t.dims)
		put(&b, uint32(0)) // F32
		put(&b, uint64(at))
		at += padded(4 * len(t.data))
	}
	for _, t := range g.tensors {
		b.Write(make([]byte, padded(b.Len())-b.Len()))
		for _, v := range t.data {
			put(&b, math.Float32bits(v))
		}
	}
	b.Write(make([]byte, padded(b.Len())-b.Len()))
	return b.Bytes()
}
