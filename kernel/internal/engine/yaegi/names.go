package yaegi

import (
	"go/types"
	"maps"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
	"weak"
)

// A name is one thing in the interpreter's package main: a variable, a
// function, a type with its methods, or an instance of something generic.
//
// Theory. Every cell makes new types.Objects, and a cell that is run again
// makes new ones for the same thing. In the interpreter the thing is kept
// wherever that is right, so that values and closures of earlier cells stay
// usable and running a cell a thousand times costs the memory of one:
//
//	variable of the same type    the same variable
//	function, same signature     the same name; the earlier definition's node
//	                             gets the new body, so earlier callers call it
//	function or type, same text  nothing is compiled
//	anything else                the old one is renamed f__1 in the
//	                             interpreter's scope, where only values and
//	                             code of earlier cells know it; f is the new
//
// "The same text" is compared after lowering with other names written as
// numbers, so a type whose field type changed is not the same.
type name struct {
	id      int
	base    string // as the user wrote it, or an instance's
	current string // in the interpreter
	kind    kind
	key     string           // the lowered text, or a variable's type
	sig     string           // of functions, the lowered signature
	at      []*origin        // of its declarations' positions
	generic *generic         // its syntax
	of      *name            // of an instance, what it is one of, and
	args    []types.Type     // its type arguments
	nodes   []unsafe.Pointer // of earlier definitions of a function, which callers hold
	objects int              // of the checker's that mean it
}

type kind int

const (
	varName kind = iota
	funcName
	typeName
	genericName // not in the interpreter, only its instances
)

// origin is where the text of a declaration comes from. Positions in it are
// relative, so that they can follow a cell that is run again unchanged.
type origin struct {
	cell int
	file string // of a module
	line int
}

// notebook is what the interpreter holds between cells.
type notebook struct {
	mu        sync.Mutex
	objects   map[any]*name // weak pointers to objects
	names     map[int]*name
	live      map[string]*name
	instances map[string]*name
	serial    int
	used      map[string]int // how often a base was renamed or instantiated
	packages  map[int]bool   // of modules, those whose initialisation is there
	lost      []*name        // that no object of the checker's meant any more
}

func newNotebook() *notebook {
	return &notebook{objects: map[any]*name{}, names: map[int]*name{}, live: map[string]*name{}, instances: map[string]*name{}, used: map[string]int{}, packages: map[int]bool{}}
}

// weakKey is a map key that does not keep o alive.
func weakKey(o types.Object) any {
	switch o := o.(type) {
	case *types.Var:
		return weak.Make(o)
	case *types.Func:
		return weak.Make(o)
	case *types.TypeName:
		return weak.Make(o)
	case *types.Const:
		return weak.Make(o)
	}
	return nil
}

func (nb *notebook) lookup(o types.Object) *name {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	return nb.objects[weakKey(o)]
}

// bind makes n what o means.
func (nb *notebook) bind(o types.Object, n *name) {
	k := weakKey(o)
	nb.mu.Lock()
	if old := nb.objects[k]; old != n {
		nb.objects[k] = n
		n.objects++
		if old != nil {
			old.objects--
		}
	}
	nb.mu.Unlock()
	drop := func(k any) {
		nb.mu.Lock()
		if n := nb.objects[k]; n != nil {
			delete(nb.objects, k)
			if n.objects--; n.objects == 0 {
				nb.lost = append(nb.lost, n)
			}
		}
		nb.mu.Unlock()
	}
	switch o := o.(type) {
	case *types.Var:
		runtime.AddCleanup(o, drop, k)
	case *types.Func:
		runtime.AddCleanup(o, drop, k)
	case *types.TypeName:
		runtime.AddCleanup(o, drop, k)
	}
}

// forget returns the names in the interpreter that no cell can mention any
// more, and drops what is known of them: another thing has their name, and the
// checker has no object for them. Values and code that use them go on.
func (nb *notebook) forget() []string {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	var r []string
	for _, n := range nb.lost {
		if n.objects > 0 || nb.live[n.base] == nil || nb.live[n.base] == n || nb.names[n.id] != n {
			continue
		}
		delete(nb.names, n.id)
		if n.current != nb.live[n.base].current {
			r = append(r, n.current)
		}
	}
	nb.lost = nil
	return r
}

// draft is a change of the notebook that a cell makes if it compiles.
type draft struct {
	*notebook
	serial    int
	assigned  map[types.Object]*name
	fresh     map[int]*name
	instances map[string]*name // new ones
	used      map[string]int
	started   []int // packages
}

func (nb *notebook) draft() *draft {
	return &draft{notebook: nb, serial: nb.serial, assigned: map[types.Object]*name{}, fresh: map[int]*name{}, instances: map[string]*name{}, used: maps.Clone(nb.used)}
}

// liveType is the type that has the name s between cells or in this one.
func (d *draft) liveType(s string) *name {
	for o, n := range d.assigned {
		if n.kind == typeName && o.Name() == s {
			return n
		}
	}
	if n := d.live[s]; n != nil && n.kind == typeName {
		return n
	}
	return nil
}

// add makes a new name.
func (d *draft) add(base string, k kind) *name {
	d.serial++
	n := &name{id: d.serial, base: base, current: base, kind: k}
	if base == "main" {
		n.current = "main__" // yaegi runs main after every compilation
	}
	if types.Universe.Lookup(base) != nil {
		n.current = base + "__u" // inserted text means the predeclared one
	}
	d.fresh[n.id] = n
	return n
}

// numbered returns base with a number that no other name has.
func (d *draft) numbered(base string) string {
	d.used[base]++
	return base + "__" + strconv.Itoa(d.used[base])
}

func (d *draft) of(o types.Object) *name {
	if n := d.assigned[o]; n != nil {
		return n
	}
	return d.lookup(o)
}

func (d *draft) byID(id int) *name {
	if n := d.fresh[id]; n != nil {
		return n
	}
	return d.names[id]
}

// instance returns the instance with the key, if there is one.
func (d *draft) instance(key string) *name {
	if n := d.instances[key]; n != nil {
		return n
	}
	return d.notebook.instances[key]
}

// commit makes the draft the notebook. live are the names that the cell
// declares.
func (d *draft) commit(live map[string]*name) {
	nb := d.notebook
	nb.serial, nb.used = d.serial, d.used
	maps.Copy(nb.names, d.fresh)
	maps.Copy(nb.instances, d.instances)
	for o, n := range d.assigned {
		nb.bind(o, n)
	}
	maps.Copy(nb.live, live)
	for _, id := range d.started {
		nb.packages[id] = true
	}
}
