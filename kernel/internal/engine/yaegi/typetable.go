package yaegi

import (
	"go/types"
	"strings"
	"sync"
)

// typeTable holds Go's types by the names that lowered text has for them:
// "main.T", "[]*main.T".
type typeTable struct {
	mu    sync.RWMutex
	types map[string]types.Type
	names map[declared]string // of cells' types
}

// declared is what a type is an instance of, or the type, and its arguments.
type declared struct {
	name *types.TypeName
	args string
}

func declaration(n *types.Named) declared {
	d := declared{name: n.Origin().Obj()}
	for t := range n.TypeArgs().Types() {
		d.args += goType(t) + ","
	}
	return d
}

// add takes the types that a cell names. The latest of a name counts.
func (t *typeTable) add(named map[string]types.Type) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.types == nil {
		t.types, t.names = map[string]types.Type{}, map[declared]string{}
	}
	for name, typ := range named {
		if n, ok := t.types[name].(*types.Named); ok {
			delete(t.names, declaration(n))
		}
		t.types[name] = typ
		if n, ok := typ.(*types.Named); ok {
			t.names[declaration(n)] = name
		}
	}
}

// get returns the type, or nil.
func (t *typeTable) get(name string) types.Type {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if typ := t.types[name]; typ != nil {
		return typ
	}
	if rest, ok := strings.CutPrefix(name, "*"); ok && t.types[rest] != nil {
		return types.NewPointer(t.types[rest])
	}
	return nil
}

// name is the interpreter's name of typ or what it points to, if that is a
// cell's, else empty.
func (t *typeTable) name(typ types.Type) string {
	star := ""
	if p, ok := types.Unalias(typ).(*types.Pointer); ok {
		star, typ = "*", p.Elem()
	}
	n, ok := types.Unalias(typ).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.names[declaration(n)]; s != "" {
		return star + s
	}
	if s := "main." + n.Obj().Name(); n.Obj().Pkg().Path() == "main" && n.TypeArgs().Len() == 0 && t.types[s] != nil {
		return star + s // of a cell that was run again since
	}
	return ""
}
