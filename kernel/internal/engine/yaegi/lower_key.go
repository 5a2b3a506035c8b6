package yaegi

import (
	"go/ast"
	"go/types"
)

// Keys of interface types.
//
// yaegi puts its wrapper of an interface value into the map, which no other
// key equals, and cannot index maps whose keys have methods. Every such map has
// keys of any type for it, which the host makes, and gives back when they are
// ranged over:
//
//	var m map[shape]int; m[s]++; for k := range m { f(k) }
//	var m map[interface{}]int; m[host.Key([]interface{}{s})]++
//	for k__1 := range m { k := to__1(k__1); f(k) }

// faceKeys tells maps with keys of an interface type; text is the type that
// yaegi gets for them.
func (l *lowering) faceKeys(t types.Type) (text string, ok bool) {
	m, ok := l.subst(t).Underlying().(*types.Map)
	if !ok || !types.IsInterface(m.Key()) {
		return "", false
	}
	if _, ok := types.Unalias(m.Key()).(*types.TypeParam); ok { // of a generic type
		return "", false
	}
	if l.compiled(m.Key()) && !empty(m.Key()) {
		return "", false
	}
	return "map[interface{}]" + l.typ(m.Elem()), true
}

// key renders a key of such a map.
func (l *lowering) key(e ast.Expr) string {
	t := l.typeOf(e)
	if b, ok := types.Unalias(t).(*types.Basic); ok && b.Kind() != types.UntypedNil {
		return l.text(e)
	}
	return host("Key") + "([]interface{}{" + l.text(e) + "})"
}

// indexed renders an element of a map.
func (l *lowering) indexed(e *ast.IndexExpr) (string, bool) {
	if _, ok := l.faceKeys(l.typeOf(e.X)); !ok || l.src.info.Types[e].IsType() {
		return "", false
	}
	return l.text(e.X) + "[" + l.key(e.Index) + "]", true
}

// rangeKeys renders the range over a map with keys of interface type.
func (l *lowering) rangeKeys(r *ast.RangeStmt, f *frame) (string, bool) {
	m, ok := l.typeOf(r.X).Underlying().(*types.Map)
	if _, faces := l.faceKeys(l.typeOf(r.X)); !ok || !faces || isBlank(r.Key) || empty(m.Key()) {
		return "", false
	}
	k, v, first := l.fresh("k"), "", ""
	anyType := types.NewInterfaceType(nil, nil)
	first = l.text(r.Key) + " " + r.Tok.String() + " " + l.toInterface("to", anyType, m.Key()) + "(" + k + ")"
	if !isBlank(r.Value) {
		v = ", " + l.fresh("v")
		first += "; " + l.text(r.Value) + " " + r.Tok.String() + v[1:]
	}
	return "for " + k + v + " := range " + l.text(r.X) + " " + l.within(f, func() string { return l.loopBody(r.Body, first, "") }), true
}
