package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Libraries are the packages beyond the standard library that cells can import.
var Libraries = []string{
	"github.com/branchbook/branchbook/kernel/nb",
	"github.com/branchbook/branchbook/kernel/nb/display",
	"github.com/branchbook/branchbook/kernel/nb/gonbui",
	"github.com/branchbook/branchbook/kernel/nb/lgo",
	"github.com/branchbook/branchbook/kernel/nb/testrun",
	"github.com/branchbook/branchbook/lib/llm",
	"github.com/branchbook/branchbook/lib/plot",
	"github.com/branchbook/branchbook/lib/samplers",

	"github.com/go-echarts/go-echarts/v2/charts",
	"github.com/go-echarts/go-echarts/v2/components",
	"github.com/go-echarts/go-echarts/v2/datasets",
	"github.com/go-echarts/go-echarts/v2/event",
	"github.com/go-echarts/go-echarts/v2/opts",
	"github.com/go-echarts/go-echarts/v2/render",
	"github.com/go-echarts/go-echarts/v2/types",

	"golang.org/x/exp/constraints",

	"gonum.org/v1/gonum/blas",
	"gonum.org/v1/gonum/blas/blas64",
	"gonum.org/v1/gonum/diff/fd",
	"gonum.org/v1/gonum/dsp/fourier",
	"gonum.org/v1/gonum/dsp/window",
	"gonum.org/v1/gonum/floats",
	"gonum.org/v1/gonum/floats/scalar",
	"gonum.org/v1/gonum/graph",
	"gonum.org/v1/gonum/graph/network",
	"gonum.org/v1/gonum/graph/path",
	"gonum.org/v1/gonum/graph/simple",
	"gonum.org/v1/gonum/graph/topo",
	"gonum.org/v1/gonum/graph/traverse",
	"gonum.org/v1/gonum/integrate",
	"gonum.org/v1/gonum/integrate/quad",
	"gonum.org/v1/gonum/interp",
	"gonum.org/v1/gonum/mat",
	"gonum.org/v1/gonum/mathext",
	"gonum.org/v1/gonum/optimize",
	"gonum.org/v1/gonum/optimize/convex/lp",
	"gonum.org/v1/gonum/optimize/functions",
	"gonum.org/v1/gonum/spatial/kdtree",
	"gonum.org/v1/gonum/spatial/r2",
	"gonum.org/v1/gonum/spatial/r3",
	"gonum.org/v1/gonum/stat",
	"gonum.org/v1/gonum/stat/combin",
	"gonum.org/v1/gonum/stat/distmat",
	"gonum.org/v1/gonum/stat/distmv",
	"gonum.org/v1/gonum/stat/distuv",
	"gonum.org/v1/gonum/stat/samplemv",
	"gonum.org/v1/gonum/stat/sampleuv",

	"gonum.org/v1/plot",
	"gonum.org/v1/plot/font",
	"gonum.org/v1/plot/palette",
	"gonum.org/v1/plot/palette/brewer",
	"gonum.org/v1/plot/palette/moreland",
	"gonum.org/v1/plot/plotter",
	"gonum.org/v1/plot/plotutil",
	"gonum.org/v1/plot/text",
	"gonum.org/v1/plot/vg",
	"gonum.org/v1/plot/vg/draw",
	"gonum.org/v1/plot/vg/vgimg",
	"gonum.org/v1/plot/vg/vgpdf",
	"gonum.org/v1/plot/vg/vgsvg",
}

// Excluded are packages that cells might import and cannot, with the reason.
var Excluded = map[string]string{
	"builtin":        "documentation only; its names are predeclared",
	"expvar":         "importing it registers a handler on http.DefaultServeMux",
	"net/http/pprof": "importing it registers handlers on http.DefaultServeMux",
	"plugin":         "needs cgo and links the binary dynamically",
	"runtime/cgo":    "needs cgo, and means nothing to interpreted code",
	"runtime/race":   "exists only under the race detector",
	"time/tzdata":    "has no names; importing it adds 450 KB",
	"unsafe":         "the compiler's own; its functions have no values",

	gonbui + "/comms":   "GoNB's messages from the page need its script there",
	gonbui + "/dom":     "GoNB's changes of the page need its script there; show with nb.HTML, and replace what is shown with nb.Update",
	gonbui + "/plotly":  "its figures are types of a module of their own; lib/plot, go-echarts and gonum/plot draw here",
	gonbui + "/wasm":    "cells are not compiled, so not to WebAssembly",
	gonbui + "/widgets": "GoNB's widgets need its script in the page; nb.NewSlider, nb.NewButton and nb.Progress are here, and fmt.Scan asks",
}

const gonbui = "github.com/janpfeifer/gonb/gonbui"

// Aliases maps import paths of other Go kernels' packages, and former ones of
// gonum's, to what stands in for them.
var Aliases = aliases()

func aliases() map[string]string {
	m := map[string]string{
		"display":                           "github.com/branchbook/branchbook/kernel/nb/display",
		"github.com/gopherdata/gophernotes": "github.com/branchbook/branchbook/kernel/nb/display",
		gonbui:                              "github.com/branchbook/branchbook/kernel/nb/gonbui",
	}
	for _, path := range Libraries {
		if rest, ok := strings.CutPrefix(path, "gonum.org/v1/gonum/"); ok {
			m["github.com/gonum/"+rest] = path
		} else if rest, ok := strings.CutPrefix(path, "gonum.org/v1/plot"); ok {
			m["github.com/gonum/plot"+rest] = path
		}
	}
	return m
}

// linuxOnly are packages whose names differ between systems.
var linuxOnly = []string{"log/syslog", "syscall"}

// Listed is what the go command says of one package.
type Listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Export     string
	Standard   bool
	DepOnly    bool
	Error      *struct{ Err string }
}

// List asks the go command in dir for patterns, with export data of them and
// of all that they import. Packages that do not compile come without Export.
func List(dir string, patterns ...string) ([]Listed, error) {
	c := exec.Command("go", append([]string{"list", "-e", "-export", "-deps",
		"-json=ImportPath,Dir,GoFiles,Export,Standard,DepOnly,Error"}, patterns...)...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("extract: list packages: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var all []Listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("extract: list packages: %w", err)
		}
		all = append(all, p)
	}
}

// Importer reads the export data that List named.
func Importer(all []Listed) types.Importer {
	files := map[string]string{}
	for _, p := range all {
		files[p.ImportPath] = p.Export
		// the standard library's own copies of modules are imported without "vendor/"
		files[strings.TrimPrefix(p.ImportPath, "vendor/")] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("extract: no export data for %q", path)
		}
		return os.Open(files[path])
	})
}

// Lab reports whether the table of the package at path is in package lab, not
// in symbols: lib/ links llama.cpp.
func Lab(path string) bool {
	return strings.HasPrefix(path, "github.com/branchbook/branchbook/lib/")
}

// Files returns the generated files by name for the package dest, symbols or
// lab, and the libraries that have no table because they do not compile or do
// not exist, each with the reason. Only the packages that only reports true for
// are generated.
func Files(dest string, only func(path string) bool) (files map[string][]byte, skipped []string, err error) {
	all, err := List(".", append([]string{"std"}, Libraries...)...)
	if err != nil {
		return nil, nil, err
	}
	imp := Importer(all)
	files = map[string][]byte{}
	var portable, linux []string
	for _, p := range all {
		std := p.Standard && Excluded[p.ImportPath] == "" && Importable(p.ImportPath)
		if !std && !slices.Contains(Libraries, p.ImportPath) || Lab(p.ImportPath) != (dest == "lab") || !only(p.ImportPath) {
			continue
		}
		if p.Export == "" {
			why := "does not compile"
			if p.Error != nil {
				why, _, _ = strings.Cut(p.Error.Err, "\n")
			}
			skipped = append(skipped, p.ImportPath+": "+why)
			continue
		}
		pkg, err := imp.Import(p.ImportPath)
		if err != nil {
			return nil, nil, fmt.Errorf("extract: import %q: %w", p.ImportPath, err)
		}
		name, tags := "table_"+Mangle(p.ImportPath)+".go", ""
		if slices.Contains(linuxOnly, p.ImportPath) {
			tags, linux = "linux", append(linux, p.ImportPath)
		} else {
			portable = append(portable, p.ImportPath)
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_js.go") || strings.HasSuffix(name, "_plan9.go") {
			name = strings.TrimSuffix(name, ".go") + "_.go"
		}
		if files[name], err = Table(pkg, dest, "t_"+Mangle(p.ImportPath), tags); err != nil {
			return nil, nil, err
		}
	}
	if files["tables.go"], err = index(dest, "tables", "", portable); err != nil || len(linux) == 0 {
		return files, skipped, err
	}
	if files["tables_linux.go"], err = index(dest, "linuxTables", "linux", linux); err != nil {
		return nil, nil, err
	}
	if files["tables_other.go"], err = index(dest, "linuxTables", "!linux", nil); err != nil {
		return nil, nil, err
	}
	return files, skipped, nil
}

// index is the file that lists the tables of paths by package path.
func index(dest, name, tags string, paths []string) ([]byte, error) {
	var b bytes.Buffer
	if tags != "" {
		fmt.Fprintf(&b, "//go:build %s\n\n", tags)
	}
	fmt.Fprintf(&b, "// Code generated by go generate; DO NOT EDIT.\n\npackage %s\n\nimport \"reflect\"\n\nvar %s = map[string]func() map[string]reflect.Value{\n", dest, name)
	slices.Sort(paths)
	for _, p := range paths {
		fmt.Fprintf(&b, "\t%q: t_%s,\n", p, Mangle(p))
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}
