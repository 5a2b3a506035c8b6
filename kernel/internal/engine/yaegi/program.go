package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// program is a lowered cell.
type program struct {
	text         string
	run          string            // the function that runs the cell; empty if there is nothing to run
	places       []place           // by offset in text
	renames      [][2]string       // in the interpreter's scope, before compilation
	patches      []*name           // functions of earlier cells that get a new body
	removes      []string          // names that are declared again
	declare      []string          // all names that text declares
	draftImports map[string]string // by path, the names in text
	draft        *draft            // to commit when text compiled
	live         map[string]*name
	moved        []func() // to do on commit: positions of what did not change
}

// place leads from text back to the source.
type place struct {
	off   int // in text
	piece *piece
	src   int // offset in the piece's source
	n     int // bytes that run in parallel with the source
}

// spot is a place in a user's source. It follows a declaration that is run
// again unchanged.
type spot struct {
	at        *origin
	fn        string
	line, col int // line is relative to at
}

func (s *spot) frame() engine.Frame {
	return engine.Frame{Cell: s.at.cell, Line: s.at.line + s.line, Col: s.col, Func: s.fn}
}

// decl is something that a cell declares.
type decl struct {
	obj     types.Object
	base    string
	kind    kind
	fresh   bool // it is new in the interpreter
	emit    bool
	name    *name
	prev    *name
	spec    *ast.TypeSpec
	fn      *ast.FuncDecl
	methods []*ast.FuncDecl
	pieces  []*piece
	key     string
	sig     string
}

// lowerCell lowers a checked cell for a notebook, which it only reads.
func lowerCell(nb *notebook, lib *library, c *cell.Cell) (*program, error) {
	src := &source{cell: c.N, text: blankComments(c.Text), fset: c.Fset, file: c.File, pkg: c.Pkg, info: c.Info}
	l := &lowering{draft: nb.draft(), std: lib, src: src, localNames: map[*types.TypeName]string{}}
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
		l.instances, l.used = map[string]*name{}, cloneCounts(nb.used)
		l.imports, l.taken, l.pieces, l.queue = map[string]string{}, map[string]bool{}, nil, nil
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
	pieces = append(pieces, l.cellFunc(c, inits, p)...)
	l.lowerInstances()
	pieces = append(pieces, l.pieces...)
	if l.err != nil {
		return nil, l.err
	}
	p.assemble(l, pieces)
	return p, nil
}

func asTypeName(o types.Object) *types.TypeName {
	t, _ := o.(*types.TypeName)
	return t
}

func cloneCounts(m map[string]int) map[string]int {
	r := map[string]int{}
	for k, v := range m {
		r[k] = v
	}
	return r
}

func (d *decl) renew(l *lowering) {
	d.name, d.fresh = l.add(d.base, d.kind), true
	if d.kind == genericName {
		d.name.generic = &generic{src: l.src, fn: d.fn, spec: d.spec, methods: d.methods}
	}
}

// changed tells a declaration that cannot stay what its name was.
func (d *decl) changed() bool {
	switch d.kind {
	case funcName:
		return d.sig != d.prev0().sig
	}
	return d.key != d.prev0().key
}

func (d *decl) prev0() *name {
	if d.prev == nil {
		return &name{}
	}
	return d.prev
}

// declarations lists what the cell declares, types first, and its init
// functions.
func (l *lowering) declarations(c *cell.Cell) (decls []*decl, inits []*ast.FuncDecl) {
	info := c.Info
	var ts, fs, vs []*decl
	byType := map[types.Object]*decl{}
	local := func(fn ast.Node, owner string) {
		for i, s := range localSpecs(fn) {
			o := info.Defs[s.Name].(*types.TypeName)
			if s.TypeParams == nil && !o.IsAlias() && !constraintOnly(o) {
				ts = append(ts, &decl{obj: o, base: s.Name.Name + "__" + owner + "_" + strconv.Itoa(i+1), kind: typeName, spec: s})
			}
		}
	}
	typ := func(s *ast.TypeSpec) {
		o := info.Defs[s.Name].(*types.TypeName)
		if s.Name.Name == "_" || o.IsAlias() && s.TypeParams == nil || constraintOnly(o) {
			return
		}
		d := &decl{obj: o, base: s.Name.Name, kind: typeName, spec: s}
		if s.TypeParams != nil {
			d.kind = genericName
		}
		byType[o] = d
		ts = append(ts, d)
	}
	for _, g := range c.File.Decls {
		switch g := g.(type) {
		case *ast.GenDecl:
			for _, s := range g.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					typ(s)
				case *ast.ValueSpec:
					if g.Tok == token.VAR {
						for _, v := range s.Values {
							local(v, "var"+s.Names[0].Name)
						}
					}
				}
			}
		case *ast.FuncDecl:
			switch {
			case g == c.Body:
				local(g, "cell")
			case g.Recv != nil || g.Name.Name == "_":
			case g.Name.Name == "init":
				inits = append(inits, g)
				local(g, "init"+strconv.Itoa(len(inits)))
			case g.Type.TypeParams != nil:
				fs = append(fs, &decl{obj: info.Defs[g.Name], base: g.Name.Name, kind: genericName, fn: g})
			default:
				fs = append(fs, &decl{obj: info.Defs[g.Name], base: g.Name.Name, kind: funcName, fn: g})
				local(g, g.Name.Name)
			}
		}
	}
	for _, g := range c.File.Decls {
		if f, ok := g.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name != "_" {
			if d := byType[receiver(info, f)]; d != nil {
				d.methods = append(d.methods, f)
				if d.kind == typeName {
					local(f, d.base+"_"+f.Name.Name)
				}
			}
		}
	}
	for _, o := range c.Defines {
		if v, ok := o.(*types.Var); ok && o.Name() != "_" {
			vs = append(vs, &decl{obj: v, base: v.Name(), kind: varName})
		}
	}
	return slices.Concat(ts, vs, fs), inits
}

// receiver is the object of a method's type.
func receiver(info *types.Info, f *ast.FuncDecl) types.Object {
	m, ok := info.Defs[f.Name].(*types.Func)
	if !ok || m.Signature().Recv() == nil {
		return nil
	}
	t := types.Unalias(m.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// declaration renders d.
func (l *lowering) declaration(d *decl) {
	ref := nameRef(d.name.id)
	d.pieces = nil
	add := func(text string, pos token.Pos, fn string) {
		d.pieces = append(d.pieces, &piece{name: d.name, text: text, src: l.src, pos: pos, fn: fn})
	}
	switch {
	case d.kind == genericName:
		d.key = l.genericKey(d)
		return
	case d.kind == varName:
		l.keys = true
		d.key = l.typ(d.obj.Type())
		l.keys = false
		add("var "+ref+" "+l.typ(d.obj.Type()), d.obj.Pos(), "")
		return
	case d.spec != nil:
		l.begin(d.spec)
		add("type "+ref+" "+l.definition(d.spec, ref), d.spec.Pos(), "")
		for _, m := range d.methods {
			f := l.src.info.Defs[m.Name].(*types.Func)
			l.begin(m)
			add(l.function(m, m.Pos(), m.Type, m.Body, &frame{node: m, fn: true, sig: f.Signature()}), m.Pos(), d.base+"."+m.Name.Name)
		}
	default:
		f := l.src.info.Defs[d.fn.Name].(*types.Func)
		l.keys = true
		d.sig = l.signature(f.Signature())
		l.keys = false
		l.begin(d.fn)
		if d.fn.Body == nil {
			l.fail(d.fn, "function %s without a body", d.base)
			return
		}
		text := l.function(d.fn, d.fn.Type.Params.Pos(), d.fn.Type, d.fn.Body, &frame{node: d.fn, fn: true, sig: f.Signature()})
		add("func "+ref+text, d.fn.Pos(), d.base)
	}
	var b strings.Builder
	for _, p := range d.pieces {
		b.WriteString(p.relative() + "\n")
	}
	d.key = b.String()
}

// origin is where the piece stands: in its cell, or in an earlier one from
// which the checker carried it along.
func (p *piece) origin() *origin {
	pos := p.src.fset.Position(p.pos)
	o := &origin{cell: p.src.cell, line: pos.Line}
	if p.src.cell != none {
		if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(pos.Filename, "In["), "]")); err == nil {
			o.cell = n
		}
	}
	return o
}

// genericKey is the source of something generic with what its names mean.
func (l *lowering) genericKey(d *decl) string {
	var b strings.Builder
	write := func(n ast.Node) {
		b.WriteString(l.src.string(n) + "\n")
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if o := l.src.info.Uses[id]; o != nil && o.Pkg() == l.src.pkg || o != nil && o.Pkg() != nil && o.Pkg().Path() == "main" {
					if n := l.of(o); n != nil {
						b.WriteString("#" + strconv.Itoa(n.id))
					}
				}
				if p, ok := l.src.info.Uses[id].(*types.PkgName); ok {
					b.WriteString("#" + p.Imported().Path())
				}
			}
			return true
		})
	}
	if d.fn != nil {
		write(d.fn)
	} else {
		write(d.spec)
	}
	for _, m := range d.methods {
		write(m)
	}
	return b.String()
}

// relative is the text with marks that do not change when it moves as a whole.
func (p *piece) relative() string {
	base := p.src.fset.Position(p.pos).Line
	return eachMark(p.text, func(off, n int) string {
		pos := p.src.position(off)
		return mark(pos.Line-base, pos.Column)
	})
}

// position is the place in the user's source of an offset.
func (s *source) position(off int) token.Position {
	f := s.fset.File(s.file.Pos())
	return s.fset.Position(f.Pos(min(off, f.Size())))
}

// eachMark replaces the marks of positions in s.
func eachMark(s string, f func(off, n int) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, markOpen)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		k := i + strings.IndexByte(s[i:], markClose)
		o, n, _ := strings.Cut(s[i+1:k], ",")
		off, _ := strconv.Atoi(o)
		ln, _ := strconv.Atoi(n)
		b.WriteString(f(off, ln))
		s = s[k+1:]
	}
}

// declares takes d into the program and returns what is to be compiled of it.
func (p *program) declares(l *lowering, d *decl) []*piece {
	p.live[d.base] = d.name
	var at []*origin
	for _, q := range d.pieces {
		at = append(at, q.origin())
	}
	if !d.fresh && (d.kind == varName || d.key == d.name.key) {
		n := d.name
		p.moved = append(p.moved, func() {
			for i, o := range at {
				if i < len(n.at) {
					*n.at[i] = *o
				}
			}
		})
		return nil
	}
	if d.fresh && d.prev != nil && d.prev.kind != genericName {
		p.renames = append(p.renames, [2]string{d.prev.current, l.numbered(d.base)})
	}
	if !d.fresh {
		p.patches = append(p.patches, d.name)
		p.removes = append(p.removes, d.name.current)
	}
	n, key, sig := d.name, d.key, d.sig
	p.moved = append(p.moved, func() { n.key, n.sig, n.at = key, sig, at })
	for i, q := range d.pieces {
		q.at = at[i]
	}
	if d.kind == genericName {
		return nil
	}
	p.declare = append(p.declare, d.name.current)
	return d.pieces
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
		first.WriteString(mark(l.src.off(in.Rhs.Pos()), 0) + strings.Join(ls, ", ") + " = " + l.text(in.Rhs) + "\n")
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

// assemble joins the pieces, spells names and collects places.
func (p *program) assemble(l *lowering, pieces []*piece) {
	renamed := map[int]string{}
	for _, r := range p.renames {
		for _, n := range l.draft.notebook.names {
			if n.current == r[0] {
				renamed[n.id] = r[1]
			}
		}
	}
	var b strings.Builder
	b.WriteString("package main\n")
	var paths []string
	for path := range l.imports {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		b.WriteString("import " + l.imports[path] + " " + strconv.Quote(path) + "\n")
	}
	b.WriteString("import " + hostPackage + " \"" + hostPackage + "\"\n")
	for _, q := range pieces {
		if q.at == nil && q.src != nil {
			q.at = q.origin()
		}
		if q.name != nil && !slices.Contains(p.declare, q.name.current) {
			p.declare = append(p.declare, q.name.current)
		}
		text := spell(q.text, func(id int) string {
			if s := renamed[id]; s != "" {
				return s
			}
			return l.byID(id).current
		})
		if q.src != nil {
			p.places = append(p.places, place{off: b.Len(), piece: q, src: q.src.off(q.pos)})
		} else {
			p.places = append(p.places, place{off: b.Len()})
		}
		for {
			i := strings.IndexByte(text, markOpen)
			if i < 0 {
				break
			}
			b.WriteString(text[:i])
			k := i + strings.IndexByte(text[i:], markClose)
			o, n, _ := strings.Cut(text[i+1:k], ",")
			off, _ := strconv.Atoi(o)
			ln, _ := strconv.Atoi(n)
			p.places = append(p.places, place{off: b.Len(), piece: q, src: off, n: ln})
			text = text[k+1:]
		}
		b.WriteString(text + "\n")
	}
	if p.run != "" {
		set := ""
		if n := l.live["ctx"]; n != nil && p.live["ctx"] == nil && n.key == "context.Context" {
			set = n.current + " = " + host("Context") + "(); "
		}
		b.WriteString("func init() { " + set + host("Cell") + "(" + p.run + ") }\n")
	}
	p.text = b.String()
	p.draftImports = l.imports
	old := map[*name]string{}
	for id, s := range renamed {
		old[l.draft.names[id]] = s
	}
	p.moved = append(p.moved, func() {
		for n, s := range old {
			n.current = s
		}
	})
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

// spell replaces names in s.
func spell(s string, f func(id int) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, nameOpen)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		k := i + strings.IndexByte(s[i:], nameClose)
		id, _ := strconv.Atoi(s[i+1 : k])
		b.WriteString(f(id))
		s = s[k+1:]
	}
}

// spot finds where an offset in the text comes from; nil for what is no
// user's.
func (p *program) spot(off int) *spot {
	i, found := slices.BinarySearchFunc(p.places, off, func(q place, off int) int { return q.off - off })
	for found && i+1 < len(p.places) && p.places[i+1].off == off {
		i++ // marks at one offset: the last is the innermost
	}
	if !found {
		i--
	}
	if i < 0 || p.places[i].piece == nil || p.places[i].piece.src.cell == none {
		return nil
	}
	pl := p.places[i]
	if off-pl.off > pl.n {
		return nil // lowering's own text
	}
	q := pl.piece
	pos := q.src.position(pl.src + off - pl.off)
	return &spot{at: q.at, fn: q.fn, line: pos.Line - q.at.line, col: pos.Column}
}
