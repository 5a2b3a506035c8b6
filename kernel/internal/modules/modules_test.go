package modules

import (
	"context"
	"encoding/json"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/modules/modulestest"
)

func serve(t *testing.T) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "refused.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	modulestest.Proxy(t, archive)
}

func get(t *testing.T, prev Listing, args ...string) Listing {
	t.Helper()
	l, err := Command{}.Get(context.Background(), prev, args)
	if err != nil {
		t.Fatalf("get %v: %v", args, err)
	}
	return l
}

// What cannot run says which package of which module, which file, and why.
func TestPackagesThatCannotRun(t *testing.T) {
	serve(t)
	for name, c := range map[string]struct{ module, path, want string }{
		"cgo":                         {"example.org/cgo", "example.org/cgo", `package example.org/cgo (example.org/cgo v1.0.0), a.go: it needs cgo (import "C")`},
		"embedded files":              {"example.org/embeds", "example.org/embeds", "(example.org/embeds v1.0.0), a.go:5: it embeds files (go:embed)"},
		"a package that cells lack":   {"example.org/plugs", "example.org/plugs", `package example.org/plugs/inner (example.org/plugs v1.0.0), a.go:3: it imports "plugin"`},
		"an import cycle":             {"example.org/cycle", "example.org/cycle/a", "import cycle: example.org/cycle/a → example.org/cycle/b → example.org/cycle/a"},
		"a syntax error":              {"example.org/syntax", "example.org/syntax", "a.go:3: syntax error: "},
		"a type error":                {"example.org/wrong", "example.org/wrong", "a.go:3: cannot use \"text\""},
		"another system":              {"example.org/windows", "example.org/windows", "none of its files is for this system: a_windows.go"},
		"two packages in a directory": {"example.org/twins", "example.org/twins", "found packages one (a.go) and two (b.go)"},
		"no such package":             {"example.org/cgo", "example.org/cgo/none", "package example.org/cgo/none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSet(true)
			s.Use(get(t, Listing{}, c.module))
			_, err := s.Import(c.path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("import %s: %v, want %s", c.path, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), os.Getenv("GOMODCACHE")) {
				t.Errorf("import %s: %v: the cache's place tells nobody anything", c.path, err)
			}
		})
	}
}

// Of several choices of files, the one that is plain Go is taken.
func TestFilesThatArePlainGo(t *testing.T) {
	serve(t)
	for name, c := range map[string]struct{ module, object string }{
		"another architecture has no assembly": {"example.org/asm", "Add"},
		"a tag avoids unsafe":                  {"example.org/pure", "Slow"},
		"a tag would need what is not there":   {"example.org/engine", "New"},
		"what only a program needs is missing": {"example.org/programs", "Lib"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSet(true)
			s.Use(get(t, Listing{}, c.module))
			pkg, err := s.Import(c.module)
			if err != nil {
				t.Fatal(err)
			}
			if pkg.Scope().Lookup(c.object) == nil {
				t.Errorf("%s has no %s, but %v", c.module, c.object, pkg.Scope().Names())
			}
			src := s.Source([]*types.Package{pkg})
			if len(src) != 1 || len(src[0].Files) != len(src[0].Text) || src[0].Info == nil {
				t.Fatalf("source of %s: %+v", c.module, src)
			}
			for id, o := range src[0].Info.Defs {
				if f, ok := o.(*types.Func); ok && id.Obj == nil && f.Name() == "Add" && strings.Contains(string(src[0].Text[0]), "func Add(a, b int) int\n") {
					t.Error("the file without bodies was chosen")
				}
			}
		})
	}
}

func TestArgumentsThatCannotBeFetched(t *testing.T) {
	serve(t)
	for arg, want := range map[string]string{
		"fmt":                            "standard library",
		"-x":                             "no module",
		"example.org/a@-x":               "no module",
		"./sub":                          "a directory",
		"/etc":                           "a directory",
		"github.com/gonum/matrix/mat64":  "gonum.org/v1/gonum/mat now",
		"example.org/nowhere":            "example.org/nowhere",
		"example.org/two@v9.0.0":         "example.org/two@v9.0.0",
		"example.org/newer@v1.99.0":      "requires go >= 1.99",
		"example.org/lacks":              "example.org/nowhere@v1.0.0",
		"example.org/two@v1.0.0 rm -rf ": "no module",
	} {
		had := get(t, Listing{}, "example.org/two@v1.0.0")
		got, err := Command{}.Get(context.Background(), had, []string{arg})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("get %s: %v, want %s", arg, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "file://") {
			t.Errorf("get %s: %v: the proxy's address tells nobody anything", arg, err)
		}
		if got.GoMod != had.GoMod {
			t.Errorf("get %s failed and changed the listing", arg)
		}
	}
}

func TestNoGoCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Command{}.Get(context.Background(), Listing{}, []string{"example.org/two"})
	if err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("without a go command: %v", err)
	}
}

func TestAnInterruptEndsTheGoCommand(t *testing.T) {
	serve(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Command{}).Get(ctx, Listing{}, []string{"example.org/two"}); err != context.Canceled {
		t.Errorf("get after an interrupt: %v", err)
	}
}

// The objects of a package stay while its module stays, and go with it.
func TestAnotherVersionIsAnotherPackage(t *testing.T) {
	serve(t)
	s := NewSet(true)
	imported := func(path string) *types.Package {
		t.Helper()
		p, err := s.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := get(t, Listing{}, "example.org/two@v1.0.0", "example.org/uses", "example.org/pure")
	s.Use(one)
	two, uses, pure := imported("example.org/two"), imported("example.org/uses"), imported("example.org/pure")
	if again := imported("example.org/two"); again != two {
		t.Error("imported twice, a package is two")
	}
	s.Use(one)
	if again := imported("example.org/uses"); again != uses {
		t.Error("the same listing makes another package")
	}
	newer := get(t, one, "example.org/two")
	if v := newer.Modules["example.org/two"].Version; v != "v1.1.0" {
		t.Fatalf("the newest of example.org/two is %s", v)
	}
	s.Use(newer)
	if again := imported("example.org/two"); again == two {
		t.Error("another version is the same package")
	}
	if again := imported("example.org/uses"); again == uses {
		t.Error("a package that imports another version is the same")
	}
	if again := imported("example.org/pure"); again != pure {
		t.Error("a package that has nothing to do with it is another")
	}
	var order []string
	for _, p := range s.Source([]*types.Package{imported("example.org/uses")}) {
		order = append(order, p.Path)
	}
	if want := []string{"example.org/two", "example.org/uses"}; !slices.Equal(order, want) {
		t.Errorf("source of example.org/uses: %v, want %v", order, want)
	}
	gone := get(t, newer, "example.org/uses@none", "example.org/two@none")
	s.Use(gone)
	if _, err := s.Import("example.org/uses"); err == nil {
		t.Error("a module that was dropped is still there")
	}
}

// A listing is data: it goes through a pipe as JSON.
func TestListingsTravel(t *testing.T) {
	serve(t)
	b, err := json.Marshal(get(t, Listing{}, "example.org/uses"))
	if err != nil {
		t.Fatal(err)
	}
	var l Listing
	if err := json.Unmarshal(b, &l); err != nil {
		t.Fatal(err)
	}
	s := NewSet(false)
	s.Use(l)
	pkg, err := s.Import("example.org/uses")
	if err != nil {
		t.Fatal(err)
	}
	if s.Source([]*types.Package{pkg}) != nil {
		t.Error("a set without bodies has source")
	}
	if got := l.Asked(); len(got) != 1 || got[0].String() != "example.org/uses v1.0.0" {
		t.Errorf("asked for %v", got)
	}
	// and what is embedded is never taken from a listing
	l.Modules["fmt"] = l.Modules["example.org/two"]
	s.Use(l)
	if p, _ := s.Import("fmt"); p == nil || p.Scope().Lookup("Println") == nil {
		t.Error("a listing has replaced fmt")
	}
}

func TestEmbeddedModules(t *testing.T) {
	if v := EmbeddedVersion("gonum.org/v1/gonum/mat"); v == "" || v != EmbeddedVersion("gonum.org/v1/gonum") {
		t.Skip("this binary was built without the list of its modules")
	}
	if !slices.Contains(Embedded("gonum.org/v1/gonum"), "gonum.org/v1/gonum/mat") {
		t.Error("gonum/mat is not embedded")
	}
	if v := EmbeddedVersion("example.org/two"); v != "" {
		t.Errorf("example.org/two is embedded, %s", v)
	}
	if _, err := exports.Importer().Import("gonum.org/v1/gonum/mat"); err != nil {
		t.Error(err)
	}
}

// A Go file's imports are taken from the module that it lies in.
func TestBeside(t *testing.T) {
	serve(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source := []byte("package main\nimport (\n\"fmt\"\n\"own/inner\"\n\"example.org/two\"\n\"example.org/nowhere\"\n)\n")
	l, err := Command{}.Beside(context.Background(), filepath.Join(dir, "main.go"), source)
	if err != nil || len(l.Modules) > 0 {
		t.Fatalf("a file that lies in no module: %v, %v", l, err)
	}
	had := get(t, Listing{}, "example.org/two@v1.0.0")
	write("go.mod", strings.Replace(had.GoMod, "module notebook", "module own", 1))
	write("go.sum", had.GoSum)
	write("inner/a.go", "package inner\n\nconst A = 1\n")
	l, err = Command{}.Beside(context.Background(), filepath.Join(dir, "main.go"), source)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(true)
	s.Use(l)
	for path, want := range map[string]string{"own/inner": "", "example.org/two": "", "example.org/nowhere": "no required module provides package example.org/nowhere"} {
		_, err := s.Import(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("import %s: %v, want %q", path, err, want)
		}
	}
}

func TestWordsAreShortened(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a proxy's answer": {
			"go: downloading x v1\ngo: module github.com/a/b: reading https://proxy.example/a/@v/list: 404 Not Found\n\tserver response: not found\n",
			"module github.com/a/b: 404 Not Found; not found",
		},
		"advice about commands":   {"no required module provides package a.b/c; to add it:\n\tgo get a.b/c\n", "no required module provides package a.b/c"},
		"what was done meanwhile": {"go: added a v1\ngo: upgraded b v1 => v2\ngo: b: no\n", "b: no"},
	} {
		w := &lines{}
		w.Write([]byte(c.in))
		if got := shorten(w.text.String()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
