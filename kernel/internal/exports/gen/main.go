// Command gen writes exports.bin, the export data of the packages that cells
// may import: the public packages of the standard library, our own, and what
// notebooks draw and count with; and docs.bin, what they say about themselves.
//
// The data is in the indexed form, which does not depend on the version of
// the compiler. Packages that do not exist yet are skipped with a note.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen EXPORTS DOCS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// public reports whether a package of the standard library is for users.
func public(path string) bool {
	return extract.Importable(path) && !strings.HasPrefix(path, "cmd/") && extract.Excluded[path] == ""
}

func run(exports, docs string) error {
	// Of one platform and without cgo, so that every machine writes the same file.
	for _, setting := range [][2]string{{"CGO_ENABLED", "0"}, {"GOOS", "linux"}, {"GOARCH", "amd64"}, {"GOFLAGS", ""}} {
		if err := os.Setenv(setting[0], setting[1]); err != nil {
			return err
		}
	}
	pkgs, err := extract.List(".", append([]string{"std", "builtin"}, extract.Libraries...)...)
	if err != nil {
		return err
	}
	var paths []string
	files := map[string][]string{} // of each package
	for _, p := range pkgs {
		for _, name := range p.GoFiles {
			files[p.ImportPath] = append(files[p.ImportPath], filepath.Join(p.Dir, name))
		}
		if p.DepOnly || p.Standard && !public(p.ImportPath) {
			continue
		}
		if p.Export == "" {
			if p.Error != nil {
				fmt.Fprintf(os.Stderr, "gen: skipping %s: %s\n", p.ImportPath, p.Error.Err)
			}
			continue
		}
		paths = append(paths, p.ImportPath)
	}
	slices.Sort(paths)

	imp := extract.Importer(pkgs)
	var index, data bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(extract.Aliases)) {
		fmt.Fprintf(&index, "%s = %s\n", path, extract.Aliases[path])
	}
	for _, path := range slices.Sorted(maps.Keys(extract.Excluded)) {
		if path != "unsafe" { // which has no data either, but type checkers know it
			fmt.Fprintf(&index, "%s - %s\n", path, extract.Excluded[path])
		}
	}
	for _, path := range paths {
		pkg, err := imp.Import(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		var raw bytes.Buffer
		if err := gcexportdata.Write(&raw, token.NewFileSet(), pkg); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		start := data.Len()
		z, err := flate.NewWriter(&data, flate.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(raw.Bytes()); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		fmt.Fprintf(&index, "%s %s %d\n", path, pkg.Name(), data.Len()-start)
	}
	if err := write(exports, index, data); err != nil {
		return err
	}
	return writeDocs(docs, append(paths, "builtin"), files)
}

// write writes a file: the length of the index, the index, the data.
func write(name string, index, data bytes.Buffer) error {
	out := binary.BigEndian.AppendUint32(nil, uint32(index.Len()))
	out = append(out, index.Bytes()...)
	out = append(out, data.Bytes()...)
	return os.WriteFile(name, out, 0o644)
}

// writeDocs writes the doc comments of packages.
func writeDocs(name string, paths []string, files map[string][]string) error {
	var index, data bytes.Buffer
	for _, path := range paths {
		comments, err := extract.Docs(files[path])
		if err != nil {
			return fmt.Errorf("read the comments of %s: %w", path, err)
		}
		start := data.Len()
		z, err := flate.NewWriter(&data, flate.BestCompression)
		if err != nil {
			return err
		}
		for _, symbol := range slices.Sorted(maps.Keys(comments)) {
			if _, err := fmt.Fprintf(z, "%s\x00%s\x00", symbol, comments[symbol]); err != nil {
				return err
			}
		}
		if err := z.Close(); err != nil {
			return err
		}
		fmt.Fprintf(&index, "%s %d\n", path, data.Len()-start)
	}
	return write(name, index, data)
}
