package llmtest

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/branchbook/branchbook/lib/llm"
)

// A BrokenFile must not load.
type BrokenFile struct {
	Name string // a phrase
	Path string
	Err  error // what errors.Is finds in the error of llm.Open
}

// Broken writes files that must not load to the test's temporary folder.
func Broken(tb testing.TB) []BrokenFile {
	tb.Helper()
	whole := Tiny{}.File()
	edit := func(at int, with ...byte) []byte {
		b := bytes.Clone(whole)
		copy(b[at:], with)
		return b
	}
	at := func(text string) int { return bytes.Index(whole, []byte(text)) }
	files := []struct {
		name string
		data []byte
		err  error
	}{
		{"cut to 99 %", whole[:len(whole)*99/100], llm.ErrTruncated},
		{"cut to half", whole[:len(whole)/2], llm.ErrTruncated},
		{"cut within the tensor list", whole[:at("output_norm.weight")+3], llm.ErrTruncated},
		{"cut within the metadata", whole[:at("general.name")+3], llm.ErrTruncated},
		{"cut to 10 bytes", whole[:10], llm.ErrTruncated},
		{"cut to 3 bytes", whole[:3], llm.ErrTruncated},
		{"empty", nil, llm.ErrTruncated},
		{"a text", []byte("Once upon a time there was a model.\n"), llm.ErrNotGGUF},
		{"a zip archive", []byte("PK\x03\x04 and so on"), llm.ErrNotGGUF},
		{"version 1", edit(4, 1), llm.ErrNotGGUF},
		{"a version of the future", edit(4, 9), llm.ErrNotGGUF},
		{"big-endian", edit(4, 0, 0, 0, 3), llm.ErrNotGGUF},
		{"more tensors than bytes", edit(8, binary.LittleEndian.AppendUint64(nil, 1<<40)...), llm.ErrTruncated},
		{"a string longer than the file", edit(24, binary.LittleEndian.AppendUint64(nil, 1<<62)...), llm.ErrTruncated},
		{"a value of no known type", edit(at("general.name")+len("general.name"), 77), llm.ErrCorrupt},
		{"a tensor of nine dimensions", edit(at("token_embd.weight")+len("token_embd.weight"), 9), llm.ErrCorrupt},
		{"no architecture", edit(at("general.architecture"), 'G'), llm.ErrCorrupt},
		{"a tensor of a wrong name", edit(at("output_norm.weight"), 'O'), llm.ErrLoad},
		{"an architecture of the future", Tiny{Architecture: "quantumflux"}.File(), llm.ErrArchitecture},
	}
	dir := tb.TempDir()
	list := []BrokenFile{
		{"not there", filepath.Join(dir, "nowhere.gguf"), fs.ErrNotExist},
		{"a directory", dir, llm.ErrDirectory},
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name+".gguf")
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			tb.Fatal(err)
		}
		list = append(list, BrokenFile{f.name, path, f.err})
	}
	return list
}
