package modules

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Command runs the go command. Its zero value works.
type Command struct {
	// Run runs a prepared command, and ends it when ctx ends; the default is
	// the command's own Run, after an interrupt.
	Run func(ctx context.Context, cmd *exec.Cmd) error
	// Progress gets what the go command says it downloads, a line at a time,
	// from one goroutine.
	Progress func(line string)
	// Temp is where a directory is made for the go command; by default where
	// the system has such.
	Temp string
}

// tags choose what is plain Go where a package has that beside assembly,
// unsafe or cgo: by convention (purego, golang.org/issue/23172; appengine,
// from a time when that ran nothing else), gonum's (noasm, safe) and spew's
// (disableunsafe).
var tags = []string{"purego", "appengine", "noasm", "safe", "disableunsafe", "nounsafe"}

// Get fetches modules and returns the listing that has them, too. An argument
// is the path of a module or of a package in one, with "@" and a version, a
// branch or "none" if it is not to be the newest. prev is not changed.
func (c Command) Get(ctx context.Context, prev Listing, args []string) (Listing, error) {
	roots := slices.Clone(prev.Roots)
	var wanted []string
	for _, arg := range args {
		path, version, _ := strings.Cut(arg, "@")
		if err := refuseArgument(path, version); err != nil {
			return prev, err
		}
		roots = slices.DeleteFunc(roots, func(r string) bool { return r == path })
		if version != "none" {
			roots = append(roots, path)
		}
		if v := EmbeddedVersion(path); v != "" && version == "" {
			arg = path + "@" + v // what cells have of it is of that version
		}
		wanted = append(wanted, arg)
	}
	dir, err := os.MkdirTemp(c.Temp, "branchbook-get-")
	if err != nil {
		return prev, fmt.Errorf("modules: make the notebook's module: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := c.lay(ctx, dir, prev); err != nil {
		return prev, err
	}
	if _, err := c.run(ctx, dir, append([]string{"get"}, wanted...)...); err != nil {
		return prev, err
	}
	next := newListing()
	next.Roots = roots
	if err := c.list(ctx, dir, &next); err != nil {
		return prev, err
	}
	for name, text := range map[string]*string{"go.mod": &next.GoMod, "go.sum": &next.GoSum} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return prev, fmt.Errorf("modules: read the notebook's %s: %w", name, err)
		}
		*text = string(b)
	}
	return next, nil
}

// lay writes the notebook's module.
func (c Command) lay(ctx context.Context, dir string, l Listing) error {
	if l.GoMod == "" {
		version, err := c.run(ctx, dir, "env", "GOVERSION")
		if err != nil {
			return err
		}
		l.GoMod = "module notebook\n\ngo " + strings.TrimPrefix(strings.TrimSpace(string(version)), "go") + "\n"
	}
	for name, text := range map[string]string{"go.mod": l.GoMod, "go.sum": l.GoSum} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("modules: write the notebook's %s: %w", name, err)
		}
	}
	return nil
}

// listed is what we read of go list's output.
type listed struct {
	ImportPath, Name, Dir string
	Standard              bool
	Module                *listedModule
	Error                 *struct{ Err string }
}

type listedModule struct{ Path, Version, Dir, GoVersion string }

var listFlags = []string{"-e", "-deps", "-tags=" + strings.Join(tags, ","), "-json=ImportPath,Name,Dir,Standard,Module,Error"}

// list fills in the modules of the roots, and has the go command download them
// all. Programs among their packages are left out, and so is what only these
// need.
func (c Command) list(ctx context.Context, dir string, l *Listing) error {
	if len(l.Roots) == 0 {
		return nil
	}
	find := []string{"list", "-e", "-mod=mod", "-find", "-json=ImportPath,Name,Error"}
	for _, root := range l.Roots {
		find = append(find, root+"/...")
	}
	out, err := c.run(ctx, dir, find...)
	if err != nil {
		return err
	}
	var paths []string
	err = each(out, func(p listed) {
		if p.Name != "" && p.Name != "main" {
			paths = append(paths, p.ImportPath)
		}
	})
	if err != nil {
		return err
	}
	if len(paths) > 0 {
		if err := c.add(ctx, dir, l, append([]string{"list", "-mod=mod"}, listFlags...), paths); err != nil {
			return err
		}
	}
	return c.addRoots(ctx, dir, l)
}

// addRoots fills in modules of roots none of whose packages the go command
// would build, so that an import can say why.
func (c Command) addRoots(ctx context.Context, dir string, l *Listing) error {
	known := func(root string) bool { _, _, ok := l.find(root); return ok }
	if !slices.ContainsFunc(l.Roots, func(r string) bool { return !known(r) }) {
		return nil
	}
	out, err := c.run(ctx, dir, "list", "-mod=mod", "-m", "-json=Path,Version,Dir,GoVersion", "all")
	if err != nil {
		return err
	}
	return each(out, func(m listedModule) {
		missing := func(root string) bool { return within(root, m.Path) && !known(root) }
		if m.Dir != "" && m.Version != "" && slices.ContainsFunc(l.Roots, missing) {
			l.Modules[m.Path] = Module{m.Path, m.Version, m.Dir, m.GoVersion}
		}
	})
}

// add fills in what go list, with its flags, says of the packages.
func (c Command) add(ctx context.Context, dir string, l *Listing, flags, paths []string) error {
	out, err := c.run(ctx, dir, slices.Concat(flags, []string{"--"}, paths)...)
	if err != nil {
		return err
	}
	return each(out, func(p listed) {
		if p.Error != nil && !p.Standard {
			l.Errors[p.ImportPath] = shorten(p.Error.Err)
		}
		if m := p.Module; m != nil && p.Dir != "" {
			// m.Dir is empty for what is vendored
			root := filepath.Clean(strings.TrimSuffix(p.Dir, filepath.FromSlash(strings.TrimPrefix(p.ImportPath, m.Path))))
			l.Modules[m.Path] = Module{Path: m.Path, Version: m.Version, Dir: root, Go: m.GoVersion}
		}
	})
}

// each calls f for each object that go list printed.
func each[T any](out []byte, f func(T)) error {
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var x T
		switch err := d.Decode(&x); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("modules: read what go list says: %w", err)
		}
		f(x)
	}
}

// interruptGrace is how long the go command may take to end when interrupted.
const interruptGrace = 2 * time.Second

// run runs the go command in dir and returns its output. The error has its own
// words.
func (c Command) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, errors.New("there is no go command, which fetches modules: install Go (https://go.dev/doc/install), or set PATH with %env so that it is found")
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "CGO_ENABLED=0", "GO111MODULE=on")
	if args[0] != "list" || slices.Contains(args, "-mod=mod") { // the private module is in no workspace
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	var out bytes.Buffer
	said := &lines{each: c.Progress}
	cmd.Stdout, cmd.Stderr = &out, said
	run := c.Run
	if run == nil {
		run = func(_ context.Context, cmd *exec.Cmd) error { return cmd.Run() }
	}
	err = run(ctx, cmd)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, errors.New(cmp.Or(shorten(said.text.String()), fmt.Sprintf("go %s: %v", args[0], err)))
	}
	return out.Bytes(), nil
}
