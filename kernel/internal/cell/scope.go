package cell

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Prelude is what every cell may use without naming it.
type Prelude struct {
	// Imports are package names and their import paths, implied where a cell
	// uses name.X and name is nothing else.
	Imports map[string]string
	// Others are further packages of that name, in the order in which they are
	// tried where a cell uses a member that the first has not.
	Others map[string][]string
}

// Scope holds the names that are alive between the cells of one notebook.
// Its methods may be called from several goroutines; Commit changes what the
// others see.
type Scope struct {
	imp     types.Importer
	prelude Prelude
	sizes   types.Sizes
	fset    *token.FileSet

	// checking is held by one check at a time: an importer may complete, for
	// one, packages that another looks at.
	checking sync.Mutex

	mu   sync.Mutex
	live *state // never changed, only replaced
}

// A state is the scope between two commits.
type state struct {
	names   map[string]*entry
	imports map[string]string // name to path, of import declarations
	dots    []string          // paths of dot imports, in order

	anyStale bool // some entry is stale
}

// An entry is a name that lives.
type entry struct {
	obj  types.Object
	cell int

	piece   *piece   // how it was declared; nil for variables
	methods []*piece // of a type
	dropped []*piece // methods that no longer fit it
	// stale names what the cell that made this relied on and is no more.
	stale string
}

// NewScope returns a scope without names. Imported packages come from imp,
// which is asked by one goroutine at a time.
func NewScope(imp types.Importer, p Prelude) *Scope {
	return &Scope{
		imp:     imp,
		prelude: p,
		sizes:   sizes(),
		fset:    token.NewFileSet(),
		live:    &state{names: map[string]*entry{}, imports: map[string]string{}},
	}
}

func (s *Scope) state() *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Commit makes what c declares and imports alive, in place of what had those
// names before. It is called when c ran.
func (s *Scope) Commit(c *Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &state{names: maps.Clone(s.live.names), imports: maps.Clone(s.live.imports), dots: slices.Clone(s.live.dots)}
	for _, o := range c.Defines {
		e := &entry{obj: o, cell: c.N}
		old := st.names[o.Name()]
		for _, p := range c.dropped {
			if p.recv == o.Name() {
				e.dropped = append(e.dropped, p)
			}
		}
		if old != nil && kindOf(o) == "type" {
			e.dropped = append(e.dropped, old.dropped...)
		}
		for _, p := range c.pieces {
			switch {
			case p.kind == methodChunk && p.recv == o.Name():
				e.methods = append(e.methods, p)
				e.dropped = slices.DeleteFunc(e.dropped, func(d *piece) bool { return d.names[0] == p.names[0] })
			case p.kind != methodChunk && p.kind != varChunk && slices.Contains(p.names, o.Name()):
				e.piece, e.cell = p, p.n
			}
		}
		st.names[o.Name()] = e
		delete(st.imports, o.Name())
	}
	for name, path := range c.named {
		if !c.defines(name) {
			delete(st.names, name)
			st.imports[name] = path
		}
	}
	for _, path := range c.dots {
		if !slices.Contains(st.dots, path) {
			st.dots = append(st.dots, path)
		}
	}
	st.age(c)
	s.live = st
}

// age marks what the cell left behind.
func (st *state) age(c *Cell) {
	for name, e := range st.names {
		if e.stale != "" {
			st.anyStale = true
			continue
		}
		if len(c.changed) == 0 || slices.Contains(c.Defines, e.obj) {
			continue
		}
		cause := c.lost[name]
		if cause == "" {
			cause = mentions(e.obj.Type(), func(t *types.TypeName) bool {
				now := st.names[t.Name()]
				return now == nil || now.obj != t
			})
		}
		if cause != "" {
			old := *e
			old.stale = cause
			st.names[name] = &old
			st.anyStale = true
		}
	}
}

func (c *Cell) defines(name string) bool {
	return slices.ContainsFunc(c.Defines, func(o types.Object) bool { return o.Name() == name })
}

// Forget takes names away, of packages too, as if no cell had declared them.
// It returns those that no cell did.
func (s *Scope) Forget(names ...string) (unknown []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := *s.live
	st.names, st.imports = maps.Clone(st.names), maps.Clone(st.imports)
	for _, name := range names {
		e := st.names[name]
		if e == nil && st.imports[name] == "" || e != nil && e.cell == 0 {
			unknown = append(unknown, name)
			continue
		}
		delete(st.names, name)
		delete(st.imports, name)
	}
	s.live = &st
	return unknown
}

// Name is a name alive in a scope.
type Name struct {
	Name string
	Kind string // "var", "func", "type", "const" or "package"
	Type string // as Go source in the notebook; a package's import path
	Cell int    // the execution count of the cell that declared it; 0 for a package
}

// Names lists the names that live, in alphabetical order.
func (s *Scope) Names() []Name {
	st := s.state()
	list := make([]Name, 0, len(st.names)+len(st.imports))
	for name, e := range st.names {
		list = append(list, Name{Name: name, Kind: kindOf(e.obj), Type: typeText(e.obj), Cell: e.cell})
	}
	for name, path := range st.imports {
		list = append(list, Name{Name: name, Kind: "package", Type: path})
	}
	slices.SortFunc(list, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// kindOf names the kind of an object as Names does.
func kindOf(o types.Object) string {
	switch o.(type) {
	case *types.Var:
		return "var"
	case *types.Func, *types.Builtin:
		return "func"
	case *types.TypeName:
		return "type"
	case *types.Const, *types.Nil:
		return "const"
	case *types.PkgName:
		return "package"
	}
	return ""
}

// Qualify writes packages in types as a notebook's cells do: by their name,
// and not at all for what cells declare.
func Qualify(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// typeText says what an object is: the type of a variable, constant or
// function, what a type stands for.
func typeText(o types.Object) string {
	t := o.Type()
	switch o := o.(type) {
	case nil:
		return ""
	case *types.PkgName:
		return o.Imported().Path()
	case *types.Builtin:
		return "builtin"
	case *types.TypeName:
		if t != nil && !o.IsAlias() {
			t = t.Underlying()
		}
	}
	if t == nil {
		return ""
	}
	return types.TypeString(t, Qualify)
}
