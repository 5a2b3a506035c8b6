package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// staleUses reports the uses of names that this cell, or one before it, left
// behind.
func (k *check) staleUses(c *Cell) Diagnostics {
	if c.Info == nil || len(k.changed) == 0 && !k.live.anyStale {
		return nil
	}
	var list Diagnostics
	lost := map[string]bool{}
	for p := range k.failed {
		for _, name := range p.names {
			lost[name] = p.kind != methodChunk || lost[name]
		}
	}
	ast.Inspect(c.File, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := c.Info.Uses[id]
		if o == nil {
			return true
		}
		e := k.live.names[o.Name()]
		if e == nil || e.obj != o {
			return true
		}
		cause := e.stale
		if cause == "" {
			cause = mentions(o.Type(), func(t *types.TypeName) bool {
				return k.changed[t.Name()]
			})
		}
		if cause == "" && lost[o.Name()] {
			cause = k.cause(e.piece)
		}
		if cause == "" {
			return true
		}
		if _, ok := k.offset(id.Pos()); !ok {
			return true // in what is carried
		}
		line, col := k.where(k.fset.Position(id.Pos()))
		list = append(list, Diagnostic{
			Line: line, Col: col,
			Msg:  fmt.Sprintf("%s was made by In[%d] with an earlier %s", o.Name(), e.cell, cause),
			Hint: k.staleHint(e, cause),
		})
		return true
	})
	return list
}

// staleHint says how to get what e was once more. Its cell is no help where it
// declares what changed as well: that brings the earlier one back.
func (k *check) staleHint(e *entry, cause string) string {
	both, again := false, "make"
	if e.piece != nil {
		both, again = e.piece.src.declaresName(cause), "declare"
	} else {
		both = mentions(e.obj.Type(), func(t *types.TypeName) bool {
			return t.Name() == cause && k.fset.Position(t.Pos()).Filename == fileName(e.cell)
		}) != ""
	}
	if both {
		return fmt.Sprintf("%s %s again; In[%d] would also bring the earlier %s back", again, e.obj.Name(), e.cell, cause)
	}
	return fmt.Sprintf("run In[%d] again", e.cell)
}

// declaresName reports whether a declaration of the cell, not of a method, has the
// name.
func (s *split) declaresName(name string) bool {
	return slices.ContainsFunc(s.chunks, func(c chunk) bool {
		switch c.kind {
		case typeChunk, constChunk, varChunk:
			return slices.Contains(s.declaredBy(c), name)
		case funcChunk:
			return s.name(c.first+1) == name
		}
		return false
	})
}

// cause returns the name that p refers to and that changed.
func (k *check) cause(p *piece) string {
	cause := ""
	for name := range k.changed {
		if p.refs[name] && (cause == "" || name < cause) {
			cause = name
		}
	}
	return cause
}

// mentions returns the name of a type, declared by a cell, that t is made of
// and that gone says is no more; "" if there is none.
func mentions(t types.Type, gone func(*types.TypeName) bool) string {
	seen := map[types.Type]bool{}
	var walk func(t types.Type) string
	tuple := func(list *types.Tuple) string {
		for v := range list.Variables() {
			if name := walk(v.Type()); name != "" {
				return name
			}
		}
		return ""
	}
	walk = func(t types.Type) string {
		if t == nil || seen[t] {
			return ""
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			return walk(types.Unalias(t))
		case *types.Pointer:
			return walk(t.Elem())
		case *types.Slice:
			return walk(t.Elem())
		case *types.Array:
			return walk(t.Elem())
		case *types.Chan:
			return walk(t.Elem())
		case *types.Map:
			if name := walk(t.Key()); name != "" {
				return name
			}
			return walk(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				if name := walk(f.Type()); name != "" {
					return name
				}
			}
		case *types.Signature:
			if name := tuple(t.Params()); name != "" {
				return name
			}
			return tuple(t.Results())
		case *types.Interface:
			for m := range t.ExplicitMethods() {
				if name := walk(m.Type()); name != "" {
					return name
				}
			}
			for e := range t.EmbeddedTypes() {
				if name := walk(e); name != "" {
					return name
				}
			}
		case *types.Named:
			for a := range t.TypeArgs().Types() {
				if name := walk(a); name != "" {
					return name
				}
			}
			o := t.Obj()
			if o.Pkg() == nil || o.Pkg().Path() != "main" {
				return ""
			}
			if o.Parent() == o.Pkg().Scope() && gone(o) {
				return o.Name()
			}
			return walk(t.Underlying())
		}
		return ""
	}
	return walk(t)
}
