package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/branchbook/branchbook"

// rooms says which packages of this module each package may import. A test
// file may import what its package may, and also what the entry of its own
// package in testRooms lists.
var rooms = map[string][]string{
	"cmd/branchbook":                      {"kernel", "kernel/notebook", "lib/llm", "lib/llm/catalog"},
	"kernel":                              {"kernel/nb", "kernel/internal/cell", "kernel/internal/display", "kernel/internal/engine", "kernel/internal/engine/vm", "kernel/internal/engine/yaegi", "kernel/internal/exports", "kernel/internal/history", "kernel/internal/modules", "kernel/internal/session", "kernel/internal/symbols/lab", "kernel/internal/socket", "kernel/internal/wire", "kernel/internal/worker"},
	"kernel/kerneltest":                   {},
	"kernel/nb":                           {},
	"kernel/nb/display":                   {"kernel/nb"},
	"kernel/nb/gonbui":                    {"kernel/nb"},
	"kernel/nb/lgo":                       {"kernel/nb"},
	"kernel/nb/testrun":                   {},
	"kernel/notebook":                     {},
	"kernel/internal/cell":                {},
	"kernel/internal/display":             {"kernel/internal/engine"},
	"kernel/internal/engine":              {"kernel/internal/cell"},
	"kernel/internal/engine/stdlib":       {},
	"kernel/internal/engine/vm":           {"kernel/internal/cell", "kernel/internal/engine", "kernel/internal/engine/stdlib", "kernel/internal/engine/vm/rtype"},
	"kernel/internal/engine/vm/rtype":     {},
	"kernel/internal/engine/yaegi":        {"kernel/internal/cell", "kernel/internal/engine", "kernel/internal/engine/stdlib"},
	"kernel/internal/exports":             {},
	"kernel/internal/history":             {"kernel/internal/wire"},
	"kernel/internal/modules":             {"kernel/internal/cell", "kernel/internal/exports"},
	"kernel/internal/modules/modulestest": {},
	"kernel/internal/random":              {},
	"kernel/internal/session":             {"kernel/notebook", "kernel/internal/cell", "kernel/internal/history", "kernel/internal/modules", "kernel/internal/wire", "kernel/internal/worker"},
	"kernel/internal/socket":              {"kernel/internal/wire"},
	"kernel/internal/symbols":             {"kernel/nb", "kernel/nb/display", "kernel/nb/gonbui", "kernel/nb/lgo", "kernel/nb/testrun", "kernel/internal/random"},
	"kernel/internal/symbols/lab":         {"kernel/internal/symbols", "lib/llm", "lib/samplers", "lib/plot"},
	"kernel/internal/symbols/extract":     {},
	"kernel/internal/wire":                {},
	"kernel/internal/worker":              {"kernel/nb", "kernel/nb/gonbui", "kernel/internal/cell", "kernel/internal/display", "kernel/internal/engine", "kernel/internal/modules", "kernel/internal/random"},
	"lib/llm":                             {"lib/llm/catalog", "lib/llm/internal/llama"},
	"lib/llm/catalog":                     {},
	"lib/llm/internal/llama":              {},
	"lib/llm/llmtest":                     {"lib/llm"},
	"lib/plot":                            {"lib/llm"},
	"lib/samplers":                        {"lib/llm"},
	"lib/samplers/toy":                    {"lib/llm", "lib/samplers"},
	"kernel/internal/engine/enginetest":   {"kernel/internal/cell", "kernel/internal/engine", "kernel/internal/exports", "kernel/internal/modules", "kernel/internal/modules/modulestest"},
}

// testRooms is what test files alone may import beside that.
var testRooms = map[string][]string{
	"cmd/branchbook":               {"lib/llm/llmtest"},
	"kernel":                       {"kernel/kerneltest", "kernel/internal/modules/modulestest", "kernel/notebook"},
	"kernel/internal/cell":         {"kernel/internal/exports"},
	"kernel/internal/engine/vm":    {"kernel/internal/engine/enginetest", "kernel/internal/engine/yaegi", "kernel/internal/exports", "kernel/internal/symbols"},
	"kernel/internal/engine/yaegi": {"kernel/internal/engine/enginetest", "kernel/internal/exports", "kernel/internal/symbols"},
	"kernel/internal/exports":      {"kernel/internal/symbols/extract"},
	"kernel/internal/modules":      {"kernel/internal/modules/modulestest"},
	"kernel/internal/session":      {"kernel/internal/engine", "kernel/internal/exports"},
	"kernel/internal/symbols":      {"kernel/internal/symbols/extract"},
	"kernel/internal/symbols/lab":  {"kernel/internal/exports"},
	"lib/llm":                      {"lib/llm/llmtest", "lib/samplers"},
	"lib/llm/internal/llama":       {"lib/llm", "lib/llm/llmtest"},
	"lib/samplers":                 {"lib/samplers/toy", "lib/llm/llmtest"},
}

// fences says which packages may import a package of the outside, tests
// included. A path fences everything below it too.
var fences = map[string][]string{
	"C":                               {"lib/llm/internal/llama"},
	"unsafe":                          {"lib/llm/internal/llama", "kernel/internal/engine/vm", "kernel/internal/engine/vm/rtype", "kernel/internal/engine/yaegi", "kernel/internal/symbols"},
	"github.com/ollama/ollama":        {"lib/llm/internal/llama"},
	"github.com/traefik/yaegi":        {"kernel/internal/engine/yaegi", "kernel/internal/symbols", "kernel/internal/symbols/lab"},
	"golang.org/x/tools/go/ssa":       {"kernel/internal/engine/vm"},
	"github.com/pebbe/zmq4":           {"kernel/internal/socket", "kernel/kerneltest"},
	"github.com/go-echarts":           {"lib/plot", "kernel/internal/symbols"},
	"github.com/nikolalohinski/gonja": {"lib/llm"},
	"github.com/spf13/cobra":          {"cmd/branchbook"},
}

// source is one parsed file of the module.
type source struct {
	dir, name string
	file      *ast.File
	fset      *token.FileSet
}

func (s source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

// program reports whether the file is a generator's: it runs by hand.
func (s source) program() bool {
	for _, g := range s.file.Comments {
		if g.Pos() < s.file.Package && strings.Contains(g.List[0].Text, "go:build ignore") {
			return true
		}
	}
	return path.Base(s.dir) == "gen"
}

// sources parses the whole module in-process: a test that ran the go command
// would be cached and stay green when the tree has changed.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == "testdata" || n == "node_modules" || p != root && n != ".." && (strings.HasPrefix(n, ".") || strings.HasPrefix(n, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(p) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s := source{dir: filepath.ToSlash(filepath.Dir(rel)), name: filepath.Base(p), fset: token.NewFileSet()}
		mode := parser.ParseComments | parser.SkipObjectResolution
		if generatedBulk(s.dir) {
			mode = parser.ImportsOnly | parser.ParseComments
		}
		s.file, err = parser.ParseFile(s.fset, p, nil, mode)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// generatedBulk marks folders whose bodies are megabytes of generated tables.
func generatedBulk(dir string) bool { return dir == "kernel/internal/symbols" }

func below(p, fence string) bool { return p == fence || strings.HasPrefix(p, fence+"/") }

func TestEveryImportKeepsTheRules(t *testing.T) {
	for _, s := range sources(t) {
		if s.program() {
			continue
		}
		for _, im := range s.file.Imports {
			p, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if msg := broken(s, p); msg != "" {
				t.Errorf("%s: %s", s.fset.Position(im.Pos()), msg)
			}
		}
	}
}

// broken says what rule s breaks by importing p, or "".
func broken(s source, p string) string {
	for f, who := range fences {
		if below(p, f) && !slices.Contains(who, s.dir) {
			return fmt.Sprintf("%s may not import %q: only %s may", s.dir, p, strings.Join(who, ", "))
		}
	}
	in, ours := strings.CutPrefix(p, module+"/")
	switch {
	case !ours || in == s.dir:
	case below(s.dir, "lib") && below(in, "kernel"):
		return fmt.Sprintf("lib never imports kernel, %s imports %s", s.dir, in)
	case slices.Contains(rooms[s.dir], in):
	case s.test() && slices.Contains(testRooms[s.dir], in):
	default:
		return fmt.Sprintf("the package table does not let %s import %s", s.dir, in)
	}
	return ""
}

func TestEveryPackageHasARuleAndAParagraph(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if s.program() {
			continue
		}
		seen[s.dir] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(seen)) {
		if _, ok := rooms[dir]; !ok {
			t.Errorf("package %s has no rule in the package table", dir)
		}
		if !strings.Contains(string(doc), "`"+dir+"`") {
			t.Errorf("package %s has no paragraph in ARCHITECTURE.md", dir)
		}
	}
	for dir, imports := range rooms {
		for _, d := range append(slices.Clone(imports), dir) {
			if !seen[d] {
				t.Errorf("the package table names %s, which is no package", d)
			}
		}
	}
}

// Only a command ends its process: elsewhere it would take the notebook with it.
func TestOnlyCommandsExit(t *testing.T) {
	ends := map[string][]string{"os": {"Exit"}, "log": {"Fatal", "Fatalf", "Fatalln"}}
	for _, s := range sources(t) {
		if below(s.dir, "cmd") || s.test() || s.program() || generatedBulk(s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(ends[pkg.Name], sel.Sel.Name) {
					t.Errorf("%s: %s.%s outside cmd", s.fset.Position(n.Pos()), pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// The rules find what they are for.
func TestRulesFindFaults(t *testing.T) {
	faults := []struct {
		name, dir, file, imports string
	}{
		{"a library that imports the kernel", "lib/llm", "x.go", module + "/kernel/nb"},
		{"a sampler that imports a plot", "lib/samplers", "x.go", module + "/lib/plot"},
		{"cgo outside its package", "lib/llm", "x.go", "C"},
		{"yaegi in the cell", "kernel/internal/cell", "x.go", "github.com/traefik/yaegi/interp"},
		{"sockets in the session", "kernel/internal/session", "x.go", "github.com/pebbe/zmq4"},
		{"a package of tests in the product", "lib/samplers", "x.go", module + "/lib/samplers/toy"},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			if broken(source{dir: f.dir, name: f.file}, f.imports) == "" {
				t.Errorf("%s imports %s and nobody minds", f.dir, f.imports)
			}
		})
	}
}
