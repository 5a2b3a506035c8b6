package yaegi

import (
	"go/ast"
	"go/types"
	"strconv"
)

// ref is the name of an object of the notebook's.
func (l *lowering) ref(o types.Object) string {
	n := l.of(o)
	if n == nil {
		if l.std.has(o) {
			return l.stdName(o)
		}
		l.fail(nil, "%s is not there: its cell could not run", o.Name())
		return o.Name()
	}
	if l.keys {
		return "#" + strconv.Itoa(n.id)
	}
	return nameRef(n.id)
}

// value is the name of an object where e stands. A function that is not called
// gets its type, or yaegi would make a variable of a type of its own of it:
//
//	f := left; f = right
//	f := (func(string) string)(left); f = (func(string) string)(right)
func (l *lowering) value(e ast.Expr, o types.Object) string {
	if f, ok := o.(*types.Func); ok && !l.called[e] {
		return "(" + l.typ(f.Signature()) + ")(" + l.ref(o) + ")"
	}
	return l.ref(o)
}

// hostPackage is what lowered text calls the host, see host.go. No import of a
// cell's has this name.
const hostPackage = "host__0"

// host is a function of the host's.
func host(name string) string { return hostPackage + "." + name }

func labelName(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return id.Name
}

// ident spells what an identifier means.
func (l *lowering) ident(id *ast.Ident) (string, bool) {
	info := l.src.info
	if in, ok := info.Instances[id]; ok {
		return l.instantiated(id, info.Uses[id], in)
	}
	o := info.Uses[id]
	if o == nil {
		o = info.Defs[id]
	}
	switch o := o.(type) {
	case nil:
		if _, defined := info.Defs[id]; defined && reserved(l, id.Name) {
			return id.Name + "__v", true // of a type switch
		}
		return "", false
	case *types.PkgName:
		return l.use(o.Imported().Path()), true
	case *types.Label, *types.Builtin, *types.Nil:
		return "", false
	case *types.TypeName:
		return l.typeIdent(o)
	case *types.Var:
		if o.IsField() {
			if o.Embedded() {
				return l.embedded(o), true
			}
			return "", false
		}
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "", false
		}
	}
	if o.Pkg() == nil {
		return "", false
	}
	if o.Parent() != nil && o.Parent() == o.Pkg().Scope() || l.of(o) != nil {
		if l.ours(o) {
			return l.value(id, o), true
		}
		return l.use(o.Pkg().Path()) + "." + o.Name(), true // of a dot import
	}
	if reserved(l, id.Name) {
		return id.Name + "__v", true
	}
	return "", false
}

func (l *lowering) typeIdent(o *types.TypeName) (string, bool) {
	if o.Pkg() == nil {
		return "", false
	}
	return head(l.typ(o.Type())), true
}

// reserved tells names of locals that would hide what inserted text means:
// predeclared names and the notebook's types.
func reserved(l *lowering, s string) bool {
	if s == "_" {
		return false
	}
	if types.Universe.Lookup(s) != nil {
		return true
	}
	n := l.draft.liveType(s)
	return n != nil && n.kind == typeName
}

// fieldName is the name in the interpreter of a field.
func (l *lowering) fieldName(v *types.Var) string {
	if v.Embedded() {
		return l.embedded(v)
	}
	return v.Name()
}

// embedded is the name in the interpreter of the field of an embedded type.
func (l *lowering) embedded(v *types.Var) string {
	t := types.Unalias(l.subst(v.Type()))
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok {
		return v.Name()
	}
	o := n.Obj()
	if o.Pkg() != nil && l.ours(o) && (n.TypeArgs().Len() > 0 || l.localNames[o] != "" || l.std.has(o)) {
		return l.named(n)
	}
	return o.Name()
}

func (l *lowering) selector(e *ast.SelectorExpr) (string, bool) {
	info := l.src.info
	if in, ok := info.Instances[e.Sel]; ok {
		return l.instantiated(e, info.Uses[e.Sel], in)
	}
	if s := info.Selections[e]; s != nil {
		if s.Kind() == types.MethodExpr {
			return l.methodExpr(e, s), true
		}
		if s.Kind() == types.MethodVal && !l.called[e] {
			return l.methodValue(e, s), true
		}
		if v, ok := s.Obj().(*types.Var); ok && v.Embedded() {
			return l.text(e.X) + "." + l.embedded(v), true
		}
		// the name of a method or field means nothing by itself
		return l.text(e.X) + l.raw(l.src.off(e.X.End()), l.src.off(e.End())), true
	}
	// a package's
	o := info.Uses[e.Sel]
	if o == nil || o.Pkg() == nil {
		return "", false
	}
	if _, isType := o.(*types.TypeName); o.Pkg() == types.Unsafe && !isType {
		l.fail(e, "package unsafe")
		return e.Sel.Name, true
	}
	if l.std.has(o) {
		return l.value(e, o), true
	}
	if t, ok := o.(*types.TypeName); ok {
		return head(l.typ(t.Type())), true
	}
	if s := hostFuncs[o.Pkg().Path()+"."+o.Name()]; s != "" {
		return host(s), true
	}
	return l.use(o.Pkg().Path()) + "." + o.Name(), true
}
