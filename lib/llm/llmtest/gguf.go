package llmtest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// gguf collects what goes into a file of the format that ggml's docs/gguf.md
// describes, version 3.
type gguf struct {
	pairs   int
	meta    bytes.Buffer
	tensors []tensor
}

// tensor is a matrix, its first dimension the fastest.
type tensor struct {
	name string
	dims []uint64
	kind uint32 // of enum ggml_type
	data []byte
}

const (
	typeF32  = 0
	typeQ8_0 = 8
)

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
	var b bytes.Buffer
	put(&b, data)
	g.tensors = append(g.tensors, tensor{name, dims, typeF32, b.Bytes()})
}

// addQ8 packs blocks of 32 values as Q8_0: a scale in float16, then each value
// in units of it, rounded, in one byte.
func (g *gguf) addQ8(name string, data []float32, dims ...uint64) {
	var b bytes.Buffer
	for block := range slices.Chunk(data, 32) {
		var most float32
		for _, v := range block {
			most = max(most, v, -v)
		}
		half, scale := float16(most / 127)
		put(&b, half)
		for _, v := range block {
			put(&b, int8(min(max(math.Round(float64(v/scale)), -127), 127)))
		}
	}
	g.tensors = append(g.tensors, tensor{name, dims, typeQ8_0, b.Bytes()})
}

// float16 rounds v, which lies between 2⁻¹⁴ and 2¹⁵, down to a half-precision
// number, and returns its bits and its value.
func float16(v float32) (half uint16, value float32) {
	b := math.Float32bits(v) &^ (1<<13 - 1)
	return uint16(b>>13 - (127-15)<<10), math.Float32frombits(b)
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
		put(&b, t.kind)
		put(&b, uint64(at))
		at += padded(len(t.data))
	}
	for _, t := range g.tensors {
		b.Write(make([]byte, padded(b.Len())-b.Len()))
		b.Write(t.data)
	}
	b.Write(make([]byte, padded(b.Len())-b.Len()))
	return b.Bytes()
}
