package cell

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A matcher collects the names that begin with a word. Names collected first
// hide later ones.
type matcher struct {
	*check
	word  string
	seen  map[string]bool
	exact []Match
	loose []Match // differ from word in case

	objects map[string]types.Object // what the names mean, but for packages not yet imported
}

func (m *matcher) add(name, kind, detail string) {
	if m.seen[name] || name == "_" || name == cursorName || strings.HasPrefix(name, "cell__") {
		return
	}
	m.seen[name] = true
	switch {
	case strings.HasPrefix(name, m.word):
		m.exact = append(m.exact, Match{name, kind, detail})
	case len(name) >= len(m.word) && strings.EqualFold(name[:len(m.word)], m.word):
		m.loose = append(m.loose, Match{name, kind, detail})
	}
}

func (m *matcher) object(o types.Object) {
	if !m.seen[o.Name()] {
		m.objects[o.Name()] = o
	}
	m.add(o.Name(), clientKind(o), typeText(o))
}

// clientKind is the Match.Kind of an object.
func clientKind(o types.Object) string {
	switch o := o.(type) {
	case *types.Var:
		if o.IsField() {
			return "property"
		}
		return "instance"
	case *types.Func, *types.Builtin:
		return "function"
	case *types.TypeName:
		return "class"
	case *types.PkgName:
		return "module"
	}
	return "instance"
}

// best returns the matches in alphabetical order; those of another case only
// if there are no others.
func (m *matcher) best() []Match {
	list := m.exact
	if len(list) == 0 {
		list = m.loose
	}
	if list == nil {
		return []Match{}
	}
	slices.SortFunc(list, func(a, b Match) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text)), strings.Compare(a.Text, b.Text))
	})
	return list
}

// members adds what may follow the period before the cursor.
func (m *matcher) members(path []ast.Node) {
	if len(path) < 2 {
		return
	}
	sel, ok := path[1].(*ast.SelectorExpr)
	if !ok {
		return
	}
	info := m.cell.Info
	if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
		if p, ok := info.Uses[id].(*types.PkgName); ok {
			scope := p.Imported().Scope()
			for _, name := range scope.Names() {
				if token.IsExported(name) {
					m.object(scope.Lookup(name))
				}
			}
			return
		}
	}
	tv, ok := info.Types[sel.X]
	if !ok || tv.Type == nil || tv.Type == types.Typ[types.Invalid] {
		return
	}
	for _, o := range membersOf(tv.Type, tv.IsType(), m.cell.Pkg) {
		m.object(o)
	}
}

// membersOf lists the fields and methods that a selector in pkg may choose
// from t; of a type, methods only.
func membersOf(t types.Type, isType bool, pkg *types.Package) []types.Object {
	var list []types.Object
	seen := map[string]bool{}
	add := func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		o, _, _ := types.LookupFieldOrMethod(t, true, pkg, name)
		if v, ok := o.(*types.Var); o == nil || ok && isType && v.IsField() {
			return
		}
		list = append(list, o)
	}
	visited := map[types.Type]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		if visited[t] {
			return
		}
		visited[t] = true
		recv := t
		if !types.IsInterface(t) {
			recv = types.NewPointer(t)
		}
		for sel := range types.NewMethodSet(recv).Methods() {
			add(sel.Obj().Name())
		}
		if st, ok := t.Underlying().(*types.Struct); ok {
			for f := range st.Fields() {
				add(f.Name())
				if f.Embedded() {
					walk(f.Type())
				}
			}
		}
	}
	walk(t)
	return list
}

// fieldKeys adds the fields of a struct literal whose key the cursor is at.
func (m *matcher) fieldKeys(path []ast.Node) {
	if len(path) < 3 {
		return
	}
	lit, ok := path[1].(*ast.CompositeLit)
	if kv, isKey := path[1].(*ast.KeyValueExpr); isKey && kv.Key == path[0] {
		lit, ok = path[2].(*ast.CompositeLit)
	}
	if !ok || lit.Type == path[0] {
		return
	}
	if st := structOf(m.cell.Info.Types[lit].Type); st != nil {
		for f := range st.Fields() {
			if f.Exported() || f.Pkg().Path() == "main" {
				m.object(f)
			}
		}
	}
}

// locals adds the names of the functions and blocks around pos.
func (m *matcher) locals(pos token.Pos) {
	pkg := m.cell.Pkg.Scope()
	for s := pkg.Innermost(pos); s != nil && s != pkg; s = s.Parent() {
		for _, name := range s.Names() {
			if o := s.Lookup(name); o.Pos() < pos {
				m.object(o)
			}
		}
	}
}

// packageNames adds the names that cells declare and the packages they may use.
func (m *matcher) packageNames() {
	if m.cell != nil && m.cell.Pkg != nil {
		scope := m.cell.Pkg.Scope()
		for _, name := range scope.Names() {
			m.object(scope.Lookup(name))
		}
	}
	for _, e := range m.live.names {
		m.object(e.obj)
	}
	for name, path := range m.live.imports {
		m.add(name, "module", path)
	}
	for name, path := range m.prelude.Imports {
		m.add(name, "module", path)
	}
}

// universe adds what Go predeclares, and its keywords.
func (m *matcher) universe() {
	for _, name := range types.Universe.Names() {
		m.object(types.Universe.Lookup(name))
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		m.add(t.String(), "keyword", "")
	}
}
