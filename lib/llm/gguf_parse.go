package llm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// parseGGUF reads the header of a file of size bytes. The format is that of
// ggml's docs/gguf.md: all numbers little-endian, a string is its length and
// its bytes.
func parseGGUF(r io.Reader, size int64) (*File, error) {
	p := &ggufParser{r: bufio.NewReaderSize(r, 1<<16), left: size}
	f := &File{Bytes: size, Metadata: make(map[string]string)}
	p.header(f)
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

// ggufParser reads on until the first error, which it keeps.
type ggufParser struct {
	r    *bufio.Reader
	left int64 // bytes of the file that are not read
	err  error
}

func (p *ggufParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *ggufParser) corrupt(format string, args ...any) {
	p.fail(fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...)))
}

func (p *ggufParser) header(f *File) {
	magic := p.bytes(min(4, p.left))
	if p.err == nil && !strings.HasPrefix("GGUF", string(magic)) {
		p.fail(ErrNotGGUF)
	}
	if p.err == nil && len(magic) < 4 {
		p.fail(fmt.Errorf("%w: it holds %d bytes", ErrTruncated, f.Bytes))
	}
	version := p.u32()
	f.Version = int(version)
	switch {
	case p.err != nil:
	case version == 1:
		p.fail(fmt.Errorf("%w: version 1 of the format, which llama.cpp no longer reads", ErrNotGGUF))
	case version&0xffff == 0:
		p.fail(fmt.Errorf("%w: its numbers are big-endian", ErrNotGGUF))
	case version > 3:
		p.fail(fmt.Errorf("%w: version %d of the format, 2 and 3 are known", ErrNotGGUF, version))
	}
	tensors, pairs := p.count("tensors", 24), p.count("key-value pairs", 13)
	for range pairs {
		p.pair(f.Metadata)
	}
	f.Tensors = int(tensors)
	align := int64(32)
	if a, err := strconv.ParseInt(f.Metadata["general.alignment"], 10, 64); err == nil {
		align = a
	}
	if align < 1 || align > 1<<20 || align&(align-1) != 0 {
		p.corrupt("alignment is %d", align)
		return
	}
	var end uint64 // of the tensor data
	for range tensors {
		n, to := p.tensor()
		f.Parameters += n
		end = max(end, to)
	}
	if p.err != nil {
		return
	}
	at := f.Bytes - p.left
	start := (at + align - 1) / align * align
	if have := f.Bytes - start; end > 0 && (have < 0 || end > uint64(have)) {
		p.fail(fmt.Errorf("%w: it holds %d bytes, its header tells of %d", ErrTruncated, f.Bytes, uint64(start)+end))
		return
	}
	f.Name = f.Metadata["general.name"]
	f.Architecture = f.Metadata["general.architecture"]
	if f.Architecture == "" {
		p.corrupt("no general.architecture")
	}
	f.Quantisation = fileTypes[f.Metadata["general.file_type"]]
}

// bytes reads n bytes.
func (p *ggufParser) bytes(n int64) []byte {
	if p.err != nil {
		return nil
	}
	if n < 0 || n > p.left {
		p.fail(fmt.Errorf("%w: the header ends early", ErrTruncated))
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(p.r, b); err != nil {
		p.readError(err)
		return nil
	}
	p.left -= n
	return b
}

func (p *ggufParser) skip(n uint64) {
	if p.err != nil {
		return
	}
	if n > uint64(p.left) {
		p.fail(fmt.Errorf("%w: the header ends early", ErrTruncated))
		return
	}
	if _, err := io.CopyN(io.Discard, p.r, int64(n)); err != nil {
		p.readError(err)
	}
	p.left -= int64(n)
}

// readError keeps an error of the file system; a file that became shorter
// while it was read is cut short like any other.
func (p *ggufParser) readError(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrTruncated
	}
	p.fail(err)
}

// uint reads a little-endian number of n bytes.
func (p *ggufParser) uint(n int64) (v uint64) {
	for i, b := range p.bytes(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (p *ggufParser) u32() uint32 { return uint32(p.uint(4)) }

// count reads how many things of at least size bytes follow.
func (p *ggufParser) count(what string, size int64) uint64 {
	n := p.uint(8)
	if p.err == nil && n > uint64(p.left/size) {
		p.fail(fmt.Errorf("%w: the header tells of %d %s, which its %d bytes cannot hold", ErrTruncated, n, what, p.left))
		return 0
	}
	return n
}

func (p *ggufParser) string() string { return string(p.bytes(int64(min(p.uint(8), math.MaxInt64)))) }

// Types of metadata values.
const (
	ggufFloat32 = 6
	ggufBool    = 7
	ggufString  = 8
	ggufArray   = 9
	ggufFloat64 = 12
)

// ggufSizes are the bytes of each fixed-size type.
var ggufSizes = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, ggufFloat32: 4, ggufBool: 1, 10: 8, 11: 8, ggufFloat64: 8}

func (p *ggufParser) pair(meta map[string]string) {
	key, kind := p.string(), p.u32()
	if p.err != nil {
		return
	}
	if _, twice := meta[key]; twice {
		p.corrupt("key %q is there twice", key)
	}
	switch kind {
	case ggufString:
		meta[key] = p.string()
	case ggufArray:
		p.array(key)
	default:
		meta[key] = p.scalar(key, kind)
	}
}

func (p *ggufParser) scalar(key string, kind uint32) string {
	size, ok := ggufSizes[kind]
	if !ok {
		p.corrupt("key %q has a value of unknown type %d", key, kind)
		return ""
	}
	v := p.uint(size)
	switch kind {
	case ggufFloat32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case ggufFloat64:
		return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64)
	case ggufBool:
		return strconv.FormatBool(v != 0)
	case 1, 3, 5, 11: // signed
		shift := 64 - 8*size
		return strconv.FormatInt(int64(v<<shift)>>shift, 10)
	}
	return strconv.FormatUint(v, 10)
}

func (p *ggufParser) array(key string) {
	kind := p.u32()
	size, fixed := ggufSizes[kind]
	switch {
	case p.err != nil:
	case fixed:
		p.skip(p.count("values of "+key, size) * uint64(size))
	case kind == ggufString:
		for range p.count("values of "+key, 8) {
			p.skip(p.uint(8))
		}
	default:
		p.corrupt("key %q has an array of type %d", key, kind)
	}
}

// tensor reads a tensor's description: its values, and where its data ends,
// counted from the start of all data. A type that is not in tensorTypes is
// left for llama.cpp to judge, and ends where it starts.
func (p *ggufParser) tensor() (values int64, end uint64) {
	name, dims := p.string(), p.u32()
	if p.err == nil && (dims < 1 || dims > 4) {
		p.corrupt("tensor %q has %d dimensions", name, dims)
	}
	if p.err != nil {
		return 0, 0
	}
	n, row := uint64(1), uint64(0)
	for i := range dims {
		d := p.uint(8)
		if i == 0 {
			row = d
		}
		hi, lo := bits.Mul64(n, d)
		if p.err == nil && (hi != 0 || lo > math.MaxInt64 || d == 0) {
			p.corrupt("tensor %q has impossible dimensions", name)
		}
		n = lo
	}
	kind, offset := p.u32(), p.uint(8)
	if p.err != nil {
		return 0, 0
	}
	t, ok := tensorTypes[kind]
	if !ok {
		return int64(n), offset
	}
	if row%t.values != 0 {
		p.corrupt("tensor %q has rows of %d values, which blocks of %d do not divide", name, row, t.values)
		return 0, 0
	}
	hi, size := bits.Mul64(n/t.values, t.bytes)
	end = offset + size
	if hi != 0 || end < offset {
		p.corrupt("tensor %q has impossible dimensions", name)
	}
	return int64(n), end
}
