package enginetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/modules/modulestest"
)

// What the programs over modules print is what compiled Go prints.
func TestModuleScriptsAgreeWithCompiledGo(t *testing.T) {
	modulestest.Proxy(t, modulesArchive(t))
	for _, s := range moduleScripts(t) {
		if !s.Compiled {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			l, err := modules.Command{}.Get(context.Background(), modules.Listing{}, s.get)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for name, text := range map[string]string{"main.go": s.Cells[0].Source, "go.mod": l.GoMod, "go.sum": l.GoSum} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run := exec.Command("go", "run", "-mod=mod", ".")
			run.Dir = dir
			run.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
			var said strings.Builder
			run.Stderr = &said
			out, err := run.Output()
			if err != nil {
				t.Fatalf("go run: %v\n%s", err, said.String())
			}
			var want []string
			for _, line := range s.Cells[0].Want {
				want = append(want, strings.TrimPrefix(line, "> "))
			}
			var got []string
			for line := range strings.Lines(string(out)) {
				got = append(got, strings.TrimRight(line, " \n"))
			}
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("compiled Go prints\n%s\nthe script says\n%s", g, w)
			}
		})
	}
}
