package cell

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// A cell that gives a name another type, or a type another method, leaves
// functions and types of earlier cells behind that were checked against what
// the name meant before. They are carried: declared once more, in the text of
// this cell, as their own cells wrote them. What no longer checks then, and
// every variable of a type that is gone, is stale: it lives, but its use is an
// error that says which cell to run again.

// changes lists the names that mean something else after the cell than they
// did before, but for what carrying takes care of.
func (k *check) changes(c *Cell) map[string]bool {
	changed := k.receivers()
	for name := range k.ownDeclared {
		e := k.live.names[name]
		if e == nil {
			continue
		}
		var o types.Object
		if c.Pkg != nil {
			o = c.Pkg.Scope().Lookup(name)
		}
		if o == nil || o == e.obj || !replaces(o, e.obj) {
			changed[name] = true
		}
	}
	return changed
}

// receivers lists the types of earlier cells that the cell declares methods
// for.
func (k *check) receivers() map[string]bool {
	names := map[string]bool{}
	for _, p := range k.pieces {
		if p.kind == methodChunk && !k.ownDeclared[p.recv] && k.live.names[p.recv] != nil {
			names[p.recv] = true
		}
	}
	return names
}

// replaces reports whether o may take the place of old for what refers to it.
func replaces(o, old types.Object) bool {
	if kindOf(o) != kindOf(old) {
		return false
	}
	switch o.(type) {
	case *types.Var, *types.Func:
		return types.Identical(o.Type(), old.Type())
	}
	return false
}

// carry returns the pieces of earlier cells to declare again, given what
// changes, without those in failed, to which it adds those that cannot be. It
// adds to changed what the pieces declare.
func (k *check) carry(changed map[string]bool, failed map[*piece]bool) []*piece {
	var list []*piece
	taken := map[*piece]bool{}
	if len(changed) == 0 {
		return nil
	}
	take := func(p *piece) bool {
		if taken[p] || failed[p] {
			return taken[p]
		}
		if !k.importable(p) {
			failed[p] = true
			return false
		}
		taken[p] = true
		list = append(list, p)
		return true
	}
	own := map[string]bool{} // methods of the cell
	for _, p := range k.pieces {
		if p.kind == methodChunk {
			own[p.recv+"."+p.names[0]] = true
		}
	}
	done := map[string]bool{}
	for again := true; again; {
		again = false
		for name, e := range k.live.names {
			if done[name] || e.piece == nil {
				continue
			}
			if k.declared[name] {
				// A type declared anew keeps the methods that other cells
				// gave it.
				if e.piece.kind == typeChunk && changed[name] && k.declaresType(name) {
					done[name] = true
					for _, m := range e.methods {
						if m.n != e.piece.n && !own[name+"."+m.names[0]] {
							take(m)
						}
					}
				}
				continue
			}
			depends := changed[name] || e.piece.refersTo(changed)
			for _, m := range e.methods {
				depends = depends || m.refersTo(changed)
			}
			if !depends {
				continue
			}
			done[name], again = true, true
			if e.stale != "" || !k.live.whole(e.piece) || k.declaresAny(e.piece) || !take(e.piece) {
				continue
			}
			for _, n := range e.piece.names {
				changed[n] = true
			}
			for _, m := range e.methods {
				if !own[name+"."+m.names[0]] {
					take(m)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b *piece) int {
		if a.n != b.n {
			return a.n - b.n
		}
		return a.span.first - b.span.first
	})
	return list
}

func (k *check) declaresType(name string) bool {
	return slices.ContainsFunc(k.pieces, func(p *piece) bool { return p.kind == typeChunk && p.names[0] == name })
}

func (k *check) declaresAny(p *piece) bool {
	return slices.ContainsFunc(p.names, func(name string) bool { return k.declared[name] })
}

// importable reports whether the packages that p uses can have the same names
// in this cell.
func (k *check) importable(p *piece) bool {
	for name, path := range p.imports {
		if k.declared[name] {
			return false
		}
		if i := slices.IndexFunc(k.imps, func(im importSpec) bool { return im.name == name }); i >= 0 && k.imps[i].path != path {
			return false
		}
		if had, ok := k.named[name]; ok && had != path {
			return false
		}
	}
	return true
}

// prepare sets what the text carries, and with it the imports and declared
// names of the file, given what changes and what failed before.
func (k *check) prepare(changed map[string]bool, failed map[*piece]bool) {
	k.imps, k.declared = slices.Clone(k.ownImps), maps.Clone(k.ownDeclared)
	k.changed, k.failed = maps.Clone(changed), failed
	k.carried = k.carry(k.changed, failed)
	for _, p := range k.carried {
		if p.kind != methodChunk {
			for _, name := range p.names {
				k.declared[name] = true
			}
		}
		for name, path := range p.imports {
			if !slices.ContainsFunc(k.imps, func(im importSpec) bool { return im.name == name }) && k.named[name] == "" {
				k.imps = append(k.imps, importSpec{name: name, path: path})
			}
		}
	}
	k.carried = slices.DeleteFunc(k.carried, func(p *piece) bool { return p.kind == methodChunk && !k.declared[p.recv] })
}

// recheck checks the cell with what it makes necessary to declare again,
// until all of that checks or is left out.
func (k *check) recheck(c *Cell) *Cell {
	roots := k.changes(c)
	if len(roots) == 0 {
		return c
	}
	failed := map[*piece]bool{}
	checked := k.carried
	for {
		k.prepare(roots, failed)
		if !slices.Equal(checked, k.carried) {
			c = k.round()
			checked = k.carried
		}
		bad := k.badPieces(c)
		if len(bad) == 0 {
			return c
		}
		for _, p := range bad {
			failed[p] = true
		}
	}
}

// badPieces lists the carried pieces that have errors.
func (k *check) badPieces(c *Cell) []*piece {
	var bad []*piece
	decls := k.declsOf(c)
	for _, err := range k.errs {
		e, ok := err.(types.Error)
		if !ok || k.allowed(c, e) {
			continue
		}
		for i, p := range k.carried {
			if i < len(decls) && within(decls[i], e.Pos) {
				bad = append(bad, p)
			}
		}
	}
	return bad
}

// declsOf returns the declarations of the carried pieces and of the cell's
// own, in this order, one each.
func (k *check) declsOf(c *Cell) []ast.Decl {
	if c.File == nil {
		return nil
	}
	return c.File.Decls[min(len(k.imps), len(c.File.Decls)):]
}
