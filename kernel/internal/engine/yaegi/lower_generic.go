package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Generics.
//
// yaegi has generics of its own that fail on inference, constraints and
// methods. It never sees them: every instance becomes a copy for its type
// arguments, made once and kept between cells.
//
//	func Map[A, B any](xs []A, f func(A) B) []B {...}; Map(words, strlen)
//	func Map__1(xs []string, f func(string) int) []int {...}; Map__1(words, strlen)
//
// Generic functions and types of the standard library come from our own
// source versions of them, see library.go.

// generic is the syntax of something generic.
type generic struct {
	src     *source
	fn      *ast.FuncDecl
	spec    *ast.TypeSpec
	methods []*ast.FuncDecl

	v      *variable // of a variable, what initialises it, and
	object types.Object
}

// instance is one to be lowered.
type instance struct {
	name *name
	g    *generic
	args []types.Type
}

// maxInstances stops instantiation that feeds itself.
const maxInstances = 2000

// instantiated renders the use of a generic function or type.
func (l *lowering) instantiated(at ast.Node, o types.Object, in types.Instance) (string, bool) {
	if t, ok := o.(*types.TypeName); ok {
		if t.IsAlias() {
			return head(l.typ(types.Unalias(in.Type))), true
		}
		return head(l.typ(in.Type)), true
	}
	if !l.ours(o) {
		l.fail(at, "generic function %s.%s", o.Pkg().Path(), o.Name())
		return o.Name(), true
	}
	f := l.instance(o, l.substList(in.TypeArgs))
	if e, ok := at.(ast.Expr); ok && !l.called[e] { // see value
		f = "(" + l.typ(in.Type) + ")(" + f + ")"
	}
	return f, true
}

// explicit renders f[int] and T[int].
func (l *lowering) explicit(e, x ast.Expr) (string, bool) {
	if l.src.info.Types[e].IsType() {
		return head(l.typ(l.typeOf(e))), true
	}
	id, _ := ast.Unparen(x).(*ast.Ident)
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		id = sel.Sel
	}
	if in, ok := l.src.info.Instances[id]; ok && id != nil {
		return l.instantiated(e, l.src.info.Uses[id], in)
	}
	return "", false
}

// instance returns the name of generic o for the type arguments.
func (l *lowering) instance(o types.Object, args []types.Type) string {
	g, id := l.generic(o)
	if g == nil {
		l.fail(nil, "generic %s", o.Name())
		return o.Name()
	}
	keys := l.keys
	l.keys = true
	var ks []string
	for _, a := range args {
		ks = append(ks, l.typ(a))
	}
	l.keys = keys
	key := id + "[" + strings.Join(ks, ", ") + "]"
	if keys {
		return key
	}
	if n := l.draft.instance(key); n != nil {
		return nameRef(n.id)
	}
	k := funcName
	switch {
	case g.spec != nil:
		k = typeName
	case g.v != nil:
		k = varName
	}
	n := l.add(o.Name(), k)
	n.current, n.of, n.args = l.numbered(l.baseName(o)), l.of(o), args
	l.instances[key] = n
	if len(l.instances) > maxInstances {
		l.fail(nil, "generic %s: its instances need ever more instances", o.Name())
		return n.current
	}
	l.queue = append(l.queue, &instance{n, g, args})
	return nameRef(n.id)
}

// generic finds the syntax of o, and what identifies it.
func (l *lowering) generic(o types.Object) (*generic, string) {
	if n := l.of(o); n != nil {
		return n.generic, "#" + strconv.Itoa(n.id)
	}
	if g := l.std.generic(o); g != nil {
		if m := l.std.moduleOf(o); m != nil { // its path is another version's, too
			return g, "module " + strconv.Itoa(m.id) + "." + o.Name()
		}
		return g, o.Pkg().Path() + "." + o.Name()
	}
	return nil, ""
}

// helper returns the name of a function that lowering needs once for a type.
func (l *lowering) helper(base, typ string, text func(name string) string) string {
	key := base + "(" + unmarked(typ) + ")"
	if n := l.draft.instance(key); n != nil {
		return nameRef(n.id)
	}
	n := l.add(base, funcName)
	n.current = l.numbered(base)
	l.instances[key] = n
	l.pieces = append(l.pieces, &piece{name: n, text: text(nameRef(n.id))})
	return nameRef(n.id)
}

// lowerInstances lowers what is queued and what that needs.
func (l *lowering) lowerInstances() {
	for len(l.queue) > 0 && l.err == nil {
		in := l.queue[0]
		l.queue = l.queue[1:]
		src, env, locals := l.src, l.env, l.locals
		l.src, l.env, l.locals = in.g.src, map[*types.TypeParam]types.Type{}, map[*types.TypeName]*types.Named{}
		switch {
		case in.g.fn != nil:
			l.instanceFunc(in)
		case in.g.v != nil:
			l.instanceVar(in)
		default:
			l.instanceType(in)
		}
		l.src, l.env, l.locals = src, env, locals
	}
}

// replaceInstances makes instances of a generic function that is declared
// again for all type arguments that the earlier one has: callers of those are
// to call the new ones.
func (l *lowering) replaceInstances(d *decl, p *program) {
	if d.kind != genericName || d.fn == nil || !d.fresh || d.prev == nil || l.cell.Replaces[d.obj] == nil {
		return
	}
	byID := func(a, b *name) int { return a.id - b.id }
	for _, n := range slices.SortedFunc(maps.Values(l.notebook.instances), byID) {
		if n.of == d.prev {
			ref := l.instance(d.obj, n.args)
			id, _ := strconv.Atoi(strings.Trim(ref, string(nameOpen)+string(nameClose)))
			p.replaced = append(p.replaced, [2]*name{n, l.byID(id)})
		}
	}
}

func (l *lowering) bindParams(list *types.TypeParamList, args []types.Type) {
	for i := range list.Len() {
		l.env[list.At(i)] = args[i]
	}
}

func (l *lowering) instanceFunc(in *instance) {
	d := in.g.fn
	f := l.src.info.Defs[d.Name].(*types.Func)
	l.bindParams(f.Signature().TypeParams(), in.args)
	l.begin(d)
	l.moveLocals(d, in.name.current)
	s := l.body(d, l.subst(f.Type()).(*types.Signature))
	l.pieces = append(l.pieces, &piece{name: in.name, text: "func " + nameRef(in.name.id) + s, src: l.src, pos: d.Pos(), fn: d.Name.Name, decl: d})
}

func (l *lowering) instanceType(in *instance) {
	t := l.src.info.Defs[in.g.spec.Name].(*types.TypeName)
	n, ok := t.Type().(*types.Named)
	if !ok {
		l.fail(in.g.spec, "generic alias %s", t.Name())
		return
	}
	l.bindParams(n.TypeParams(), in.args)
	l.begin(in.g.spec)
	l.finite(in.g.spec, n)
	whole, ref := n, nameRef(in.name.id)
	if len(in.args) > 0 {
		if t, err := types.Instantiate(nil, n, in.args, false); err == nil {
			whole = t.(*types.Named)
		}
	}
	text := "type " + ref + " " + l.definition(in.g.spec, ref) + l.marking(whole, ref)
	l.known["main."+ref] = whole
	l.pieces = append(l.pieces, &piece{name: in.name, text: text, src: l.src, pos: in.g.spec.Pos(), holds: l.holds(l.typeOf(in.g.spec.Type)), parts: l.parts(l.typeOf(in.g.spec.Type))})
	l.methodsOf(ref, whole)
	l.forwards(ref, whole, func(text string, pos token.Pos, fn string) {
		l.pieces = append(l.pieces, &piece{name: in.name, text: text, src: l.src, pos: pos, fn: fn})
	})
	for _, d := range in.g.methods {
		l.src = in.g.src.holding(d.Pos())
		f := l.src.info.Defs[d.Name].(*types.Func)
		l.env = map[*types.TypeParam]types.Type{}
		l.bindParams(n.TypeParams(), in.args)
		l.bindParams(f.Signature().RecvTypeParams(), in.args)
		l.begin(d)
		l.moveLocals(d, in.name.current+"_"+d.Name.Name)
		recv, star := "", ""
		if r := d.Recv.List[0]; len(r.Names) > 0 {
			recv = l.text(r.Names[0]) + " "
		}
		if _, ok := ast.Unparen(d.Recv.List[0].Type).(*ast.StarExpr); ok {
			star = "*"
		}
		s := l.body(d, l.subst(f.Type()).(*types.Signature))
		l.pieces = append(l.pieces, &piece{name: in.name, text: "func (" + recv + star + nameRef(in.name.id) + ") " + d.Name.Name + s, src: l.src, pos: d.Pos(), fn: t.Name() + "." + d.Name.Name, decl: d})
	}
}

// constraintOnly tells interfaces that hold type sets: they bound type
// parameters and are nothing at run time.
func constraintOnly(o types.Object) bool {
	i, ok := o.Type().Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}
