package yaegi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/engine/stdlib"
)

// library finds the syntax of generic things of the standard library. It
// checks a package's source when it is first needed.
type library struct {
	imp types.Importer

	mu   sync.Mutex
	pkgs map[string]*libraryPackage
}

type libraryPackage struct {
	src   *source
	names map[string]*generic
}

func newLibrary(imp types.Importer) *library {
	return &library{imp: imp, pkgs: map[string]*libraryPackage{}}
}

// has tells objects, the compiled package's or the source's, of which we have
// the source.
func (b *library) has(o types.Object) bool { return b.generic(o) != nil }

func (b *library) generic(o types.Object) *generic {
	if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
		return nil
	}
	p := b.pkg(o.Pkg().Path())
	if p == nil {
		return nil
	}
	return p.names[o.Name()]
}

func (b *library) pkg(importPath string) *libraryPackage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.pkgs[importPath]; ok {
		return p
	}
	b.pkgs[importPath] = nil
	text := stdlib.Text(importPath)
	if text == nil {
		return nil
	}
	p, err := checkLibrary(b.imp, importPath, text)
	if err != nil {
		panic(fmt.Sprintf("yaegi: our source of %s: %v", importPath, err)) // a test checks them all
	}
	b.pkgs[importPath] = p
	return p
}

func checkLibrary(imp types.Importer, importPath string, text []byte) (*libraryPackage, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, importPath, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := newInfo()
	conf := types.Config{Importer: imp, GoVersion: "go1.26"}
	pkg, err := conf.Check(importPath, fset, []*ast.File{f}, info)
	if err != nil {
		return nil, err
	}
	p := &libraryPackage{src: &source{cell: none, text: blankComments(text), fset: fset, file: f, pkg: pkg, info: info}, names: map[string]*generic{}}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				p.names[d.Name.Name] = &generic{src: p.src, fn: d}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && !constraintOnly(info.Defs[s.Name]) {
					p.names[s.Name.Name] = &generic{src: p.src, spec: s}
				}
			}
		}
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
			g := p.names[receiver(info, d).Name()]
			g.methods = append(g.methods, d)
		}
	}
	return p, nil
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

// stdName is the name of something in our sources that is not generic.
func (l *lowering) stdName(o types.Object) string { return l.instance(o, nil) }
