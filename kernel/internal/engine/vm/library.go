package vm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/stdlib"
)

// library has the generic functions of the standard library, from sources of
// our own: the compiled packages have none.
type library struct {
	e       *Engine
	sources map[string]*types.Package // checked, by path
	ours    map[*types.Package]bool   // those, and the packages of instances
	serial  int
}

// has reports whether a package is one of ours, with syntax.
func (l *library) has(p *types.Package) bool { return l.ours[p] }

// instead reports whether an instance of a function of our source is made by
// generics.
func (l *library) instead(f *ssa.Function) bool {
	if f.Origin() == nil {
		return false
	}
	o, ok := f.Origin().Object().(*types.Func)
	return ok && l.has(o.Pkg()) && generics[bare(o)] != nil
}

// external makes r the instance f of a generic function or method o of a
// compiled package.
func (l *library) external(f *ssa.Function, o *types.Func, r *function) error {
	if g := generics[bare(o)]; g != nil {
		params, results := l.e.signature(f.Signature)
		t := reflect.FuncOf(params, results, f.Signature.Variadic())
		var args []reflect.Type
		for _, a := range f.TypeArgs() {
			args = append(args, l.e.types.of(a))
		}
		r.native = l.e.nativeOf(reflect.MakeFunc(t, g(t, args)))
		return nil
	}
	if o.Signature().Recv() != nil {
		return unsupported{fmt.Sprintf("the method %s", o.FullName())}
	}
	src, err := l.source(o.Pkg().Path())
	if err != nil {
		return err
	}
	if src == nil || src.Scope().Lookup(o.Name()) == nil {
		return unsupported{fmt.Sprintf("the generic function %s", o.FullName())}
	}
	g := l.e.funcOf(l.instance(src.Scope().Lookup(o.Name()).(*types.Func), f.TypeArgs()))
	r.native = g.native
	r.current = g.current
	return nil
}

// source checks our source of a package; nil if there is none.
func (l *library) source(path string) (*types.Package, error) {
	if p, ok := l.sources[path]; ok {
		return p, nil
	}
	text := stdlib.Text(path)
	if text == nil {
		return nil, nil
	}
	p, err := l.check(path, path, string(text), l.e.opts.Importer, nil)
	if err != nil {
		return nil, fmt.Errorf("vm: check our source of %s: %w", path, err)
	}
	if l.sources == nil {
		l.sources = map[string]*types.Package{}
	}
	l.sources[path] = p.Pkg
	return p.Pkg, nil
}

// check checks and builds a package of one file.
func (l *library) check(path, file, text string, imp types.Importer, known []types.Object) (*ssa.Package, error) {
	f, err := parser.ParseFile(l.e.prog.Fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	pkg := types.NewPackage(path, f.Name.Name)
	for _, o := range known {
		pkg.Scope().Insert(o)
	}
	conf := types.Config{Importer: imp, GoVersion: "go1.26"}
	if err := types.NewChecker(&conf, l.e.prog.Fset, pkg, info).Files([]*ast.File{f}); err != nil {
		return nil, err
	}
	if l.ours == nil {
		l.ours = map[*types.Package]bool{}
	}
	l.ours[pkg] = true
	for _, p := range pkg.Imports() {
		l.e.create(p)
	}
	l.e.created[pkg] = true
	p := l.e.prog.CreatePackage(pkg, []*ast.File{f}, info, true)
	p.Build()
	return p, nil
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }

// instance is a generic function with type arguments. Package ssa makes
// instances only of what syntax mentions, so a package that mentions it is
// made.
func (l *library) instance(f *types.Func, args []types.Type) *ssa.Function {
	l.serial++
	pkg := types.NewPackage(fmt.Sprintf("instance%d", l.serial), "instance")
	var known []types.Object
	var names []string
	for i, a := range args {
		name := fmt.Sprintf("T%d", i)
		names = append(names, name)
		known = append(known, types.NewTypeName(token.NoPos, pkg, name, a))
	}
	text := fmt.Sprintf("package instance\nimport of %q\nvar F = of.%s[%s]\n", "of", f.Name(), strings.Join(names, ", "))
	exported := !ast.IsExported(f.Name())
	if exported { // a function of a cell: its name cannot be selected
		text = fmt.Sprintf("package instance\nvar F = %s[%s]\n", f.Name(), strings.Join(names, ", "))
		known = append(known, f)
	}
	p, err := l.check(pkg.Path(), pkg.Path(), text, importFunc(func(string) (*types.Package, error) { return f.Pkg(), nil }), known)
	if err != nil {
		refuse("%s with type arguments: %v", f.FullName(), err)
	}
	for _, b := range p.Func("init").Blocks {
		for _, i := range b.Instrs {
			if s, ok := i.(*ssa.Store); ok {
				if g, ok := s.Val.(*ssa.Function); ok {
					l.e.uncreate(p.Pkg)
					delete(l.ours, p.Pkg)
					return g
				}
			}
		}
	}
	refuse("%s with type arguments", f.FullName())
	return nil
}

// bare is a function's full name without type parameters.
func bare(o *types.Func) string {
	s := o.FullName()
	if i := strings.IndexByte(s, '['); i >= 0 {
		s = s[:i] + s[strings.LastIndexByte(s, ']')+1:]
	}
	return s
}
