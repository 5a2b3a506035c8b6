package modules

import (
	"maps"
	"slices"
	"strings"
)

// A Listing is what a notebook has of modules. The zero value has none.
type Listing struct {
	Roots   []string          `json:"roots,omitempty"`   // what was asked for: paths of modules or packages
	Modules map[string]Module `json:"modules,omitempty"` // by path: those of Roots and all that they need
	// Errors are the go command's words about packages that it could not find
	// or load, by import path.
	Errors map[string]string `json:"errors,omitempty"`

	GoMod string `json:"go_mod,omitempty"` // of the notebook's own module
	GoSum string `json:"go_sum,omitempty"`
}

func newListing() Listing { return Listing{Modules: map[string]Module{}, Errors: map[string]string{}} }

// A Module is one whose source is on this machine.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"` // empty for the module of a file that is run
	Dir     string `json:"dir"`
	Go      string `json:"go,omitempty"` // its language version, "1.21"; may be empty
}

// String writes the module as people do: "github.com/samber/lo v1.49.1".
func (m Module) String() string { return strings.TrimSpace(m.Path + " " + m.Version) }

// find returns the module that holds the package, the one with the longest
// path, and where in it the package lies, with slashes.
func (l Listing) find(path string) (m Module, rest string, ok bool) {
	for at := path; ; {
		if m, ok := l.Modules[at]; ok {
			return m, strings.TrimPrefix(path[len(at):], "/"), true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return Module{}, "", false
		}
		at = at[:i]
	}
}

// Asked lists the modules of the roots, in alphabetical order.
func (l Listing) Asked() []Module {
	asked := map[string]Module{}
	for _, root := range l.Roots {
		if m, _, ok := l.find(root); ok {
			asked[m.Path] = m
		}
	}
	var list []Module
	for _, path := range slices.Sorted(maps.Keys(asked)) {
		list = append(list, asked[path])
	}
	return list
}
