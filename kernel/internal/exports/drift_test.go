package exports

import (
	"go/ast"
	"go/build"
	goimporter "go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

const module = "github.com/branchbook/branchbook"

// api writes what a package offers, one line each.
func api(p *types.Package) []string {
	var list []string
	add := func(o types.Object) { list = append(list, types.ObjectString(o, (*types.Package).Path)) }
	for _, name := range p.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		o := p.Scope().Lookup(name)
		add(o)
		if c, ok := o.(*types.Const); ok {
			list = append(list, name+" = "+c.Val().ExactString())
		}
		if _, ok := o.(*types.TypeName); !ok {
			continue
		}
		list = append(list, name+" is "+types.TypeString(exported(o.Type()), (*types.Package).Path))
		for sel := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
			if sel.Obj().Exported() {
				add(sel.Obj())
			}
		}
	}
	slices.Sort(list)
	return list
}

// exported returns the type beneath t, of a struct the exported fields only.
func exported(t types.Type) types.Type {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return t.Underlying()
	}
	var fields []*types.Var
	var tags []string
	for i := range st.NumFields() {
		if st.Field(i).Exported() {
			fields, tags = append(fields, st.Field(i)), append(tags, st.Tag(i))
		}
	}
	return types.NewStruct(fields, tags)
}

// diff lists the lines that only one of two sorted lists has.
func diff(embedded, current []string) (lines []string) {
	for _, l := range embedded {
		if _, ok := slices.BinarySearch(current, l); !ok {
			lines = append(lines, "embedded only: "+l)
		}
	}
	for _, l := range current {
		if _, ok := slices.BinarySearch(embedded, l); !ok {
			lines = append(lines, "source only: "+l)
		}
	}
	return lines
}

// sourceImporter checks the signatures of our packages from their files, read
// in this process: then the cache of go test knows what the test depends on.
// Packages that are neither ours nor embedded are empty; no API of ours may
// mention them.
type sourceImporter struct {
	root string
	done map[string]*types.Package
}

func (m *sourceImporter) Import(path string) (*types.Package, error) {
	if p := m.done[path]; p != nil {
		return p, nil
	}
	rest, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		p, err := Importer().Import(path)
		if err != nil {
			p = types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
			p.MarkComplete()
		}
		return p, nil
	}
	ctx := build.Default
	ctx.CgoEnabled, ctx.GOOS, ctx.GOARCH = false, "linux", "amd64"
	dir := filepath.Join(m.root, filepath.FromSlash(rest))
	bp, err := ctx.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range bp.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{
		Importer:         m,
		IgnoreFuncBodies: true,
		Sizes:            types.SizesFor("gc", "amd64"),
		Error:            func(error) {}, // of what the empty packages lack
	}
	p, _ := conf.Check(path, fset, files, nil)
	m.done[path] = p
	return p, nil
}

// TestOurPackagesHaveNotDrifted compares what is embedded of our packages with
// their source.
func TestOurPackagesHaveNotDrifted(t *testing.T) {
	m := &sourceImporter{root: filepath.Join("..", "..", ".."), done: map[string]*types.Package{}}
	n := 0
	for path := range Names() {
		if !strings.HasPrefix(path, module+"/") {
			continue
		}
		n++
		current, err := m.Import(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		embedded, err := Importer().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range diff(api(embedded), api(current)) {
			t.Errorf("%s: %s", path, line)
		}
	}
	if t.Failed() {
		t.Log("go generate ./kernel/internal/exports brings the data up to date")
	}
	if n == 0 {
		t.Error("no package of ours is embedded")
	}
}

// TestDriftIsFound plants faults that the comparison must see.
func TestDriftIsFound(t *testing.T) {
	check := func(src string) []string {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", "package p\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := new(types.Config).Check("p", fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return api(p)
	}
	const base = "type T struct{ A int; b int }\nfunc (T) M() {}\nfunc F(T) error { return nil }\nconst K = 1\n"
	if d := diff(check(base), check(base+"func g() {}\ntype u int\n")); len(d) > 0 {
		t.Errorf("what is not exported counts: %q", d)
	}
	for name, src := range map[string]string{
		"a function more":     base + "func G() {}",
		"a method more":       base + "func (*T) N() {}",
		"another field type":  strings.Replace(base, "A int", "A string", 1),
		"another signature":   strings.Replace(base, "F(T)", "F(T, int)", 1),
		"another constant":    strings.Replace(base, "K = 1", "K = 2", 1),
		"a field's tag":       strings.Replace(base, "A int", "A int `json:\"a\"`", 1),
		"a function less":     strings.Replace(base, "func F(T) error { return nil }", "", 1),
		"a method's receiver": strings.Replace(base, "func (T) M", "func (*T) M", 1),
	} {
		if len(diff(check(base), check(src))) == 0 {
			t.Errorf("%s is not seen", name)
		}
	}
}

// TestStandardLibraryHasNotDrifted compares some embedded packages with the
// export data of the toolchain at hand, if it is of the same release.
func TestStandardLibraryHasNotDrifted(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: ", err)
	}
	std, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Skip("go list does not list the standard library: ", err)
	}
	for path := range strings.FieldsSeq(string(std)) {
		if extract.Importable(path) && extract.Excluded[path] == "" && Names()[path] == "" {
			t.Errorf("%s is not embedded, and nobody says why", path)
		}
	}
	paths := []string{"fmt", "slices", "net/http", "iter", "math/rand/v2", "sync/atomic"}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Skip("go list gives no export data: ", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	toolchain := goimporter.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for _, path := range paths {
		current, err := toolchain.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		embedded, err := Importer().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range diff(api(embedded), api(current)) {
			t.Errorf("%s: %s", path, line)
		}
	}
}
