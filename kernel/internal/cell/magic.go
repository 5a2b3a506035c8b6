package cell

import (
	"slices"
	"strings"
)

// A Magic is a command of the notebook that a cell may hold beside Go.
type Magic struct {
	Name string // without percent signs
	Args string // as its usage shows them
	Help string // one line
	Runs Place
	// Line and Whole say in which forms it exists: %name, on a line of its own,
	// and %%name, which takes the rest of the cell.
	Line, Whole bool
}

// Place says who carries out a magic.
type Place int

const (
	InFront  Place = iota // the front end, which knows the names
	InWorker              // the process that runs cells: its directory, its environment, its output
	AroundGo              // it says how Go runs
	Ignored               // other Go kernels need it
	Refused               // other Go kernels have it
)

// Shell is the name of the magic that a line with ! is.
const Shell = "!"

// Magics are all there are, as %help lists them.
var Magics = []Magic{
	{"help", "", "list these commands", InFront, true, false},
	{"who", "", "list the names that cells declared; also %ls", InFront, true, false},
	{"ls", "", "list the names that cells declared", InFront, true, false},
	{"rm", "NAME...", "forget names", InFront, true, false},
	{"reset", "", "forget all names; the next cell runs in a new process", InFront, true, false},
	{"engine", "[NAME]", "say which engine runs the cells, or go on with another one, in a new process", InFront, true, false},
	{"limit", "[steps=N] [memory=N] [goroutines=N]", "bound what each of the next cells may use, or say what the bounds are", InWorker, true, false},
	{"time", "[STATEMENT]", "time the statement, or the rest of the cell", AroundGo, true, true},
	{"timeit", "[-n LOOPS] [-r RUNS] STATEMENT", "run the statement many times and tell how long it takes", AroundGo, true, true},
	{"exec", "FUNCTION [ARG...]", "set os.Args[1:], and call the function when the cell has run", AroundGo, true, false},
	{"test", "[FLAG...]", "run the tests (and without FLAG the benchmarks) that the cell declares, by package testing; where it has none, all", AroundGo, true, false},
	{"main", "[ARG...]", "run the rest of the cell as the body of main, with a scope of its own; also %%", AroundGo, true, false},
	{"args", "[ARG...]", "set os.Args[1:]", InWorker, true, false},
	{"cd", "[DIR]", "change the working directory", InWorker, true, false},
	{"pwd", "", "print the working directory", InWorker, true, false},
	{"env", "[NAME[=VALUE]]", "print the environment, or print or set one variable", InWorker, true, false},
	{"seed", "N", "seed math/rand and math/rand/v2: what their functions return from here on is the same in every run (samplers take Options.Seed)", InWorker, true, false},
	{"save", "[-f] FILE", "write the cells that ran so far to FILE.go or FILE.ipynb, which branchbook run runs; with -f, replace it", InFront, true, false},
	{"capture", "[-a] FILE", "write what the cell prints to the file too; with -a, add it", InFront, true, false},
	{"load", "FILE", "put the text of the file in the place of the cell", InWorker, true, false},
	{"writefile", "[-a] FILE", "write the rest of the cell to the file; with -a, add it", InWorker, false, true},
	{"bash", "", "run the rest of the cell with bash", InWorker, false, true},
	{"sh", "", "run the rest of the cell with sh", InWorker, false, true},
	{"script", "COMMAND [ARG...]", "give the rest of the cell to the command, as its input", InWorker, false, true},
	{Shell, "COMMAND", "run the command with bash, or sh where there is none; a line that ends in \\ goes on; also $ COMMAND", InWorker, true, false},
	{"get", "[MODULE[@VERSION]...]", "fetch Go modules, whose packages cells can import then; list those that are there", InWorker, true, false},
	{"goflags", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"goworkfix", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"autoget", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"noautoget", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"track", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"untrack", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"go111module", "", "ignored: cells are not built by the go command", Ignored, true, false},
	{"wasm", "", "not to be had: cells are not compiled, so not to WebAssembly", Refused, true, false},
	{"widgets", "", "not to be had: it needs GoNB's script in the page; nb.NewSlider, nb.NewButton and nb.Progress are here", Refused, true, false},
	{"with_inputs", "", "let the shell command that follows read what the user types", InFront, true, false},
	{"with_password", "", "let the shell command that follows read what the user types, unseen", InFront, true, false},
}

// Usage writes the magic as a cell does: "%cd [DIR]".
func (m Magic) Usage() string {
	switch {
	case m.Name == Shell:
		return Shell + m.Args
	case m.Whole && !m.Line:
		return strings.TrimSpace("%%" + m.Name + " " + m.Args)
	}
	return strings.TrimSpace("%" + m.Name + " " + m.Args)
}

// MagicOf returns the magic of that name.
func MagicOf(name string) (m Magic, ok bool) {
	i := slices.IndexFunc(Magics, func(m Magic) bool { return m.Name == name })
	if i < 0 {
		return m, false
	}
	return Magics[i], true
}

// findMagic returns the magic of that name and form, or nil.
func findMagic(name string, whole bool) *Magic {
	i := slices.IndexFunc(Magics, func(m Magic) bool { return m.Name == name && (whole && m.Whole || !whole && m.Line) })
	if i < 0 {
		return nil
	}
	return &Magics[i]
}

// magicHint says what who wrote the name of no magic may have meant.
func magicHint(name string, whole bool) string {
	const all = "%help lists the magics"
	if findMagic(name, !whole) != nil {
		if whole {
			return "it is written %" + name + "; " + all
		}
		return "it is written %%" + name + ", as the first line of a cell; " + all
	}
	var names []string
	for _, m := range Magics {
		if m.Name != Shell {
			names = append(names, m.Name)
		}
	}
	near := closest(name, names)
	if near == "" {
		return all
	}
	sign := "%"
	if findMagic(near, true) != nil && (whole || findMagic(near, false) == nil) {
		sign = "%%"
	}
	return "did you mean " + sign + near + "? " + all
}
