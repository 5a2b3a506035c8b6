package yaegi

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"
	"strconv"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// Packages that run from their source.
//
// A module's package is lowered like a cell, into package main of the
// interpreter, a declaration at a time as cells come to need them: what nobody
// calls costs nothing. Names say whose they are:
//
//	package uuid; type UUID [16]byte     type UUIDꓸuuid__1 [16]uint8
//
// The first cell that imports the package runs its initialisation: the initial
// values of variables in Go's order, then its init functions. Values that
// neither call nor read anything, as tables have, are made when they are needed.
//
// A function that cannot run ends the cell that calls it, and says why.

// ofPackage stands in the name of something of a package, between the name
// and the package's: a letter (lisu letter tone mya ti) that no source has.
const ofPackage = "ꓸ"

// add makes the syntax of a package known, once.
func (b *library) add(p *cell.Package) *libraryPackage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.modules[p.Types]; m != nil {
		return m
	}
	m := &libraryPackage{id: len(b.modules) + 1, name: p.Types.Name(), names: map[string]*generic{}}
	files := map[*token.File]*source{}
	var sources []*source
	for i, f := range p.Files {
		lang := p.Info.FileVersions[f]
		src := &source{
			cell: none, path: p.Path, of: files, text: blankComments(p.Text[i]), fset: p.Fset, file: f, pkg: p.Types, info: p.Info,
			shared: lang != "" && version.Compare(lang, "go1.22") < 0,
		}
		files[p.Fset.File(f.FileStart)] = src
		m.declare(src)
		sources = append(sources, src)
	}
	for _, src := range sources {
		m.attach(src)
	}
	set := map[*types.Var]bool{}
	for _, in := range p.Info.InitOrder {
		src := files[p.Fset.File(in.Rhs.Pos())]
		v := &variable{src: src, init: in, pure: len(in.Lhs) == 1 && pure(p.Info, in.Rhs)}
		for _, o := range in.Lhs {
			set[o] = true
			m.names[o.Name()] = &generic{src: src, v: v, object: o}
		}
		if !v.pure {
			m.start = append(m.start, v)
		}
	}
	for _, name := range p.Types.Scope().Names() {
		if o, ok := p.Types.Scope().Lookup(name).(*types.Var); ok && !set[o] {
			m.names[name] = &generic{src: files[p.Fset.File(o.Pos())], v: &variable{}, object: o}
		}
	}
	b.modules[p.Types] = m
	return m
}

// variable is one initialisation of package variables.
type variable struct {
	src  *source
	init *types.Initializer // nil for zero
	pure bool
}

// pure tells values that can be made at any time: they call nothing and read
// no variable.
func pure(info *types.Info, e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		x, isExpr := n.(ast.Expr)
		if isExpr && info.Types[x].Value != nil || !ok {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			if id, isIdent := ast.Unparen(n.X).(*ast.Ident); n.Op == token.AND && isIdent && info.Uses[id] != nil {
				return false // where it is
			}
			ok = ok && n.Op != token.ARROW
		case *ast.CallExpr:
			tv := info.Types[n.Fun]
			ok = ok && (tv.IsType() || isBuiltin(info, n, "make", "new") || isNewError(info, n))
		case *ast.Ident:
			v, isVar := info.Uses[n].(*types.Var)
			ok = ok && (!isVar || v.IsField())
		case *ast.SelectorExpr:
			s := info.Selections[n]
			ok = ok && (s == nil || s.Kind() == types.MethodExpr)
		case *ast.StarExpr:
			ok = ok && info.Types[n].IsType()
		case *ast.IndexExpr, *ast.IndexListExpr:
			tv := info.Types[x]
			_, isFunc := tv.Type.(*types.Signature)
			ok = ok && (tv.IsType() || isFunc)
		case *ast.BinaryExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
			ok = false
		}
		return ok
	})
	return ok
}

func isBuiltin(info *types.Info, c *ast.CallExpr, names ...string) bool {
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	return ok && info.Types[c.Fun].IsBuiltin() && slices.Contains(names, id.Name)
}

func isNewError(info *types.Info, c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := info.Uses[sel.Sel].(*types.Func)
	return ok && f.FullName() == "errors.New"
}

// isUnsafe tells unsafe.Pointer, which lowered text has a pointer for: values
// that are never made are passed around.
func isUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// moduleOf is the package that holds o, if it runs from its source.
func (b *library) moduleOf(o types.Object) *libraryPackage {
	if o == nil || o.Pkg() == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.modules[o.Pkg()]
}

// baseName is what names in the interpreter begin with that stand for o.
func (l *lowering) baseName(o types.Object) string {
	if m := l.std.moduleOf(o); m != nil {
		return o.Name() + ofPackage + m.name
	}
	return o.Name()
}

// startPackages renders the initialisation of the packages that the cell needs
// and the interpreter has not yet.
func (l *lowering) startPackages(pkgs []*cell.Package) {
	for _, p := range pkgs {
		m := l.std.add(p)
		if l.notebook.packages[m.id] {
			continue
		}
		l.draft.started = append(l.draft.started, m.id)
		var calls string
		for i, v := range m.start {
			calls += l.startFunc(v.src, v.init.Rhs, "start", m.name+"_"+strconv.Itoa(i), func() string { return "() { " + l.setVariables(v) + " }" })
		}
		for i, f := range m.inits {
			calls += l.startFunc(f.src, f.fn, "init", m.name+"_init"+strconv.Itoa(i), func() string {
				sig := f.src.info.Defs[f.fn.Name].(*types.Func).Signature()
				return l.function(f.fn, f.fn.Type.Params.Pos(), f.fn.Type, f.fn.Body, &frame{node: f.fn, fn: true, sig: sig})
			})
		}
		if calls != "" {
			l.starts = append(l.starts, host("Package")+"("+strconv.Itoa(m.id)+", func() { "+calls+"})")
		}
	}
}

// startFunc adds a function that is called once and returns the call.
func (l *lowering) startFunc(src *source, n ast.Node, fn, owner string, text func() string) string {
	was, env, locals := l.src, l.env, l.locals
	defer func() { l.src, l.env, l.locals = was, env, locals }()
	l.src, l.env, l.locals = src, nil, map[*types.TypeName]*types.Named{}
	name := l.add(fn, funcName)
	name.current = l.numbered(fn + ofPackage + owner)
	l.begin(n)
	l.moveLocals(n, name.current)
	l.pieces = append(l.pieces, &piece{name: name, text: "func " + nameRef(name.id) + text(), src: src, pos: n.Pos(), fn: fn})
	return nameRef(name.id) + "(); "
}

// setVariables renders an initialisation as an assignment.
func (l *lowering) setVariables(v *variable) string {
	s := ""
	for i, o := range v.init.Lhs {
		if i > 0 {
			s += ", "
		}
		if o.Name() == "_" {
			s += "_"
		} else {
			s += l.ref(o)
		}
	}
	return mark(l.src.off(v.init.Rhs.Pos()), 0) + s + " = " + l.initial(v.init)
}

// instanceVar declares a variable of a package. What it is at first it gets
// before the cell runs, or when its package is initialised.
func (l *lowering) instanceVar(in *instance) {
	o := in.g.object
	l.pieces = append(l.pieces, &piece{name: in.name, text: "var " + nameRef(in.name.id) + " " + l.typ(o.Type()), src: l.src, pos: o.Pos()})
	if v := in.g.v; v.pure {
		call := l.startFunc(v.src, v.init.Rhs, "start", in.name.current, func() string { return "() { " + l.setVariables(v) + " }" })
		l.lazy = append(l.lazy, host("Load")+"(func() { "+call+"})")
	}
}

// refusal renders a function that cannot run: it ends the cell.
func (l *lowering) refusal(d *ast.FuncDecl, why error) string {
	at := l.src.fset.PositionFor(d.Pos(), false)
	msg := why.Error()
	if u, ok := why.(*unsupported); ok && u.pos.IsValid() {
		at = u.pos
	}
	l.err = nil
	l.begin(d)
	end := d.End()
	if d.Body != nil {
		end = d.Body.Pos()
	}
	name := d.Name.Name
	if t := receiver(l.src.info, d); t != nil {
		name = t.Name() + "." + name
	}
	text := l.src.path + ": " + name + " cannot run in cells: " + msg + " (" + at.Filename + ":" + strconv.Itoa(at.Line) + ")"
	return l.cut(d, d.Type.Params.Pos(), end) + " { " + host("Refuse") + "(" + quote(text) + "); panic(0) }"
}

// body renders a function of a package, from its parameters on.
func (l *lowering) body(d *ast.FuncDecl, sig *types.Signature) string {
	if l.src.path == "" || l.err != nil {
		return l.function(d, d.Type.Params.Pos(), d.Type, d.Body, &frame{node: d, fn: true, sig: sig})
	}
	if why := l.std.refused[d]; why != nil {
		return l.refusal(d, why)
	}
	if d.Body == nil {
		return l.refusal(d, errors.New("it has no body: it is written in assembly, or linked by go:linkname"))
	}
	s := l.function(d, d.Type.Params.Pos(), d.Type, d.Body, &frame{node: d, fn: true, sig: sig})
	if l.err != nil {
		return l.refusal(d, l.err)
	}
	return s
}
