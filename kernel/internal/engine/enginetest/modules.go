package enginetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/modules/modulestest"
)

// modulesArchive holds tiny modules, and scripts that import them: files named
// scripts/NAME.txt, whose first line says which modules they get. Those named
// scripts/NAME.go are one cell, and a program that compiled Go can run.
func modulesArchive(t testing.TB) *txtar.Archive {
	t.Helper()
	b, err := scripts.ReadFile("testdata/modules.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return txtar.Parse(b)
}

// moduleScript is a script with the modules that it gets.
type moduleScript struct {
	Script
	get []string
}

func moduleScripts(t testing.TB) (list []moduleScript) {
	t.Helper()
	for _, f := range modulesArchive(t).Files {
		name, ok := strings.CutPrefix(f.Name, "scripts/")
		if !ok {
			continue
		}
		first, body, _ := strings.Cut(string(f.Data), "\n")
		s := moduleScript{get: strings.Fields(strings.TrimPrefix(first, "// get "))}
		s.Name, s.Compiled = name, strings.HasSuffix(name, ".go")
		for _, chunk := range strings.Split("\n"+body, "\n---\n") {
			s.Cells = append(s.Cells, parseCell(chunk))
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		t.Fatal("no scripts")
	}
	return list
}

// Modules runs scripts that import third-party modules on the engine that open
// makes. skip names those that it cannot pass, each with the reason.
func Modules(t *testing.T, open func() (engine.Engine, error), skip map[string]string) {
	modulestest.Proxy(t, modulesArchive(t))
	for _, s := range moduleScripts(t) {
		t.Run(s.Name, func(t *testing.T) {
			if why := skip[s.Name]; why != "" {
				t.Skip(why)
			}
			l, err := modules.Command{}.Get(context.Background(), modules.Listing{}, s.get)
			if err != nil {
				t.Fatal(err)
			}
			set := modules.NewSet(true)
			set.Use(l)
			e, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			nb := &Notebook{Engine: e, Scope: cell.NewScope(set, cell.Prelude{})}
			for i, c := range s.Cells {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				got := Report(nb.Run(ctx, c.Source))
				cancel()
				if g, w := strings.Join(got, "\n"), strings.Join(c.Want, "\n"); g != w {
					t.Errorf("In[%d]:\n%s\ngot\n%s\nwant\n%s", i+1, c.Source, g, w)
				}
			}
		})
	}
}
