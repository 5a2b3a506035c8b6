package vm

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// refused is the error of a cell that cannot run.
type refused struct {
	err error
	at  engine.Frame
}

func (r *refused) Error() string { return r.err.Error() }
func (r *refused) Unwrap() error { return r.err }

// program is a cell that can run.
type program struct {
	zero []variable // declared again, and not by a statement that sets it
	run  []step
}

type variable struct {
	at  unsafe.Pointer
	typ *rtype.Type
}

// load builds and compiles a cell, makes its names live, and returns
// what runs it.
func (e *Engine) load(c *cell.Cell) (run program, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.types.forget()
	defer e.drain()
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("cannot run this: %v", x)
			if u, ok := x.(unsupported); ok {
				err = &refused{err: u}
			}
		}
	}()
	if e.prog == nil {
		e.prog = ssa.NewProgram(c.Fset, ssa.InstantiateGenerics)
	}
	for _, p := range c.Packages {
		if s := e.addSource(p); !s.ready {
			run.run = append(run.run, step{e.funcOf(s.ssa.Func("init")), s})
		}
	}
	for _, p := range c.Pkg.Imports() {
		e.create(p)
	}
	for _, p := range c.Imports {
		e.create(p.Imported())
	}
	file, show := showCall(c)
	files := []*ast.File{file}
	if c.Vars != nil {
		files = append(files, c.Vars)
	}
	e.types.number(files)
	e.created[c.Pkg] = true
	pkg := e.prog.CreatePackage(c.Pkg, files, c.Info, false)
	pkg.Build()
	if show != nil {
		e.findShow(pkg, c, show)
	}
	e.refused = nil
	for _, m := range pkg.Members {
		if g, ok := m.(*ssa.Global); ok {
			e.variable(g, c, &run)
		}
	}
	run.run = append(run.run, step{f: e.funcOf(pkg.Func("init"))})
	switch {
	case c.Body != nil:
		run.run = append(run.run, step{f: e.funcOf(pkg.Func(c.Body.Name.Name))})
	case c.Main:
		run.run = append(run.run, step{f: e.funcOf(pkg.Func("main"))})
	}
	for _, m := range pkg.Members {
		if f, ok := m.(*ssa.Function); ok && f.TypeParams().Len() == 0 {
			e.funcOf(f)
		}
	}
	e.drain()
	if e.refused != nil {
		return run, e.refused
	}
	if err := e.replace(pkg, c); err != nil {
		return run, err
	}
	e.leave(pkg, c)
	return run, nil
}

// create makes a package that a cell imports known: it has no syntax, and what
// it holds is compiled. A package that is only mentioned by others' types waits
// until it is imported, when all of its names are there.
func (e *Engine) create(p *types.Package) {
	if e.created[p] {
		return
	}
	e.created[p] = true
	e.prog.CreatePackage(p, nil, nil, true)
}

// compiled reports whether what a package holds is compiled.
func (e *Engine) compiled(p *types.Package) bool {
	return p == nil || p.Path() != "main" && !e.library.has(p) && e.sources[p] == nil
}

// variable gives a cell's variable its storage.
func (e *Engine) variable(g *ssa.Global, c *cell.Cell, run *program) {
	o := g.Object()
	if o == nil { // init$guard
		return
	}
	t := e.types.of(o.Type())
	p := unsafe.Pointer(nil)
	if old := c.Replaces[o]; old != nil {
		p = e.storage[old]
	}
	if p == nil {
		p = rtype.New(rtype.Of(t))
	} else if v, ok := o.(*types.Var); ok && !slices.Contains(c.Hoisted, v) {
		run.zero = append(run.zero, variable{p, rtype.Of(t)})
	}
	e.storage[o] = p
	e.globals[g] = p
	if o.Name() == "ctx" {
		e.context = nil
	}
	if c.N == 0 && o.Name() == "ctx" && t == reflect.TypeFor[context.Context]() {
		e.context = p
	}
}

// global is where a package-level variable lies.
func (e *Engine) global(g *ssa.Global) unsafe.Pointer {
	p := e.globals[g]
	if p == nil {
		if o := g.Object(); o != nil && e.compiled(o.Pkg()) {
			p = e.externs.variable(o)
		} else if o != nil && e.storage[o] != nil {
			p = e.storage[o]
		} else {
			p = rtype.New(rtype.Of(e.types.of(g.Type().(*types.Pointer).Elem())))
		}
		e.globals[g] = p
	}
	return p
}

// replace makes earlier calls of the functions that the cell declares again
// call the new ones.
func (e *Engine) replace(pkg *ssa.Package, c *cell.Cell) error {
	for o, old := range c.Replaces {
		n, ok1 := o.(*types.Func)
		p, ok2 := old.(*types.Func)
		if !ok1 || !ok2 {
			continue
		}
		newFn, oldFn := e.prog.FuncValue(n), e.prog.FuncValue(p)
		if newFn == nil || oldFn == nil {
			continue
		}
		if n.Signature().TypeParams().Len() == 0 {
			if f := e.funcs[oldFn]; f != nil {
				f.become(e.funcOf(newFn))
			}
			continue
		}
		for from, to := range e.newer {
			if to == oldFn {
				e.newer[from] = newFn
			}
		}
		e.newer[oldFn] = newFn
		for inst, f := range e.funcs {
			if inst.Origin() == oldFn && inst != oldFn {
				g := e.library.instance(newFn.Object().(*types.Func), inst.TypeArgs())
				f.become(e.funcOf(g))
			}
		}
	}
	e.drain()
	return e.refused
}

// funcOf is the function at a call site. e.mu is held.
func (e *Engine) funcOf(f *ssa.Function) *function {
	if r := e.funcs[f]; r != nil {
		return r
	}
	if n := e.newer[f.Origin()]; n != nil { // a method that is compiled late
		r := e.funcOf(e.library.instance(n.Object().(*types.Func), f.TypeArgs()))
		e.funcs[f] = r
		return r
	}
	r := &function{current: new(atomic.Pointer[code])}
	e.funcs[f] = r
	src := e.sourceOf(f)
	if f.Blocks == nil && src != nil && f.Object() != nil {
		c := e.newCode(f)
		c.finish(startOf(c), nil)
		c.body.Store(src.refusing(f, errors.New("it has no body: it is written in assembly, or linked by go:linkname")))
		r.current.Store(c)
		return r
	}
	if f.Blocks == nil || e.library.instead(f) {
		if err := e.external(f, r); err != nil {
			delete(e.funcs, f)
			panic(err)
		}
		return r
	}
	c := e.newCode(f)
	r.current.Store(c)
	r.variable = f.Pkg != nil && f.Pkg.Pkg.Path() == "main" && f.Parent() == nil && f.Signature.Recv() == nil
	e.todo = append(e.todo, c)
	return r
}

// funcLocked is funcOf for code that runs: the function can be called.
func (e *Engine) funcLocked(f *ssa.Function) *function {
	r := e.funcOf(f)
	e.drain()
	return r
}

// drain compiles what is waiting. Code that cannot be compiled panics when it
// is called.
func (e *Engine) drain() {
	for len(e.todo) > 0 {
		c := e.todo[0]
		e.todo = e.todo[1:]
		b, err := e.tryCompile(c)
		switch {
		case err == nil:
		case c.source != nil:
			b = c.source.refusing(c.fn, err)
			c.finish(startOf(c), nil)
		default:
			if e.refused == nil {
				e.refused = err
			}
			u := err
			b = &body{entry: &block{next: func(*frame) *block { panic(u) }}}
			c.finish(startOf(c), nil)
		}
		c.body.Store(b)
		e.shed(c)
	}
}

// shed drops the instructions of a compiled function. Only what calls a literal
// can be compiled before it, so nobody asks for it again.
func (e *Engine) shed(c *code) {
	f := c.fn
	c.fn = nil
	if f.Parent() != nil {
		delete(e.funcs, f)
	}
	for _, g := range f.AnonFuncs {
		delete(e.literals, g)
	}
	if c.small != nil {
		return
	}
	f.Params, f.FreeVars, f.Locals, f.Blocks, f.Recover, f.AnonFuncs = nil, nil, nil, nil, nil, nil
}

// startOf is the memory of a frame up to its parameters.
func startOf(c *code) *rtype.Memory {
	m := startFrame()
	for _, v := range append(c.sig.results, c.sig.params...) {
		m.Add(v.typ)
	}
	return m
}

func (e *Engine) tryCompile(c *code) (b *body, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case unsupported:
			at, _ := c.place(c.fn.Pos())
			err = &refused{err: x, at: at}
		case error:
			err = &refused{err: fmt.Errorf("cannot run this: %s: %w", c.fn, x)}
		default:
			err = &refused{err: fmt.Errorf("cannot run this: %s: %v", c.fn, x)}
		}
	}()
	defer e.types.enter(c.fn)()
	return e.compile(c), nil
}

// place is a position in a cell.
func (e *Engine) place(p token.Pos) (engine.Frame, bool) {
	if !p.IsValid() {
		return engine.Frame{}, false
	}
	at := e.prog.Fset.Position(p)
	name, ok := strings.CutPrefix(at.Filename, "In[")
	if !ok {
		return engine.Frame{}, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(name, "]"))
	return engine.Frame{Cell: n, Line: at.Line, Col: at.Column}, err == nil
}

// nameOf is a function's name in traces; a literal and a cell have none.
func nameOf(f *ssa.Function) string {
	if f.Parent() != nil || f.Synthetic != "" && f.Origin() == nil || strings.HasPrefix(f.Name(), "cell__") {
		return ""
	}
	if f.Origin() != nil {
		f = f.Origin()
	}
	r := f.Signature.Recv()
	if r == nil {
		name, _, _ := strings.Cut(f.Name(), "#") // init#1
		return name
	}
	t := r.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}
