package worker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	gopath "path"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/modules"
)

// get fetches modules, and says what came; without arguments it lists what the
// notebook has.
func get(ctx context.Context, set *modules.Set, args []string) (*Settings, error) {
	had := set.Listing()
	if len(args) == 0 {
		for _, m := range had.Asked() {
			fmt.Println(m)
		}
		if len(had.Roots) == 0 {
			fmt.Printf("No modules yet. %%get github.com/samber/lo fetches one.\n")
		}
		return nil, nil
	}
	command := modules.Command{
		Run: func(ctx context.Context, cmd *exec.Cmd) error {
			if err := cmd.Start(); err != nil {
				return err
			}
			return wait(ctx, cmd)
		},
		Progress: func(line string) { fmt.Println(line) },
	}
	if dir := os.Getenv(scratchVariable); dir != "" && os.MkdirAll(dir, 0o700) == nil {
		command.Temp = dir // which is taken away if this process is killed
	}
	now, err := command.Get(ctx, had, args)
	if err != nil {
		return nil, err
	}
	set.Use(now)
	for _, m := range now.Asked() {
		if old, ok := had.Modules[m.Path]; !ok || old != m || asked(args, m.Path) {
			fmt.Println(m)
			note(m)
		}
	}
	for _, root := range now.Roots {
		if why := now.Errors[root]; why != "" && asked(args, root) {
			fmt.Printf("  %s: %s\n", root, why)
		}
	}
	for p, old := range had.Modules {
		if m, ok := now.Modules[p]; ok && m.Version != old.Version {
			fmt.Printf("  %s was %s: what cells made with that keeps its types\n", p, old.Version)
		}
	}
	return &Settings{Modules: &now}, nil
}

// asked tells whether one of the arguments is about the module, or the package.
func asked(args []string, of string) bool {
	for _, arg := range args {
		p, _, _ := strings.Cut(arg, "@")
		if p == of || strings.HasPrefix(p, of+"/") {
			return true
		}
	}
	return false
}

// note says what of a module comes with Branchbook.
func note(m modules.Module) {
	var names []string
	for _, p := range modules.Embedded(m.Path) {
		names = append(names, gopath.Base(p))
	}
	if len(names) > 0 {
		fmt.Printf("  of it, %s are in Branchbook, compiled from %s; the others run from their source\n", strings.Join(names, ", "), modules.EmbeddedVersion(m.Path))
	}
}
