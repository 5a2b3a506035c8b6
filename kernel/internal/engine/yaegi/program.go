package yaegi

import (
	"go/ast"
	"go/types"
	"maps"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// program is a lowered cell.
type program struct {
	text         string
	run          string            // the function that runs the cell; empty if there is nothing to run
	places       []place           // by offset in text
	renames      [][2]string       // in the interpreter's scope, before compilation
	replaced     [][2]*name        // instances of generic functions, and the new ones
	patches      []*name           // functions of earlier cells that get a new body
	removes      []string          // names that are declared again
	declare      []string          // all names that text declares
	draftImports map[string]string // by path, the names in text
	draft        *draft            // to commit when text compiled
	live         map[string]*name
	types        map[string]types.Type // that text names
	doubt        *unsupported          // why the interpreter may not compile text
	moved        []func()              // to do on commit: positions of what did not change
}

// reserved returns the first name that the cell declares and lowering could
// make itself, or nil.
func (l *lowering) reserved(c *cell.Cell) (first *ast.Ident) {
	for id := range c.Info.Defs {
		i := strings.LastIndex(id.Name, "__")
		if i < 0 || i+2 == len(id.Name) || strings.Trim(id.Name[i+2:], "0123456789") != "" || c.Body != nil && id == c.Body.Name {
			continue
		}
		if first == nil || id.Pos() < first.Pos() {
			first = id
		}
	}
	return first
}

// lowerCell lowers a checked cell for a notebook, which it only reads.
func lowerCell(nb *notebook, lib *library, c *cell.Cell) (*program, error) {
	src := &source{cell: c.N, text: blankComments(c.Text), fset: c.Fset, file: c.File, pkg: c.Pkg, info: c.Info}
	l := &lowering{draft: nb.draft(), std: lib, src: src, cell: c, localNames: map[*types.TypeName]string{}}
	if id := l.reserved(c); id != nil {
		l.fail(id, "a name that ends in two underscores and a number is the interpreter's own; call %s otherwise", id.Name)
		return nil, l.err
	}
	for _, p := range c.Packages {
		lib.add(p)
	}
	decls, inits := l.declarations(c)
	for _, d := range decls {
		d.prev = nb.live[d.base]
		if d.prev != nil && d.prev.kind == d.kind {
			d.name = d.prev
		} else {
			d.renew(l)
		}
		l.assigned[d.obj] = d.name
		if d.spec != nil && d.obj.Parent() != c.Pkg.Scope() {
			l.localNames[d.obj.(*types.TypeName)] = nameRef(d.name.id)
		}
	}
	// A declaration is new if its text is, and then so is all text that names
	// it: until nothing changes.
	for again := true; again && l.err == nil; {
		again = false
		l.instances, l.used = map[string]*name{}, maps.Clone(nb.used)
		l.imports, l.taken, l.pieces, l.queue = map[string]string{}, map[string]bool{}, nil, nil
		l.methods, l.starts, l.lazy, l.draft.started = nil, nil, nil, nil
		l.known = map[string]types.Type{}
		for _, d := range decls {
			l.declaration(d)
			if d.changed() && !d.fresh {
				d.renew(l)
				l.assigned[d.obj] = d.name
				if l.localNames[asTypeName(d.obj)] != "" {
					l.localNames[asTypeName(d.obj)] = nameRef(d.name.id)
				}
				again = true
			}
		}
	}
	p := &program{draft: l.draft, live: map[string]*name{}}
	var pieces []*piece
	for _, d := range decls {
		pieces = append(pieces, p.declares(l, d)...)
	}
	for _, d := range decls {
		l.replaceInstances(d, p)
	}
	pieces = append(pieces, l.cellFunc(c, inits, p)...)
	l.startPackages(c.Packages)
	l.lowerInstances()
	pieces = append(pieces, l.pieces...)
	if l.err != nil {
		return nil, l.err
	}
	p.doubt = l.doubt
	p.assemble(l, l.inTypeOrder(pieces))
	return p, nil
}

// cellFunc renders the function that runs the cell.
func (l *lowering) cellFunc(c *cell.Cell, inits []*ast.FuncDecl, p *program) []*piece {
	name := "cell__" + strconv.Itoa(c.N)
	var first strings.Builder
	var pieces []*piece
	l.begin(c.File)
	if c.Body == nil {
		first.WriteString(l.zeroVars(c))
	}
	for _, in := range c.Info.InitOrder {
		var ls []string
		for _, v := range in.Lhs {
			if v.Name() == "_" {
				ls = append(ls, "_")
			} else {
				ls = append(ls, l.ref(v))
			}
		}
		first.WriteString(mark(l.src.off(in.Rhs.Pos()), 0) + strings.Join(ls, ", ") + " = " + l.initial(in) + "\n")
	}
	for i, f := range inits {
		fn := "init__" + strconv.Itoa(i+1)
		l.begin(f)
		text := l.function(f, f.Type.Params.Pos(), f.Type, f.Body, &frame{node: f, fn: true, sig: l.src.info.Defs[f.Name].(*types.Func).Signature()})
		pieces = append(pieces, &piece{text: "func " + fn + text, src: l.src, pos: f.Pos(), fn: "init"})
		first.WriteString(fn + "()\n")
		p.removes, p.declare = append(p.removes, fn), append(p.declare, fn)
	}
	var body string
	pos := c.File.Pos()
	switch {
	case c.Body != nil:
		l.show = c
		l.begin(c.Body)
		f, _ := c.Info.Defs[c.Body.Name].(*types.Func)
		body = l.function(c.Body, c.Body.Type.Params.Pos(), c.Body.Type, c.Body.Body, &frame{node: c.Body, fn: true, sig: f.Signature()})
		pos, l.show = c.Body.Pos(), nil
		if first.Len() > 0 {
			l.fail(c.Body, "initialisation beside statements")
		}
	case first.Len() > 0 || c.Main:
		if c.Main {
			first.WriteString(l.ref(c.Pkg.Scope().Lookup("main")) + "()\n")
		}
		body = "() {\n" + first.String() + "}"
	default:
		return nil
	}
	p.run = name
	p.declare = append(p.declare, name)
	return append(pieces, &piece{text: "func " + name + body, src: l.src, pos: pos})
}

// zeroVars makes variables zero that a cell of declarations declares again
// without a value.
func (l *lowering) zeroVars(c *cell.Cell) string {
	set := map[types.Object]bool{}
	for _, in := range c.Info.InitOrder {
		for _, v := range in.Lhs {
			set[v] = true
		}
	}
	var b strings.Builder
	for _, o := range c.Defines {
		if v, ok := o.(*types.Var); ok && !set[v] && v.Name() != "_" && l.live[v.Name()] == l.of(v) {
			b.WriteString(l.ref(v) + " = *new(" + l.typ(v.Type()) + ")\n")
		}
	}
	return b.String()
}

// imports are the paths that text imports.
func (p *program) imports() []string {
	var r []string
	for path := range p.draftImports {
		r = append(r, path)
	}
	return r
}

// commit makes the notebook what the compiled program made the interpreter.
func (p *program) commit() {
	for _, f := range p.moved {
		f()
	}
	p.draft.commit(p.live)
}

// initial renders the value of package variables.
func (l *lowering) initial(in *types.Initializer) string {
	if len(in.Lhs) == 2 {
		l.receiveOnly(in.Rhs)
	}
	if len(in.Lhs) == 1 && in.Lhs[0].Name() != "_" {
		l.apart([]ast.Expr{in.Rhs}) // an earlier one may have its address
		return l.converted(in.Rhs, l.text(in.Rhs), in.Lhs[0].Type())
	}
	return l.text(in.Rhs)
}
