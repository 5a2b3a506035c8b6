package vm

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// source is a package of a module, which runs from its source: an ssa package
// as a cell is one. Its code is compiled as cells come to call it, and what
// cannot run ends the cell that calls it.
type source struct {
	*cell.Package
	ssa   *ssa.Package
	ready bool // it is initialised
}

// step is a part of a cell's run: the cell's own code, or the initialisation
// of a package that it needs.
type step struct {
	f  *function
	of *source // that f initialises; nil for the cell's own
}

// addSource makes a package known, once. e.mu is held.
func (e *Engine) addSource(p *cell.Package) *source {
	if s := e.sources[p.Types]; s != nil {
		return s
	}
	for _, imported := range p.Types.Imports() {
		e.create(imported)
	}
	s := &source{Package: p}
	e.sources[p.Types] = s
	e.created[p.Types] = true
	e.types.number(p.Files)
	s.ssa = e.prog.CreatePackage(p.Types, p.Files, p.Info, true)
	s.ssa.Build()
	return s
}

// reset makes a package's variables what they are before its initialisation,
// which failed or was interrupted. It begins again for the next cell that
// needs the package.
func (e *Engine) reset(s *source) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range s.ssa.Members {
		if g, ok := m.(*ssa.Global); ok && e.globals[g] != nil {
			rtype.Clear(rtype.Of(e.types.of(g.Type().(*types.Pointer).Elem())), e.globals[g])
		}
	}
}

// sourceOf is the module's package that f comes from; nil for none. f may be
// an instance, or stand in another function.
func (e *Engine) sourceOf(f *ssa.Function) *source {
	for f.Parent() != nil {
		f = f.Parent()
	}
	if f.Origin() != nil {
		f = f.Origin()
	}
	switch {
	case f.Pkg != nil:
		return e.sources[f.Pkg.Pkg]
	case f.Object() != nil:
		return e.sources[f.Object().Pkg()]
	}
	return nil
}

// refusing is the body of a function of s that cannot run: it ends the cell.
// No recover sees that: a module would take it for an error of its own.
func (s *source) refusing(f *ssa.Function, why error) *body {
	name := nameOf(f)
	if name == "" {
		name = f.Name()
	}
	var u unsupported
	if errors.As(why, &u) {
		why = errors.New(u.what)
	}
	at := s.Fset.Position(f.Pos())
	text := fmt.Sprintf("%s: %s cannot run in cells: %v (%s:%d)", s.Path, name, why, at.Filename, at.Line)
	return &body{entry: &block{next: func(fr *frame) *block {
		fr.t.run.fail(&engine.Failure{Kind: engine.Panic, Message: text})
		fr.t.run.halt()
		fr.t.halt()
		return nil
	}}}
}

// place is where a position of the code is: in a cell or a module's package.
func (c *code) place(p token.Pos) (engine.Frame, bool) {
	if c.source == nil {
		return c.e.place(p)
	}
	if !p.IsValid() {
		return engine.Frame{}, false
	}
	at := c.source.Fset.Position(p)
	return engine.Frame{File: at.Filename, Line: at.Line, Col: at.Column}, true
}
