package session

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

func TestNeeded(t *testing.T) {
	for _, test := range []struct {
		what  string
		cells string // a source each; "rm NAME" is %rm
		want  []int
	}{
		{"a function that is declared again", "func f() {}|func f() {}|func f() {}", []int{3}},
		{"one that others call", "func f() {}|func g() { f() }|func f() {}", []int{1, 2, 3}},
		{"a type and its method", "type T int\nfunc (t T) A() {}|type T int\nfunc (t T) A() {}", []int{2}},
		{"a method that comes later", "type T int|func (t T) A() {}|func (t T) A() {}|func (t T) B() {}", []int{1, 3, 4}},
		{"variables", "var x = 1|x := 2|f()", nil},
		{"a constant among others", "const a, b = 1, 2|const a = 3", []int{1, 2}},
		{"imports: the first and the last", "import \"fmt\"|import \"fmt\"|import \"fmt\"|import m \"math\"", []int{1, 3, 4}},
		{"what was taken away", "func f() {}|rm f|func g() {}", []int{1, 2, 3}},
		{"what was taken away and is there again", "func f() {}|rm f|func f() {}", []int{3}},
	} {
		var decls []worker.Job
		for i, source := range strings.Split(test.cells, "|") {
			job := worker.Job{N: i + 1, Source: source}
			if names, rm := strings.CutPrefix(source, "rm "); rm {
				job = worker.Job{N: i + 1, Command: &worker.Command{Name: "rm", Args: names}}
			}
			decls = append(decls, job)
		}
		var got []int
		for _, job := range needed(decls) {
			got = append(got, job.N)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v are needed, want %v", test.what, got, test.want)
		}
	}
}

// A new worker knows the same whether cells that are not needed are declared
// again or not.
func TestNeededIsEnough(t *testing.T) {
	fragments := []string{
		"type T struct{ A int }", "type T struct{ A, B int }", "func (t T) Get() int { return t.A }", "func (t T) Both() int { return t.Get() + t.B }",
		"func f(n int) int { return n }", "func f(s string) string { return s }", "func g() int { return f(1) }", "func h(t T) int { return t.Get() + g() }",
		"const c = 1", "const c = \"s\"", "const d = c + c", "type U = T", "func k(u U) int { return h(u) + d }", "x := 1", "func m() int { return x }", "var f = 1",
	}
	kept, all := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(7, seed))
		scope, nb := newScope(), newNotebook()
		var decls, few []worker.Job
		for n := range 60 {
			source := fragments[r.IntN(len(fragments))]
			if r.IntN(3) == 0 {
				source += "\n" + fragments[r.IntN(len(fragments))]
			}
			if r.IntN(15) == 0 {
				name := []string{"f", "T", "c"}[r.IntN(3)]
				scope.Forget(name)
				job := worker.Job{N: n + 1, Command: &worker.Command{Name: "rm", Args: name}}
				decls, few = append(decls, job), append(few, job)
				continue
			}
			c, err := scope.Check(n+1, source)
			if err != nil {
				continue
			}
			scope.Commit(c)
			if c.Declares() {
				job := worker.Job{N: n + 1, Source: c.Source}
				decls, few = append(decls, job), nb.fewer(append(few, job), scope.Names())
			}
		}
		know := func(decls []worker.Job) string {
			_, l, err := nb.plan(decls, scope.Names())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, name := range l.names {
				names = append(names, fmt.Sprint(name.Name, " ", name.Kind, " ", name.Type))
			}
			return fmt.Sprint(names, l.values, l.failed)
		}
		kept, all = kept+len(few), all+len(decls)
		if got, want := know(few), know(decls); got != want {
			t.Errorf("seed %d: of\n%v\nare kept\n%v\nwhich knows\n%s\nnot\n%s", seed, decls, few, got, want)
		}
	}
	if kept > all/2 {
		t.Errorf("%d of %d cells are kept", kept, all)
	}
}

func newNotebook() *Notebook {
	return &Notebook{opts: Options{NewScope: func() (*cell.Scope, error) { return newScope(), nil }, Log: slog.New(slog.DiscardHandler)}}
}

// A notebook in which the same cells run for days keeps as much as it did.
func TestANotebookDoesNotGrow(t *testing.T) {
	nb, scope := newNotebook(), newScope()
	const cells = 200_000
	for n := range cells {
		nb.sources.add(n+1, fmt.Sprintf("%d + 1", n))
		nb.remember(fmt.Sprint(n % 1000))
	}
	const declaring = 2000
	for n := range declaring {
		nb.declared(worker.Job{N: n + 1, Source: fmt.Sprintf("func f%d() int { return %d }", n%10, n)}, scope)
	}
	if most := maxTexts / textHead; len(nb.sources.all) > most || nb.sources.all[cells] == "" {
		t.Errorf("%d sources, the last is %q", len(nb.sources.all), nb.sources.all[cells])
	}
	if len(nb.ran) != 1000 || nb.ranGone != 0 {
		t.Errorf("%d cells ran, %d are too long ago", len(nb.ran), nb.ranGone)
	}
	if most := 2*10 + fewDecls; len(nb.decls) > most || nb.decls[len(nb.decls)-1].N != declaring {
		t.Errorf("%d cells declare something, want at most %d", len(nb.decls), most)
	}
	for n := range 200 {
		nb.remember(strings.Repeat(fmt.Sprint(n, " "), 20_000))
	}
	last := nb.ran[len(nb.ran)-1]
	if sum := len(strings.Join(nb.ran, "")); sum > maxTexts || nb.ranGone == 0 || !strings.HasPrefix(last, "199 ") {
		t.Errorf("%d bytes of cells that ran, %d are too long ago, the last is %.10q", sum, nb.ranGone, last)
	}
}
