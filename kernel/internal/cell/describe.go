package cell

import (
	"go/types"
	"slices"
	"strings"
)

// Description says what a name means.
type Description struct {
	Match
	// Path and Symbol say where a package documents it: Symbol is "" for the
	// package itself, "Println", "Reader.Read" for a method, a field or an
	// interface's method. Path is "main" for what cells declare, "builtin" for
	// what Go does, and empty where nobody documents it.
	Path, Symbol string
	// Doc and Source are the comment above a declaration in a cell and the
	// declaration itself, with its methods where it is a type.
	Doc, Source string
	Cell        int // the execution count of the cell that declares it; 0 for none
	// Fields and Methods are the fields, of types of packages, and the methods of a type,
	// as Go writes them.
	Fields, Methods []string
	// Value is set for a variable of a cell that shows itself without running
	// a cell's code.
	Value bool
}

// Describe says what the name means that ends at the cursor, which counts
// runes.
func (s *Scope) Describe(source string, cursor int) (d Description, ok bool) {
	s.checking.Lock()
	defer s.checking.Unlock()
	_, m := s.matchAt(source, cursor)
	if m == nil {
		return d, false
	}
	i := slices.IndexFunc(m.exact, func(x Match) bool { return x.Text == m.word })
	if i < 0 {
		return d, false
	}
	d.Match = m.exact[i]
	o := m.objects[m.word]
	switch o := o.(type) {
	case nil:
		if d.Kind == "module" {
			d.Path = d.Detail
		}
		return d, true
	case *types.PkgName:
		d.Path = o.Imported().Path()
		return d, true
	}
	switch {
	case o.Pkg() == nil && o.Parent() == types.Universe:
		d.Path, d.Symbol = "builtin", o.Name()
	case o.Pkg() != nil:
		d.Path, d.Symbol = o.Pkg().Path(), symbolOf(o)
	}
	if t, ok := o.(*types.TypeName); ok {
		d.describeType(t)
	}
	if d.Path == "main" {
		m.describeCells(&d, o)
	}
	return d, true
}

// describeType adds a type's members, of a package's those that are exported.
func (d *Description) describeType(t *types.TypeName) {
	foreign := t.Pkg() != nil && t.Pkg().Path() != "main"
	if st, ok := t.Type().Underlying().(*types.Struct); ok && foreign {
		d.Detail = "struct"
		for f := range st.Fields() {
			if f.Exported() {
				d.Fields = append(d.Fields, f.Name()+" "+types.TypeString(f.Type(), Qualify))
			}
		}
	}
	if types.IsInterface(t.Type()) {
		return // has its methods in it
	}
	for sel := range types.NewMethodSet(types.NewPointer(t.Type())).Methods() {
		f, ok := sel.Obj().(*types.Func)
		if !ok || foreign && !f.Exported() {
			continue
		}
		recv := types.TypeString(f.Signature().Recv().Type(), Qualify)
		d.Methods = append(d.Methods, "func ("+recv+") "+f.Name()+strings.TrimPrefix(types.TypeString(f.Signature(), Qualify), "func"))
	}
}

// symbolOf names what a package declares as its documentation does.
func symbolOf(o types.Object) string {
	switch o := o.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			return typeName(recv.Type()) + "." + o.Name()
		}
	case *types.Var:
		if o.IsField() {
			scope := o.Pkg().Scope()
			for _, name := range scope.Names() {
				t, ok := scope.Lookup(name).(*types.TypeName)
				if !ok {
					continue
				}
				if st, ok := t.Type().Underlying().(*types.Struct); ok {
					for f := range st.Fields() {
						if f.Origin() == o.Origin() {
							return name + "." + o.Name()
						}
					}
				}
			}
		}
	}
	return o.Name()
}

// typeName is the name of a receiver's type.
func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// describeCells adds what cells say of what they declare.
func (m *matcher) describeCells(d *Description, o types.Object) {
	name, method, _ := strings.Cut(d.Symbol, ".")
	e := m.live.names[name]
	if e == nil {
		return
	}
	d.Cell = e.cell
	if method == "" && e.obj != o {
		return // a local of that name
	}
	if v, ok := o.(*types.Var); ok && !v.IsField() {
		d.Value = plainValue(v.Type(), map[types.Type]bool{})
	}
	var parts []string
	for _, p := range append([]*piece{e.piece}, e.methods...) {
		if p == nil || method != "" && (p.recv == "" || p.names[0] != method) {
			continue
		}
		if len(parts) == 0 {
			d.Doc, d.Cell = p.doc(), p.n
		}
		parts = append(parts, p.source())
	}
	d.Source = strings.Join(parts, "\n\n")
}

// source returns a declaration as it was written.
func (p *piece) source() string {
	text := p.src.src[p.src.toks[p.span.first].off:p.src.toks[p.span.last].end]
	if p.kind == typeChunk {
		text = "type " + text
	}
	return strings.TrimSpace(text)
}

// doc returns the comment that ends in the line above the declaration.
func (p *piece) doc() string {
	s := p.src
	line, _ := s.position(s.toks[p.span.first].off)
	var lines []string
	for _, c := range slices.Backward(s.comments) {
		last, _ := s.position(c.end)
		if last != line-1 {
			continue
		}
		text := s.src[c.off:c.end]
		first, col := s.position(c.off)
		if strings.TrimSpace(s.src[s.lines[first-1]:s.lines[first-1]+col-1]) != "" {
			break // behind other text
		}
		line = first
		if rest, ok := strings.CutPrefix(text, "//"); ok {
			text = strings.TrimPrefix(rest, " ")
		} else {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/"))
		}
		lines = append(lines, strings.TrimRight(text, "\r\n"))
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// plainValue reports whether a value of the type can be shown without running
// methods that cells declare: those may not return.
func plainValue(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "main" && n.NumMethods() > 0 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Slice:
		return plainValue(u.Elem(), seen)
	case *types.Array:
		return plainValue(u.Elem(), seen)
	case *types.Pointer:
		return plainValue(u.Elem(), seen)
	case *types.Map:
		return plainValue(u.Key(), seen) && plainValue(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if !plainValue(f.Type(), seen) {
				return false
			}
		}
		return true
	case *types.Chan, *types.Signature:
		return true
	}
	return false // an interface may hold anything
}
