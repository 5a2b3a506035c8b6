package yaegi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/engine/stdlib"
)

// library finds the syntax of generic things of the standard library, and of
// all things of modules' packages. It checks a source of ours when it is first
// needed.
type library struct {
	imp types.Importer

	mu      sync.Mutex
	pkgs    map[string]*libraryPackage
	modules map[*types.Package]*libraryPackage
	tables  map[string]reflect.Value // of constants, see lower_table.go
	refused map[*ast.FuncDecl]error  // functions of modules that the interpreter does not compile
}

type libraryPackage struct {
	src   *source
	names map[string]*generic

	// of a module's package
	id    int
	name  string
	start []*variable // that are not pure, in Go's order
	inits []*generic
}

func newLibrary(imp types.Importer) *library {
	return &library{imp: imp, pkgs: map[string]*libraryPackage{}, modules: map[*types.Package]*libraryPackage{}, tables: map[string]reflect.Value{}, refused: map[*ast.FuncDecl]error{}}
}

// has tells objects, the compiled package's or the source's, of which we have
// the source.
func (b *library) has(o types.Object) bool { return b.generic(o) != nil }

func (b *library) generic(o types.Object) *generic {
	if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
		return nil
	}
	p := b.moduleOf(o)
	if p == nil {
		p = b.pkg(o.Pkg().Path())
	}
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
	p.declare(p.src)
	p.attach(p.src)
	return p, nil
}

// declare takes what a file declares, but variables.
func (p *libraryPackage) declare(src *source) {
	for _, d := range src.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch g := (&generic{src: src, fn: d}); {
			case d.Recv != nil || d.Name.Name == "_":
			case d.Name.Name == "init":
				p.inits = append(p.inits, g)
			default:
				p.names[d.Name.Name] = g
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name != "_" && !constraintOnly(src.info.Defs[s.Name]) {
					p.names[s.Name.Name] = &generic{src: src, spec: s}
				}
			}
		}
	}
}

// attach gives methods to the types of the package, which may be of other
// files.
func (p *libraryPackage) attach(src *source) {
	for _, d := range src.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil && d.Name.Name != "_" {
			if t := receiver(src.info, d); t != nil && p.names[t.Name()] != nil {
				g := p.names[t.Name()]
				g.methods = append(g.methods, d)
			}
		}
	}
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
