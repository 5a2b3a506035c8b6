// Package exports knows the types of the packages that cells may import
// without a Go toolchain at run time.
//
// The types are export data, embedded in the binary: one compressed piece for
// each public package of the standard library, of our libraries, and of those
// that notebooks draw and count with. A package is decoded when a cell first
// imports it; nothing happens at start-up.
//
// What packages say about themselves, their doc comments, is embedded beside.
//
// The data describes linux/amd64 without cgo. It differs elsewhere in package
// syscall and little else.
package exports

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

//go:generate go run ./gen exports.bin docs.bin

// embedded is written by gen: the length of the index as four bytes, most
// significant first; the index, lines "path = other" for paths that stand for
// others, "path - reason" for packages that are left out, and "path name length"
// for each package; the pieces of those in the same order, each compressed by
// itself.
//
//go:embed exports.bin
var embedded string

// A piece is where the data of one package lies in embedded.
type piece struct {
	path, name string
	off, end   int
}

// contents is what the index of embedded says, by import path.
type contents struct {
	pieces  map[string]piece
	aliases map[string]string // to the path of what stands in
	missing map[string]string // to the reason
}

var index = sync.OnceValue(func() contents {
	n := 4 + int(binary.BigEndian.Uint32([]byte(embedded[:4])))
	c := contents{map[string]piece{}, map[string]string{}, map[string]string{}}
	off := n
	for line := range strings.Lines(embedded[4:n]) {
		path, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, rest, _ := strings.Cut(rest, " ")
		switch name {
		case "=":
			c.aliases[path] = rest
			continue
		case "-":
			c.missing[path] = rest
			continue
		}
		size, err := strconv.Atoi(rest)
		if err != nil {
			panic("exports: the embedded index is broken: " + line)
		}
		c.pieces[path] = piece{path: path, name: name, off: off, end: off + size}
		off += size
	}
	return c
})

// Names maps the import path of every package that there is to its name.
func Names() map[string]string {
	m := make(map[string]string, len(index().pieces))
	for path, p := range index().pieces {
		m[path] = p.name
	}
	return m
}

// Has tells whether there is a package of the given path, or one that stands in
// for it.
func Has(path string) bool {
	_, ok := index().pieces[path]
	return ok || index().aliases[path] != ""
}

// Importer returns the importer of the embedded packages, one for the whole
// process: a package imported twice is one object. It may be called from
// several goroutines, but what it decodes may add to packages that were only
// mentioned so far: a type checker should not look at them meanwhile.
func Importer() types.Importer { return &shared }

var shared = importer{
	done: map[string]*types.Package{"unsafe": types.Unsafe},
	all:  map[string]*types.Package{"unsafe": types.Unsafe},
}

type importer struct {
	mu   sync.Mutex
	done map[string]*types.Package // those that were asked for
	all  map[string]*types.Package // also those only mentioned so far
}

// Import returns the package of the given path, or what stands in for it: a
// package with a path of ours in the place of another kernel's. The error of a
// path that is not embedded says only that, and why where it is left out.
func (m *importer) Import(path string) (*types.Package, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if other := index().aliases[path]; other != "" {
		path = other
	}
	if p := m.done[path]; p != nil {
		return p, nil
	}
	p, ok := index().pieces[path]
	if reason := index().missing[path]; reason != "" {
		return nil, fmt.Errorf("package %s is not in the notebook: %s", path, reason)
	}
	if !ok {
		return nil, fmt.Errorf("package %s is not in the notebook", path)
	}
	data, err := io.ReadAll(flate.NewReader(strings.NewReader(embedded[p.off:p.end])))
	if err != nil {
		return nil, fmt.Errorf("exports: read %s: %w", path, err)
	}
	pkg, err := gcexportdata.Read(bytes.NewReader(data), token.NewFileSet(), m.all, path)
	if err != nil {
		return nil, fmt.Errorf("exports: read %s: %w", path, err)
	}
	m.done[path] = pkg
	return pkg, nil
}
