package exports

import (
	"go/token"
	"go/types"
	"strings"
	"sync"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

func TestEveryPackageDecodes(t *testing.T) {
	for path, name := range Names() {
		p, err := Importer().Import(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Path() != path || p.Name() != name || !p.Complete() {
			t.Errorf("%s: path %q, name %q, complete %v; want name %q, true", path, p.Path(), p.Name(), p.Complete(), name)
		}
	}
}

func TestWhatCellsNeedIsThere(t *testing.T) {
	names := Names()
	for _, path := range []string{
		"fmt", "net/http", "math/rand/v2", "iter", "unique", "encoding/json", "testing/synctest",
		"github.com/branchbook/branchbook/kernel/nb",
		"github.com/branchbook/branchbook/lib/llm",
		"github.com/branchbook/branchbook/lib/plot",
		"github.com/branchbook/branchbook/lib/samplers",
		"github.com/go-echarts/go-echarts/v2/charts",
		"gonum.org/v1/gonum/stat/distuv",
		"gonum.org/v1/plot/plotter",
	} {
		if names[path] == "" {
			t.Errorf("%s is missing", path)
		}
	}
	if n := len(extract.Libraries); n < 50 {
		t.Errorf("only %d libraries", n)
	}
	for _, path := range extract.Libraries {
		if names[path] == "" {
			t.Errorf("%s is missing", path)
		}
	}
	for path := range names {
		if strings.Contains(path, "internal") || strings.Contains(path, "vendor/") {
			t.Errorf("%s is not for users", path)
		}
	}
	if p, err := Importer().Import("unsafe"); err != nil || p != types.Unsafe {
		t.Errorf("unsafe: %v, %v", p, err)
	}
	if _, err := Importer().Import("no/such/package"); err == nil {
		t.Error("no/such/package: no error")
	}
}

func TestPathsThatStandForOthers(t *testing.T) {
	for path, want := range map[string]string{
		"display":                                    "github.com/branchbook/branchbook/kernel/nb/display",
		"github.com/janpfeifer/gonb/gonbui":          "github.com/branchbook/branchbook/kernel/nb/gonbui",
		"github.com/gonum/plot/plotter":              "gonum.org/v1/plot/plotter",
		"github.com/gonum/plot":                      "gonum.org/v1/plot",
		"github.com/gonum/stat/distuv":               "gonum.org/v1/gonum/stat/distuv",
		"github.com/gopherdata/gophernotes":          "github.com/branchbook/branchbook/kernel/nb/display",
		"github.com/branchbook/branchbook/kernel/nb": "github.com/branchbook/branchbook/kernel/nb",
	} {
		p, err := Importer().Import(path)
		if err != nil || p.Path() != want {
			t.Errorf("%s is %v (%v), want %s", path, p, err, want)
		}
		if q, err := Importer().Import(want); err != nil || q != p {
			t.Errorf("%s and %s are two packages", path, want)
		}
	}
}

func TestWhyAPackageIsMissing(t *testing.T) {
	for path, want := range map[string]string{
		"plugin":       "needs cgo",
		"time/tzdata":  "450 KB",
		"runtime/race": "race detector",
		"github.com/janpfeifer/gonb/gonbui/widgets": "nb.Progress",
	} {
		if _, err := Importer().Import(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// fresh returns an importer that has read nothing yet.
func fresh() *importer {
	return &importer{done: map[string]*types.Package{}, all: map[string]*types.Package{}}
}

// TestPackagesShareTheirTypes imports packages that mention one another in
// several orders: a type must be the same object by every way to it.
func TestPackagesShareTheirTypes(t *testing.T) {
	for _, order := range [][]string{
		{"io", "bufio", "net/http", "context"},
		{"net/http", "bufio", "context", "io"},
		{"bufio", "net/http", "io", "context"},
	} {
		m := fresh()
		p := map[string]*types.Package{}
		for _, path := range order {
			var err error
			if p[path], err = m.Import(path); err != nil {
				t.Fatal(err)
			}
		}
		reader := p["io"].Scope().Lookup("Reader").Type()
		param := p["bufio"].Scope().Lookup("NewReader").Type().(*types.Signature).Params().At(0).Type()
		if param != reader {
			t.Errorf("%v: bufio.NewReader takes another %v", order, param)
		}
		ctx := p["context"].Scope().Lookup("Context").Type()
		param = p["net/http"].Scope().Lookup("NewRequestWithContext").Type().(*types.Signature).Params().At(0).Type()
		if param != ctx {
			t.Errorf("%v: http.NewRequestWithContext takes another %v", order, param)
		}
		if n := len(p["io"].Scope().Names()); n < 40 {
			t.Errorf("%v: io has only %d names", order, n)
		}
	}
}

func TestImportsFromSeveralGoroutines(t *testing.T) {
	m := fresh()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for path := range Names() {
				p, err := m.Import(path)
				if err != nil {
					t.Error(err)
					return
				}
				for _, name := range p.Scope().Names() {
					if token.IsExported(name) {
						types.ObjectString(p.Scope().Lookup(name), nil)
					}
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkFirstImport(b *testing.B) {
	for _, path := range []string{"fmt", "net/http", "github.com/branchbook/branchbook/lib/llm"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				if _, err := fresh().Import(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
