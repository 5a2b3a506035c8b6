package modules

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// A Set is an importer of the embedded packages and of a listing's. What is
// embedded is never taken from a listing. Its methods may be called from
// several goroutines.
type Set struct {
	bodies bool

	mu      sync.Mutex
	listing Listing
	loaded  map[string]*loaded
	byTypes map[*types.Package]*loaded
}

var _ cell.SourceImporter = (*Set)(nil)

// A loaded package, or the reason why it is none.
type loaded struct {
	module Module
	*cell.Package
	imports []*loaded // those that run from their source
	err     error
}

// NewSet returns a set without modules. With bodies, packages are checked
// whole, as an engine needs them; else only what importers see.
func NewSet(bodies bool) *Set {
	return &Set{bodies: bodies, loaded: map[string]*loaded{}, byTypes: map[*types.Package]*loaded{}}
}

// Use makes l the listing. A package whose module is where it was, and so are
// those that it imports, stays the same object; another version of it is
// another package, though its path is the same.
func (s *Set) Use(l Listing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing = l
	keep := map[*loaded]bool{}
	var stays func(p *loaded) bool
	stays = func(p *loaded) bool {
		if ok, seen := keep[p]; seen {
			return ok
		}
		m, _, _ := l.find(p.Path)
		keep[p] = p.err == nil && m == p.module
		for _, q := range p.imports {
			keep[p] = stays(q) && keep[p]
		}
		return keep[p]
	}
	for path, p := range s.loaded {
		if !stays(p) {
			delete(s.loaded, path)
		}
	}
}

// Listing returns what was given to Use.
func (s *Set) Listing() Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing
}

// Import returns the package of the given path.
func (s *Set) Import(path string) (*types.Package, error) {
	if embedded(path) {
		return exports.Importer().Import(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.load(path, nil)
	if p.err != nil {
		return nil, p.err
	}
	return p.Types, nil
}

func embedded(path string) bool { return path == "unsafe" || exports.Has(path) }

// Source implements cell.SourceImporter. It is nil in a set without bodies.
func (s *Set) Source(pkgs []*types.Package) []*cell.Package {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.bodies {
		return nil
	}
	var list []*cell.Package
	done := map[*loaded]bool{}
	var add func(p *loaded)
	add = func(p *loaded) {
		if p == nil || done[p] {
			return
		}
		done[p] = true
		for _, q := range p.imports {
			add(q)
		}
		list = append(list, p.Package)
	}
	for _, p := range pkgs {
		add(s.byTypes[p])
	}
	return list
}

// load returns the package of a module; importers are those that wait for it.
func (s *Set) load(path string, importers []string) *loaded {
	if p := s.loaded[path]; p != nil {
		return p
	}
	p := &loaded{Package: &cell.Package{Path: path, Fset: token.NewFileSet()}}
	m, rest, ok := s.listing.find(path)
	switch {
	case slices.Contains(importers, path):
		p.err = fmt.Errorf("import cycle: %s", cycle(importers, path))
		return p // the one that waits keeps it
	case !ok && s.listing.Errors[path] != "":
		p.err = fmt.Errorf("%s", s.listing.Errors[path])
	case !ok:
		_, p.err = exports.Importer().Import(path)
	default:
		p.module = m
		p.err = s.check(p, filepath.Join(m.Dir, filepath.FromSlash(rest)), append(importers, path))
	}
	s.loaded[path] = p
	if p.err == nil {
		s.byTypes[p.Types] = p
	}
	return p
}

func cycle(importers []string, path string) string {
	text := ""
	for _, at := range importers[slices.Index(importers, path):] {
		text += at + " → "
	}
	return text + path
}
