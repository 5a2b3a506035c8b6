package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// A notebook may live for days. What it keeps of each cell that ran is bounded:
// the texts that tracebacks quote and %save writes by their length, what a new
// worker declares by what it is for.
const (
	// maxTexts is how many bytes of sources a notebook keeps, for either use.
	// What is older goes.
	maxTexts = 8 << 20
	// textHead is what a text takes beside its bytes.
	textHead = 100
	// maxDecls is how many cells a new worker declares again. If more are needed
	// the older half goes.
	maxDecls = 2000
	// fewDecls are not looked at.
	fewDecls = 100
)

// texts are the sources of cells, by the numbers under which they ran.
type texts struct {
	all    map[int]string
	owners map[int]int // cells, by the numbers of their steps
	order  []int
	bytes  int
}

// add is called once for a number.
func (t *texts) add(n int, source string) {
	if t.all == nil {
		t.all, t.owners = map[int]string{}, map[int]int{}
	}
	t.all[n] = source
	t.order = append(t.order, n)
	t.bytes += len(source) + textHead
	if t.bytes <= maxTexts || len(t.order) == 1 {
		return
	}
	gone := 0
	for ; gone < len(t.order)-1 && t.bytes > maxTexts/2; gone++ {
		old := t.order[gone]
		t.bytes -= len(t.all[old]) + textHead
		delete(t.all, old)
		delete(t.owners, old)
	}
	t.order = slices.Clone(t.order[gone:])
	t.all, t.owners = maps.Clone(t.all), maps.Clone(t.owners)
}

// needed returns of the cells that declare something those that seem to say what
// names mean now, or what those need, oldest first. It goes by names alone.
func needed(decls []worker.Job) []worker.Job {
	outlines := make([]cell.Outline, len(decls))
	wanted := map[string]bool{} // names that later cells mention; false where a later one declares it
	keep := make([]bool, len(decls))
	imports := map[string]bool{}
	for i := len(decls) - 1; i >= 0; i-- {
		if decls[i].Command != nil {
			continue
		}
		o := cell.OutlineOf(decls[i].Source)
		outlines[i] = o
		for _, name := range o.Names {
			want, known := wanted[name]
			keep[i] = keep[i] || want || !known || wanted[method(name)]
		}
		for _, text := range o.Imports {
			keep[i] = keep[i] || !imports[text]
			imports[text] = true
		}
		if !keep[i] {
			continue
		}
		for _, name := range o.Names {
			wanted[name] = false
			wanted[method(name)] = false
		}
		for _, name := range o.Mentions {
			wanted[name] = true
			wanted["."+name] = true // of whichever type
		}
	}
	// What cells import is there from the first that does on.
	imports = map[string]bool{}
	declared := map[string]bool{}
	var list []worker.Job
	for i, job := range decls {
		if job.Command != nil { // %rm, of what is here
			for name := range strings.FieldsSeq(job.Command.Args) {
				keep[i] = keep[i] || declared[name] || len(imports) > 0
			}
		}
		for _, text := range outlines[i].Imports {
			keep[i] = keep[i] || !imports[text]
			imports[text] = true
		}
		if keep[i] {
			list = append(list, job)
			for _, name := range outlines[i].Names {
				declared[name] = true
			}
		}
	}
	return list
}

// method returns of "Type.Method" what is behind the type, or nothing.
func method(name string) string {
	if i := strings.IndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}

// declared takes note of a job that a new worker is to repeat.
func (nb *Notebook) declared(job worker.Job, scope *cell.Scope) {
	nb.mu.Lock()
	nb.decls = append(nb.decls, job)
	decls, few := nb.decls, len(nb.decls) <= min(2*nb.needed+fewDecls, maxDecls)
	nb.mu.Unlock()
	if few {
		return
	}
	decls = nb.fewer(decls, scope.Names())
	nb.mu.Lock()
	nb.decls, nb.needed = decls, len(decls)
	nb.mu.Unlock()
}

// fewer leaves out what a new worker knows as well without.
func (nb *Notebook) fewer(decls []worker.Job, names []cell.Name) []worker.Job {
	if some := needed(decls); nb.sameKnown(decls, some, names) {
		decls = some
	}
	if n := len(decls); n >= maxDecls {
		decls = slices.Clone(decls[n-maxDecls/2:])
	}
	return decls
}

// sameKnown reports whether a new worker would know the same of fewer cells.
func (nb *Notebook) sameKnown(all, some []worker.Job, names []cell.Name) bool {
	_, a, errA := nb.plan(all, names)
	_, b, errB := nb.plan(some, names)
	return errA == nil && errB == nil && maps.Equal(a.failed, b.failed) &&
		slices.EqualFunc(a.names, b.names, func(x, y cell.Name) bool { return x.Name == y.Name && x.Kind == y.Kind && x.Type == y.Type })
}

// remember keeps the source of a cell that ran, for %save. One that ran before
// with the same source counts where it ran last.
func (nb *Notebook) remember(source string) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	if i := slices.Index(nb.ran, source); i >= 0 {
		nb.ran = append(slices.Delete(nb.ran, i, i+1), source)
		return
	}
	nb.ran = append(nb.ran, source)
	if nb.ranBytes += len(source) + textHead; nb.ranBytes <= maxTexts {
		return
	}
	gone := 0
	for ; gone < len(nb.ran)-1 && nb.ranBytes > maxTexts/2; gone++ {
		nb.ranBytes -= len(nb.ran[gone]) + textHead
	}
	nb.ran, nb.ranGone = slices.Clone(nb.ran[gone:]), nb.ranGone+gone
}
