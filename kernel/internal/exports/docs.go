package exports

import (
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
	"sync"
)

// embeddedDocs is written by gen: the length of the index as four bytes, most
// significant first; the index, a line "path length" for each package; the
// pieces in that order, each compressed by itself. A piece is a sequence of
// names and their comments, each ended by a NUL.
//
//go:embed docs.bin
var embeddedDocs string

// Doc returns the doc comment of what a package declares: of a name, of a
// method or field as "Reader.Read", of the package itself for "". It is empty
// where there is none. What Go predeclares is in the package "builtin".
func Doc(path, name string) string {
	if other := index().aliases[path]; other != "" {
		path = other
	}
	docs.mu.Lock()
	defer docs.mu.Unlock()
	if docs.pieces == nil {
		docs.pieces = docPieces()
		docs.texts = map[string]string{}
	}
	text, ok := docs.texts[path]
	if !ok {
		data, err := io.ReadAll(flate.NewReader(strings.NewReader(docs.pieces[path])))
		if err == nil {
			text = string(data)
		}
		docs.texts[path] = text // of an unknown package: nothing
	}
	for rest := text; rest != ""; {
		symbol, after, _ := strings.Cut(rest, "\x00")
		comment, next, _ := strings.Cut(after, "\x00")
		if symbol == name {
			return comment
		}
		rest = next
	}
	return ""
}

var docs struct {
	mu     sync.Mutex
	pieces map[string]string // compressed, by path
	texts  map[string]string // of those that were asked about
}

func docPieces() map[string]string {
	off := 4 + int(binary.BigEndian.Uint32([]byte(embeddedDocs[:4])))
	pieces := map[string]string{}
	for line := range strings.Lines(embeddedDocs[4:off]) {
		path, size, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(size)
		if err != nil {
			panic("exports: the embedded index of comments is broken: " + line)
		}
		pieces[path] = embeddedDocs[off : off+n]
		off += n
	}
	return pieces
}
