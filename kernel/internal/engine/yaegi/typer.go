package yaegi

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"
)

// env binds the type parameters of the instance that is being lowered.
type env map[*types.TypeParam]types.Type

// subst replaces type parameters by what the instance binds them to, and local
// types of a generic function by the instance's own.
func (l *lowering) subst(x types.Type) types.Type {
	if len(l.env) == 0 && len(l.locals) == 0 {
		return x
	}
	switch x := x.(type) {
	case *types.TypeParam:
		if y, ok := l.env[x]; ok {
			return y
		}
	case *types.Alias:
		if x.TypeArgs().Len() > 0 || l.ours(x.Obj()) {
			return l.subst(types.Unalias(x))
		}
	case *types.Named:
		if y := l.locals[x.Obj()]; y != nil {
			return y
		}
		if x.TypeArgs().Len() > 0 {
			if r, err := types.Instantiate(nil, x.Origin(), l.substList(x.TypeArgs()), false); err == nil {
				return r
			}
		}
	case *types.Pointer:
		return types.NewPointer(l.subst(x.Elem()))
	case *types.Slice:
		return types.NewSlice(l.subst(x.Elem()))
	case *types.Array:
		return types.NewArray(l.subst(x.Elem()), x.Len())
	case *types.Map:
		return types.NewMap(l.subst(x.Key()), l.subst(x.Elem()))
	case *types.Chan:
		return types.NewChan(x.Dir(), l.subst(x.Elem()))
	case *types.Tuple:
		return l.substTuple(x)
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, l.substTuple(x.Params()), l.substTuple(x.Results()), x.Variadic())
	case *types.Struct:
		var fs []*types.Var
		var tags []string
		for i := range x.NumFields() {
			f := x.Field(i)
			fs = append(fs, types.NewField(f.Pos(), f.Pkg(), f.Name(), l.subst(f.Type()), f.Embedded()))
			tags = append(tags, x.Tag(i))
		}
		return types.NewStruct(fs, tags)
	case *types.Interface:
		var ms []*types.Func
		for m := range x.ExplicitMethods() {
			ms = append(ms, types.NewFunc(m.Pos(), m.Pkg(), m.Name(), l.subst(m.Type()).(*types.Signature)))
		}
		var es []types.Type
		for e := range x.EmbeddedTypes() {
			es = append(es, l.subst(e))
		}
		return types.NewInterfaceType(ms, es)
	}
	return x
}

func (l *lowering) substTuple(p *types.Tuple) *types.Tuple {
	var vs []*types.Var
	for v := range p.Variables() {
		vs = append(vs, types.NewParam(v.Pos(), v.Pkg(), v.Name(), l.subst(v.Type())))
	}
	return types.NewTuple(vs...)
}

func (l *lowering) substList(tl *types.TypeList) []types.Type {
	var r []types.Type
	for t := range tl.Types() {
		r = append(r, l.subst(t))
	}
	return r
}

// ours tells objects whose syntax we have: the cells' and those of our source
// versions of standard packages.
func (l *lowering) ours(o types.Object) bool {
	return o.Pkg() != nil && (o.Pkg().Path() == "main" || l.std.moduleOf(o) != nil || l.std.has(o))
}

// typ prints a type as the lowered text writes it.
func (l *lowering) typ(x types.Type) string {
	switch x := l.subst(x).(type) {
	case *types.Alias:
		return l.typ(types.Unalias(x))
	case *types.Named:
		return l.named(x)
	case *types.Basic:
		switch {
		case x.Kind() == types.UnsafePointer:
			return "*uintptr" // which nothing is made of, see isUnsafe
		case x.Kind() == types.UntypedNil:
			return "interface{}"
		case x.Info()&types.IsUntyped != 0:
			return types.Default(x).String()
		}
		return x.Name()
	case *types.Pointer:
		return "*" + l.typ(x.Elem())
	case *types.Slice:
		return "[]" + l.typ(x.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(x.Len(), 10) + "]" + l.typ(x.Elem())
	case *types.Map:
		if s, ok := l.faceKeys(x); ok {
			return s
		}
		return "map[" + l.typ(x.Key()) + "]" + l.typ(x.Elem())
	case *types.Chan:
		switch x.Dir() {
		case types.SendOnly:
			return "chan<- " + l.typ(x.Elem())
		case types.RecvOnly:
			return "<-chan " + l.typ(x.Elem())
		}
		return "chan (" + l.typ(x.Elem()) + ")"
	case *types.Signature:
		return "func" + l.signature(x)
	case *types.Struct:
		var fs []string
		for i := range x.NumFields() {
			f := x.Field(i)
			s := l.typ(f.Type())
			if !f.Embedded() {
				s = f.Name() + " " + s
			}
			if tag := x.Tag(i); tag != "" {
				s += " " + strconv.Quote(tag)
			}
			fs = append(fs, s)
		}
		return "struct{" + strings.Join(fs, "; ") + "}"
	case *types.Interface:
		var ms []string
		for m := range x.ExplicitMethods() {
			ms = append(ms, m.Name()+l.signature(m.Signature()))
		}
		for e := range x.EmbeddedTypes() {
			ms = append(ms, l.typ(e))
		}
		return "interface{" + strings.Join(ms, "; ") + "}"
	case *types.TypeParam:
		return x.Obj().Name()
	default:
		l.fail(nil, "type %v", x)
		return "int"
	}
}

func (l *lowering) named(x *types.Named) string {
	o := x.Obj()
	switch {
	case o.Pkg() == nil: // error, comparable
		return o.Name()
	case o.Pkg().Path() == "iter":
		return l.typ(x.Underlying())
	case x.TypeArgs().Len() > 0:
		return l.instance(o, l.substList(x.TypeArgs()))
	case l.localNames[o] != "":
		return l.localNames[o]
	case l.ours(o):
		return l.ref(o)
	}
	return l.use(o.Pkg().Path()) + "." + o.Name()
}

func (l *lowering) signature(s *types.Signature) string {
	r := "(" + strings.Join(l.params(s), ", ") + ")"
	if s.Results().Len() > 0 {
		r += " (" + strings.Join(l.types(s.Results()), ", ") + ")"
	}
	return r
}

// params are the types of a signature's parameters.
func (l *lowering) params(s *types.Signature) []string {
	r := l.types(s.Params())
	if s.Variadic() {
		last := s.Params().At(len(r) - 1).Type()
		if sl, ok := l.subst(last).Underlying().(*types.Slice); ok {
			r[len(r)-1] = "..." + l.typ(sl.Elem())
		}
	}
	return r
}

// forward is the text of a function that calls another of the same type.
type forward struct {
	params  string // in parentheses
	args    string // of the call, in parentheses
	results string // behind the parameters, after a space; or empty
	ret     string // "return ", where there are results
}

// forward names the parameters a0, a1 and so on, each with the suffix. Those
// in ps stand before them.
func (l *lowering) forward(sig *types.Signature, suffix string, ps ...string) forward {
	var as []string
	for i, t := range l.params(sig) {
		a := "a" + strconv.Itoa(i) + suffix
		ps, as = append(ps, a+" "+t), append(as, a)
	}
	f := forward{params: "(" + strings.Join(ps, ", ") + ")", args: "(" + strings.Join(as, ", ") + ")"}
	if sig.Variadic() {
		f.args = strings.TrimSuffix(f.args, ")") + "...)"
	}
	if sig.Results().Len() > 0 {
		f.results, f.ret = " ("+strings.Join(l.types(sig.Results()), ", ")+")", "return "
	}
	return f
}

func (l *lowering) types(t *types.Tuple) []string {
	var r []string
	for v := range t.Variables() {
		r = append(r, l.typ(v.Type()))
	}
	return r
}

// head puts what cannot head a conversion in parentheses.
func head(t string) string {
	u := unmarked(t)
	if strings.HasPrefix(u, "*") || strings.HasPrefix(u, "func") || strings.HasPrefix(u, "<-") || strings.HasPrefix(u, "chan") {
		return "(" + t + ")"
	}
	return t
}

// use returns the name by which lowered text refers to a package. Names of
// imports never clash with the user's: shadowing names are renamed.
func (l *lowering) use(path string) string {
	if l.keys {
		return path
	}
	if n := l.imports[path]; n != "" {
		return n
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" { // math/rand/v2
		rest := strings.TrimSuffix(path, "/"+base)
		base = rest[strings.LastIndexByte(rest, '/')+1:]
	}
	name := mangle(base) + "__"
	for i := 2; l.taken[name]; i++ {
		name = fmt.Sprintf("%s__%d__", mangle(base), i)
	}
	l.imports[path], l.taken[name] = name, true
	return name
}

func mangle(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
