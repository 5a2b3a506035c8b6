package llm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

func TestTensorTypesHaveGgmlsSizes(t *testing.T) {
	if llama.MaxSequences() == 0 {
		t.Skip(llama.ErrUnavailable)
	}
	for kind, want := range tensorTypes {
		values, size := llama.BlockSize(int(kind))
		if got := (blockSize{uint64(values), uint64(size)}); got != want {
			t.Errorf("type %d: ggml packs %+v, the table says %+v", kind, got, want)
		}
	}
}

// header builds a header by hand, as the format's description says.
type header struct{ bytes.Buffer }

func (h *header) u32(v uint32) *header { return h.num(v) }
func (h *header) u64(v uint64) *header { return h.num(v) }
func (h *header) num(v any) *header {
	binary.Write(h, binary.LittleEndian, v)
	return h
}
func (h *header) str(s string) *header {
	h.u64(uint64(len(s)))
	h.WriteString(s)
	return h
}
func begin(tensors, pairs uint64) *header {
	h := new(header)
	h.WriteString("GGUF")
	return h.u32(3).u64(tensors).u64(pairs).str("general.architecture").u32(8).str("x")
}

func TestHeaderValuesBecomeText(t *testing.T) {
	h := begin(0, 12)
	for i, v := range []any{uint8(200), int8(-3), uint16(60000), int16(-4), uint32(4e9), int32(-5), float32(0.1)} {
		h.str(string(rune('a' + i))).u32(uint32(i)).num(v)
	}
	h.str("bool").u32(7).num(true)
	h.str("u64").u32(10).u64(1 << 63)
	h.str("i64").u32(11).num(int64(-1 << 63))
	h.str("f64").u32(12).num(1e-300)
	f, err := parseGGUF(h, int64(h.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"a": "200", "b": "-3", "c": "60000", "d": "-4", "e": "4000000000", "f": "-5", "g": "0.1",
		"bool": "true", "u64": "9223372036854775808", "i64": "-9223372036854775808", "f64": "1e-300",
	} {
		if f.Metadata[key] != want {
			t.Errorf("%s is %q, want %q", key, f.Metadata[key], want)
		}
	}
}

func TestHeadersThatOverflow(t *testing.T) {
	tensor := func(dims ...uint64) *header {
		h := begin(1, 1).str("t").u32(uint32(len(dims)))
		for _, d := range dims {
			h.u64(d)
		}
		return h
	}
	for name, c := range map[string]struct {
		h    *header
		want error
	}{
		"dimensions that overflow":           {tensor(1<<40, 1<<40).u32(0).u64(0), ErrCorrupt},
		"a dimension of nothing":             {tensor(0).u32(0).u64(0), ErrCorrupt},
		"no dimensions":                      {tensor().u32(0).u64(0), ErrCorrupt},
		"bytes that overflow":                {tensor(1<<31, 1<<31).u32(28).u64(0), ErrCorrupt},
		"an offset that overflows":           {tensor(1).u32(0).u64(1<<64 - 1), ErrCorrupt},
		"an offset past the end":             {tensor(1).u32(0).u64(1 << 40), ErrTruncated},
		"rows that blocks do not divide":     {tensor(31, 2).u32(8).u64(0), ErrCorrupt},
		"an array of arrays":                 {begin(0, 2).str("k").u32(9).u32(9).u64(0), ErrCorrupt},
		"an array longer than the file":      {begin(0, 2).str("k").u32(9).u32(4).u64(1 << 60), ErrTruncated},
		"a key that is there twice":          {begin(0, 2).str("general.architecture").u32(8).str("x"), ErrCorrupt},
		"an alignment that is no power of 2": {begin(0, 2).str("general.alignment").u32(4).u32(33), ErrCorrupt},
		"an alignment of 0":                  {begin(0, 2).str("general.alignment").u32(4).u32(0), ErrCorrupt},
	} {
		if _, err := parseGGUF(c.h, int64(c.h.Len())); !errors.Is(err, c.want) {
			t.Errorf("%s: error is %v, want %v", name, err, c.want)
		}
	}
}

// FuzzGGUF checks that no header makes the parser panic, hang or take much
// memory, and that what passes fits its file.
func FuzzGGUF(f *testing.F) {
	f.Add(begin(0, 1).Bytes())
	f.Add(begin(1, 1).str("t").u32(2).u64(4).u64(2).u32(0).u64(0).Bytes())
	f.Add(begin(0, 2).str("k").u32(9).u32(8).u64(2).str("a").str("b").Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseGGUF(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if file != nil || !errors.Is(err, ErrNotGGUF) && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupt) {
				t.Errorf("error is %v", err)
			}
			return
		}
		if file.Parameters < 0 || file.Tensors > len(data) || len(file.Metadata) > len(data) {
			t.Errorf("%d bytes hold %d parameters, %d tensors, %d pairs", len(data), file.Parameters, file.Tensors, len(file.Metadata))
		}
	})
}
