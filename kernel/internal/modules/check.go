package modules

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// A Refusal says why a package of a module cannot be used in cells.
type Refusal struct {
	Module  Module
	Package string // its import path
	File    string // in the package's directory, with the line if that is known; may be empty
	Reason  string
}

func (r *Refusal) Error() string {
	what := "package " + r.Package
	if r.Package != r.Module.Path || r.Module.Version != "" {
		what += " (" + r.Module.String() + ")"
	}
	if r.File != "" {
		what += ", " + r.File
	}
	return what + ": " + r.Reason
}

// check parses and checks the package in dir, and loads what it imports.
func (s *Set) check(p *loaded, dir string, importers []string) error {
	refuse := func(file, format string, args ...any) error {
		return &Refusal{Module: p.module, Package: p.Path, File: file, Reason: fmt.Sprintf(format, args...)}
	}
	language := "go1.16" // of a module that does not say; see go.dev/ref/mod, "go directive"
	if p.module.Go != "" {
		language = version.Lang("go" + p.module.Go)
	}
	if version.Compare(language, cell.GoVersion) > 0 {
		return refuse("", "it needs Go %s, and cells are Go %s", strings.TrimPrefix(language, "go"), strings.TrimPrefix(cell.GoVersion, "go"))
	}
	files, err := choose(dir, s.known)
	if err != nil {
		return refuse(err.file, "%s", err.reason)
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return refuse(name, "read it: %v; %%get the module again", errors.Unwrap(err))
		}
		f, err := parser.ParseFile(p.Fset, p.Path+"/"+name, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			var list scanner.ErrorList
			if errors.As(err, &list) && len(list) > 0 {
				return refuse(fmt.Sprintf("%s:%d", name, list[0].Pos.Line), "syntax error: %s", list[0].Msg)
			}
			return refuse(name, "%v", err)
		}
		p.Files, p.Text = append(p.Files, f), append(p.Text, text)
	}
	if s.bodies {
		p.Info = newInfo()
	}
	var wrong *types.Error // the first
	var inside error       // of an import
	conf := types.Config{
		GoVersion:        language,
		Sizes:            types.SizesFor("gc", sizesArch()),
		IgnoreFuncBodies: !s.bodies,
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if embedded(path) {
				return exports.Importer().Import(path)
			}
			q := s.load(path, importers)
			if q.err != nil {
				if inside == nil {
					inside = q.err
				}
				return nil, q.err
			}
			p.imports = append(p.imports, q)
			return q.Types, nil
		}),
		DisableUnusedImportCheck: !s.bodies,
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) && wrong == nil && !e.Soft {
				wrong = &e
			}
		},
	}
	p.Types, _ = conf.Check(p.Path, p.Fset, p.Files, p.Info)
	switch r := (*Refusal)(nil); {
	case errors.As(inside, &r):
		return inside // it names its package
	case wrong != nil:
		at := p.Fset.PositionFor(wrong.Pos, false)
		return refuse(fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line), "%s", wrong.Msg)
	}
	return nil
}

// known tells whether there is such a package.
func (s *Set) known(path string) bool {
	if embedded(path) {
		return true
	}
	m, rest, ok := s.listing.find(path)
	if !ok {
		return false
	}
	_, err := os.Stat(filepath.Join(m.Dir, filepath.FromSlash(rest)))
	return err == nil
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
}

// sizesArch is the architecture whose type sizes cells have.
func sizesArch() string {
	if types.SizesFor("gc", runtime.GOARCH) != nil {
		return runtime.GOARCH
	}
	return "amd64"
}

// unable is why no files of a directory make a package that cells can use.
type unable struct{ file, reason string }

// plainArch is an architecture of 64 bits, little-endian as this one, that
// nobody writes assembly for: files for it are those for all others.
const plainArch = "mips64le"

// choose picks the files of the package in dir that are to run. A package has
// other files for other tags and architectures; each choice of them is a whole
// package that the go command would build. The best is one whose imports are
// known and that needs neither assembly nor unsafe.
func choose(dir string, known func(path string) bool) ([]string, *unable) {
	var best []string
	var why *unable
	least := 0
	for i, v := range []struct {
		tags []string
		arch string
	}{
		{tags, runtime.GOARCH}, {nil, runtime.GOARCH}, {tags, plainArch}, {nil, plainArch},
	} {
		ctxt := build.Default
		ctxt.BuildTags, ctxt.GOARCH, ctxt.CgoEnabled = v.tags, v.arch, false
		p, err := ctxt.ImportDir(dir, 0)
		if err != nil {
			if i == 0 {
				why = unbuildable(dir, p, err)
			}
			continue
		}
		n, fault := flaws(p, known)
		if n == 0 {
			return p.GoFiles, nil
		}
		if fault != nil {
			if why == nil {
				why = fault
			}
			continue
		}
		if best == nil || n < least {
			best, least = p.GoFiles, n
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, why
}

// flaws counts what of a package cannot run, though the rest can: functions in
// assembly and the use of unsafe. What rules it out is unable.
func flaws(p *build.Package, known func(path string) bool) (n int, why *unable) {
	for _, pos := range p.EmbedPatternPos {
		return 1, &unable{fileOf(pos[0]), "it embeds files (go:embed), which cells cannot"}
	}
	for _, path := range p.Imports {
		switch {
		case path == "unsafe":
			n += 2 // the rest can still be run
		case !known(path) && !strings.Contains(strings.Split(path, "/")[0], "."):
			return 1, &unable{fileOf(p.ImportPos[path][0]), fmt.Sprintf("it imports %q, which cells cannot use", path)}
		case !known(path):
			n += 10 // it is not there: the type checker will say
		}
	}
	if len(p.SFiles) > 0 {
		n++
	}
	return n, nil
}

func fileOf(pos token.Position) string {
	return fmt.Sprintf("%s:%d", filepath.Base(pos.Filename), pos.Line)
}

// unbuildable says why dir holds no package.
func unbuildable(dir string, p *build.Package, err error) *unable {
	var none *build.NoGoError
	if _, err := os.Stat(dir); err != nil {
		return &unable{"", "there is no such package in the module"}
	}
	switch {
	case errors.As(err, &none) && p != nil && len(p.IgnoredGoFiles) > 0:
		for _, name := range p.IgnoredGoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ImportsOnly)
			if err != nil {
				continue
			}
			for _, im := range f.Imports {
				if im.Path.Value == `"C"` {
					return &unable{name, `it needs cgo (import "C"), which cells have not`}
				}
			}
		}
		return &unable{"", "none of its files is for this system: " + strings.Join(p.IgnoredGoFiles, ", ")}
	case errors.As(err, &none):
		return &unable{"", "the directory holds no Go files"}
	}
	// where modules lie here tells nobody anything
	return &unable{"", strings.NewReplacer(" in "+dir, "", dir+string(filepath.Separator), "").Replace(err.Error())}
}
