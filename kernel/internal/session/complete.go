package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// Complete lists what may stand at the cursor, which counts runes.
func (nb *Notebook) Complete(source string, cursor int) (c cell.Completion) {
	_, scope, _ := nb.current()
	var spot cell.Spot
	inSpot := false
	err := protect(func() {
		if c = scope.Complete(source, cursor); len(c.Matches) == 0 {
			spot, inSpot = cell.SpotAt(source, cursor)
		}
	})
	if err != nil {
		nb.opts.Log.Error("session: complete", "err", err, "source", source)
		return cell.Completion{Start: cursor, End: cursor}
	}
	if inSpot {
		if matches := nb.fill(spot, scope); len(matches) > 0 {
			c.Start, c.Matches = spot.Start, matches
		}
	}
	return c
}

// maxFiles is how many files are listed: more than anybody reads.
const maxFiles = 500

// fill lists what may stand in a string or behind a magic.
func (nb *Notebook) fill(spot cell.Spot, scope *cell.Scope) []cell.Match {
	list := []cell.Match{}
	add := func(kind, detail string, texts ...string) {
		for _, text := range texts {
			if strings.HasPrefix(text, spot.Text) {
				list = append(list, cell.Match{Text: text, Kind: kind, Detail: detail})
			}
		}
	}
	dirs := false
	switch spot.Magic {
	case "":
		if spot.Import {
			if nb.opts.Paths != nil {
				add("module", "package", nb.opts.Paths()...)
			}
			for path := range nb.opts.Modules.Listing().Modules {
				add("module", "module", path)
			}
			slices.SortFunc(list, byText)
			return list
		}
		if nb.opts.Models != nil && strings.HasPrefix(spot.Call, "llm.") {
			add("text", "model", nb.opts.Models()...)
		}
	case "engine":
		add("text", "engine", nb.opts.Engines...)
		return list
	case "env":
		for _, v := range nb.environment() {
			name, value, _ := strings.Cut(v, "=")
			add("text", value, name)
		}
		slices.SortFunc(list, byText)
		return list
	case "rm", "exec":
		for _, n := range scope.Names() {
			if n.Cell > 0 && (spot.Magic == "rm" || n.Kind == "func") {
				add("text", n.Type, n.Name)
			}
		}
		return list
	case "limit":
		add("text", "limit", "goroutines=", "memory=", "steps=")
		return list
	case "cd":
		dirs = true
	case cell.Shell, "sh", "bash", "script", "load", "writefile", "save", "capture":
	default:
		return list
	}
	return append(list, nb.files(spot.Text, dirs)...)
}

func byText(a, b cell.Match) int { return strings.Compare(a.Text, b.Text) }

func (nb *Notebook) environment() []string {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	if nb.opts.Env != nil {
		return nb.opts.Env
	}
	return os.Environ()
}

// files lists the files whose path begins with text, as seen from the cells'
// directory; directories end in a slash.
func (nb *Notebook) files(text string, onlyDirs bool) (list []cell.Match) {
	nb.mu.Lock()
	cellDir := nb.opts.Dir
	nb.mu.Unlock()
	dir, base := "", text
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		dir, base = text[:i+1], text[i+1:]
	}
	at := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		at = filepath.Join(home, rest)
	} else if !filepath.IsAbs(dir) {
		at = filepath.Join(cellDir, dir)
	}
	if at == "" {
		at = "."
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "" || strings.ContainsAny(name, "\"\\\n") || !utf8.ValidString(name) {
			continue
		}
		isDir := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(at, name))
			isDir = err == nil && info.IsDir()
		}
		switch {
		case isDir:
			name += "/"
		case onlyDirs:
			continue
		}
		if list = append(list, cell.Match{Text: dir + name, Kind: "path"}); len(list) >= maxFiles {
			break
		}
	}
	return list
}
