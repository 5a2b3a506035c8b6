package modules

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Beside returns what the module that a Go file lies in has of the packages
// that the file imports, and of all that they need; its go.mod stays as it is.
// The listing is empty if the file needs no module, or lies in none.
func (c Command) Beside(ctx context.Context, file string, source []byte) (Listing, error) {
	l := newListing()
	imports := foreign(source)
	dir := moduleDir(filepath.Dir(file))
	if len(imports) == 0 || dir == "" {
		return l, nil
	}
	return l, c.add(ctx, filepath.Dir(file), &l, append([]string{"list"}, listFlags...), imports)
}

// foreign lists the packages that a Go file imports and that are not embedded.
func foreign(source []byte) []string {
	f, _ := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	var list []string
	for _, im := range f.Imports {
		path, err := strconv.Unquote(im.Path.Value)
		if err == nil && path != "C" && path != "" && !strings.HasPrefix(path, "-") && !embedded(path) {
			list = append(list, path)
		}
	}
	return list
}

// moduleDir returns the directory of the go.mod in dir or above; "" for none.
func moduleDir(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
