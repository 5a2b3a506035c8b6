package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// decl is something that a cell declares.
type decl struct {
	obj     types.Object
	base    string
	kind    kind
	fresh   bool // it is new in the interpreter
	name    *name
	prev    *name
	spec    *ast.TypeSpec
	fn      *ast.FuncDecl
	methods []*ast.FuncDecl
	pieces  []*piece
	key     string
	sig     string
}

func asTypeName(o types.Object) *types.TypeName {
	t, _ := o.(*types.TypeName)
	return t
}

func (d *decl) renew(l *lowering) {
	d.name, d.fresh = l.add(d.base, d.kind), true
	if d.kind == genericName {
		d.name.generic = &generic{src: l.src, fn: d.fn, spec: d.spec, methods: d.methods}
	}
}

// changed tells a declaration that cannot stay what its name was.
func (d *decl) changed() bool {
	if d.kind == funcName {
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
	return slices.Concat(inOrder(info, ts), vs, fs), inits
}

// inOrder puts types behind those that they are defined as: given type T1 T,
// yaegi must know T first.
func inOrder(info *types.Info, ts []*decl) []*decl {
	byObj := map[types.Object]*decl{}
	for _, d := range ts {
		byObj[d.obj] = d
	}
	var r []*decl
	done := map[*decl]bool{}
	var add func(d *decl)
	add = func(d *decl) {
		if done[d] {
			return
		}
		done[d] = true
		if id, ok := ast.Unparen(d.spec.Type).(*ast.Ident); ok && byObj[info.Uses[id]] != nil {
			add(byObj[info.Uses[id]])
		}
		r = append(r, d)
	}
	for _, d := range ts {
		add(d)
	}
	return r
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
		if n, ok := d.obj.Type().(*types.Named); ok {
			l.finite(d.spec, n)
		}
		add("type "+ref+" "+l.definition(d.spec, ref)+l.marking(d.obj.Type(), ref), d.spec.Pos(), "")
		d.pieces[0].holds, d.pieces[0].parts = l.holds(l.typeOf(d.spec.Type)), l.parts(l.typeOf(d.spec.Type))
		if named, ok := d.obj.Type().(*types.Named); ok {
			l.forwards(ref, named, add)
		}
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
		text := l.function(d.fn, d.fn.Type.Params.Pos(), d.fn.Type, d.fn.Body, &frame{node: d.fn, fn: true, sig: f.Signature()})
		add("func "+ref+text, d.fn.Pos(), d.base)
	}
	var b strings.Builder
	for _, p := range d.pieces {
		b.WriteString(p.relative() + "\n")
	}
	// the same name can be another package in another cell
	for _, path := range slices.Sorted(maps.Keys(l.imports)) {
		if strings.Contains(b.String(), l.imports[path]+".") {
			b.WriteString(path + "\n")
		}
	}
	d.key = b.String()
}

// finite refuses, or notes as the likely cause of a failure, a type that is
// endless.
func (l *lowering) finite(spec *ast.TypeSpec, n *types.Named) {
	if !endless(n, n.Underlying()) {
		return
	}
	if array(n) { // yaegi would follow it for ever
		l.fail(spec, "type %s is made of nothing but itself", n.Obj().Name())
	}
	l.unsure(spec, "type %s is made of itself, with no struct or interface between; let it be a struct that has that as a field", n.Obj().Name())
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

// declares takes d into the program and returns what is to be compiled of it.
func (p *program) declares(l *lowering, d *decl) []*piece {
	p.live[d.base] = d.name
	if d.kind == typeName {
		l.known["main."+nameRef(d.name.id)] = d.obj.Type()
	}
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
	if d.kind == typeName {
		l.methodsOf(nameRef(d.name.id), d.obj.Type())
	}
	return d.pieces
}
