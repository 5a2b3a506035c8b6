package vm

import (
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// A cell's package is there for the cells after it, which mention its names.
// When later cells have declared all of them again, with the same types,
// nobody can; what ran keeps the code and the variables that it uses.
//
// Types stay: values may have them. Their methods are compiled when they are
// first called, perhaps after a function that they call was declared again.
// So what was declared before a type that came since stays, too. Generic
// functions are compiled late as well.

// named is how much of a cell's package has a name.
type named struct {
	names int // of functions and variables
	types int // and generic functions, that cells had declared when it came
}

// leave forgets what nobody can name any more: the functions of the cell's own
// statements, the whole package if it declares nothing, and packages whose last
// name it took.
func (e *Engine) leave(pkg *ssa.Package, c *cell.Cell) {
	delete(e.funcs, pkg.Func("init"))
	if c.Body != nil {
		delete(e.funcs, pkg.Func(c.Body.Name.Name))
	}
	if len(c.Defines) == 0 {
		e.forget(pkg)
		return
	}
	n, before := &named{}, e.declared
	for _, o := range c.Defines {
		switch o := o.(type) {
		case *types.Var:
			n.names++
		case *types.Func:
			n.names++
			if o.Signature().TypeParams().Len() > 0 {
				e.declared++
			}
		case *types.TypeName:
			if !o.IsAlias() {
				e.declared++
				n.types = -1 // its package stays
			}
		}
	}
	if n.types == 0 {
		n.types = e.declared
	}
	e.named[c.Pkg] = n
	for _, old := range c.Replaces {
		p := e.named[old.Pkg()]
		if p == nil {
			continue
		}
		p.names--
		if pkg := e.prog.Package(old.Pkg()); pkg != nil && p.names == 0 && p.types == before {
			e.forget(pkg)
		}
	}
}

// forget drops a cell's package.
func (e *Engine) forget(pkg *ssa.Package) {
	for _, m := range pkg.Members {
		switch m := m.(type) {
		case *ssa.Function:
			delete(e.funcs, m)
			delete(e.newer, m)
		case *ssa.Global:
			delete(e.globals, m)
			if o := m.Object(); o != nil {
				delete(e.storage, o)
			}
		}
	}
	for f := range e.funcs {
		if o := f.Origin(); o != nil && o.Pkg == pkg {
			delete(e.funcs, f)
		}
	}
	delete(e.named, pkg.Pkg)
	e.uncreate(pkg.Pkg)
}

// forgotten reports whether a cell's variable has no name any more: only code
// that was compiled while it had one knows where it lies.
func (e *Engine) forgotten(g *ssa.Global) bool {
	return e.globals[g] == nil && !e.compiled(g.Pkg.Pkg)
}

// uncreate drops a package from the program, which package ssa never does.
func (e *Engine) uncreate(p *types.Package) {
	delete(e.created, p)
	if m := reflect.ValueOf(e.prog).Elem().FieldByName("packages"); m.IsValid() && m.Type() == reflect.TypeFor[map[*types.Package]*ssa.Package]() {
		delete(*(*map[*types.Package]*ssa.Package)(m.Addr().UnsafePointer()), p)
	}
}
