// Package stdlib holds source versions, written from their documentation, of
// what is generic in the standard library: symbol tables cannot hold it.
// math_rand_v2.go.txt is of package math/rand/v2.
package stdlib

import (
	"embed"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Paths are the import paths of the packages that have a source here.
var Paths = []string{"cmp", "errors", "iter", "maps", "math/rand/v2", "slices", "sync", "sync/atomic"}

// Text returns the source of a package's generic part, or nil if there is
// none here.
func Text(importPath string) []byte {
	text, err := files.ReadFile(strings.ReplaceAll(importPath, "/", "_") + ".go.txt")
	if err != nil {
		return nil
	}
	return text
}
