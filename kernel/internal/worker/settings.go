package worker

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/random"
)

// Settings are what a Command changed for all later cells.
type Settings struct {
	Dir string   `json:"dir,omitempty"` // the working directory
	Env []string `json:"env,omitempty"` // variables, NAME=VALUE
	// Modules is what cells can import from now on, if that has changed.
	Modules *modules.Listing `json:"modules,omitempty"`
	Limits  *Limits          `json:"limits,omitempty"`
	Args    *[]string        `json:"args,omitempty"` // of os.Args, behind the first
}

// Limits bound what a cell may use.
type Limits = engine.Limits

// restore gives a new child what a Command set in the one before it, but for
// what it was started with. Where its engine bounds nothing, neither does it.
func (s *Settings) restore(cells Cells) {
	if s == nil {
		return
	}
	if s.Modules != nil {
		cells.Modules.Use(*s.Modules)
	}
	if limiter, ok := cells.Engine.(engine.Limiter); ok && s.Limits != nil {
		limiter.Limit(*s.Limits)
	}
	if s.Args != nil {
		os.Args = append(os.Args[:1:1], *s.Args...)
	}
}

func args(line string) *Settings {
	list := words(line)
	os.Args = append(os.Args[:1:1], list...)
	return &Settings{Args: &list}
}

func changeDir(arg string) (*Settings, error) {
	dir := path(arg)
	if dir == "" {
		dir = path("~")
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	at, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	tellDir(at)
	fmt.Println(at)
	return &Settings{Dir: at}, nil
}

// tellDir sets the variables that name the working directory: PWD, which
// os/exec and shells ask, and those of GoNB, whose commands with !* run beside
// the program that it makes of a cell. Here that is the same directory.
func tellDir(dir string) {
	for _, name := range []string{"PWD", "GONB_DIR", "GONB_TMP_DIR"} {
		os.Setenv(name, dir)
	}
}

// scratchVariable names a directory for files that go with the kernel.
const scratchVariable = "BRANCHBOOK_SCRATCH"

// seedVariable tells a worker that starts in the place of one that died.
const seedVariable = "BRANCHBOOK_SEED"

func seed(arg string) (*Settings, error) {
	n, err := strconv.ParseUint(arg, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no seed: a whole number is, from 0 on", arg)
	}
	random.Seed(n)
	return &Settings{Env: []string{seedVariable + "=" + arg}}, nil
}

// environment is %env: all variables, NAME, NAME=VALUE or NAME VALUE.
func environment(arg string) (*Settings, error) {
	name, value, set := strings.Cut(arg, "=")
	if i := strings.IndexAny(name, " \t"); i >= 0 {
		name, value, set = arg[:i], strings.TrimSpace(arg[i:]), true
		value = strings.TrimSpace(strings.TrimPrefix(value, "="))
	}
	switch {
	case arg == "":
		all := os.Environ()
		slices.Sort(all)
		for _, v := range all {
			fmt.Println(v)
		}
		return nil, nil
	case !set:
		v, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("%s is not in the environment", name)
		}
		fmt.Println(v)
		return nil, nil
	}
	value = one(value)
	if err := os.Setenv(name, value); err != nil {
		return nil, fmt.Errorf("set %q: %w", name, err)
	}
	fmt.Printf("%s=%s\n", name, value)
	return &Settings{Env: []string{name + "=" + value}}, nil
}
