package exports

import (
	"go/build"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

func TestDoc(t *testing.T) {
	for _, test := range []struct{ path, name, want string }{
		{"fmt", "", "Package fmt implements formatted I/O"},
		{"fmt", "Println", "Println formats using the default formats"},
		{"strings", "Builder.Grow", "Grow grows b's capacity"},
		{"io", "EOF", "EOF is the error returned by Read"},
		{"net/http", "Client.Timeout", "Timeout specifies a time limit"},
		{"net/http", "StatusOK", "RFC 9110"},
		{"sync/atomic", "Pointer.Load", "Load atomically loads"},
		{"builtin", "append", "The append built-in function"},
		{"github.com/janpfeifer/gonb/gonbui", "DisplayPNG", "DisplayPNG shows"}, // another's path of ours
		{"gonum.org/v1/gonum/stat", "Mean", "Mean computes the weighted mean"},
	} {
		if got := Doc(test.path, test.name); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s %s: %q, want %q", test.path, test.name, got, test.want)
		}
	}
	for _, test := range [][2]string{{"fmt", "pp"}, {"fmt", "Nothing"}, {"nothing", ""}, {"", ""}} {
		if got := Doc(test[0], test[1]); got != "" {
			t.Errorf("%q: %q", test, got)
		}
	}
}

// TestEveryPackageIsDocumented wants a comment of each package and of most of
// what the standard library and our libraries have.
func TestEveryPackageIsDocumented(t *testing.T) {
	ours := 0
	for path := range Names() {
		std := !strings.Contains(strings.Split(path, "/")[0], ".")
		own := strings.HasPrefix(path, module+"/")
		if !std && !own {
			continue
		}
		if Doc(path, "") == "" {
			t.Errorf("%s has no comment", path)
		}
		p, err := Importer().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if _, constant := o.(*types.Const); own && o.Exported() && !constant { // those are a type's
				ours++
				if Doc(path, name) == "" {
					t.Errorf("%s.%s has no comment", path, name)
				}
			}
		}
	}
	if ours == 0 {
		t.Error("nothing of ours was looked at")
	}
}

// TestOurCommentsHaveNotDrifted compares what is embedded with the source.
func TestOurCommentsHaveNotDrifted(t *testing.T) {
	for path := range Names() {
		rest, ours := strings.CutPrefix(path, module+"/")
		if !ours {
			continue
		}
		ctx := build.Default
		ctx.CgoEnabled, ctx.GOOS, ctx.GOARCH = false, "linux", "amd64"
		dir := filepath.Join("..", "..", "..", filepath.FromSlash(rest))
		p, err := ctx.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, name := range p.GoFiles {
			files = append(files, filepath.Join(dir, name))
		}
		current, err := extract.Docs(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(current)) {
			if got := Doc(path, name); got != current[name] {
				t.Errorf("%s.%s: %q, want %q; go generate ./kernel/internal/exports brings the data up to date", path, name, got, current[name])
			}
		}
	}
}
