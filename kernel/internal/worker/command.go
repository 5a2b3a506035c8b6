package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/modules"
	"github.com/branchbook/branchbook/kernel/internal/random"
)

// Command is a magic that the child carries out: it has the cells' working
// directory, environment and output.
type Command struct {
	Name string `json:"name"` // as in cell.Magics
	Args string `json:"args,omitempty"`
	Body string `json:"body,omitempty"`
}

// CommandFailed is the kind of failure of a Command, beside engine's.
const CommandFailed = "command"

// Settings are what a Command changed for all later cells.
type Settings struct {
	Dir string   `json:"dir,omitempty"` // the working directory
	Env []string `json:"env,omitempty"` // variables, NAME=VALUE
	// Modules is what cells can import from now on, if that has changed.
	Modules *modules.Listing `json:"modules,omitempty"`
}

// command carries out the command of a job.
func command(ctx context.Context, set *modules.Set, j Job) Done {
	d := Done{N: j.N}
	c := *j.Command
	var err error
	switch c.Name {
	case "!":
		err = shell(ctx, "", shellName(), "-c", strings.TrimPrefix(c.Args, "*"))
	case "sh", "bash":
		if c.Args != "" {
			err = fmt.Errorf("%%%%%s takes no arguments, not %q", c.Name, c.Args)
			break
		}
		err = shell(ctx, "", c.Name, "-c", c.Body)
	case "script":
		command := words(c.Args)
		if len(command) == 0 {
			err = errors.New("which command? %%script COMMAND [ARG...]")
			break
		}
		err = shell(ctx, wholeLines(c.Body), command...)
	case "cd":
		d.Settings, err = changeDir(c.Args)
	case "pwd":
		var dir string
		if dir, err = os.Getwd(); err == nil {
			fmt.Println(dir)
		}
	case "env":
		d.Settings, err = environment(c.Args)
	case "get":
		d.Settings, err = get(ctx, set, words(c.Args))
	case "args":
		os.Args = append(os.Args[:1:1], words(c.Args)...)
	case "seed":
		d.Settings, err = seed(c.Args)
	case "writefile":
		err = writeFile(c.Args, c.Body)
	case "capture":
		_, err = addFile(c.Args, c.Body)
	case "save":
		err = saveFile(c.Args, c.Body)
	case "load":
		var text []byte
		if text, err = os.ReadFile(path(c.Args)); err == nil {
			d.Text = strings.ToValidUTF8(string(text), "\uFFFD")
		}
	default:
		err = fmt.Errorf("unknown command %q", c.Name)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		d.Failure = &Failure{Kind: string(engine.Interrupt)}
	case err != nil:
		d.Failure = &Failure{Kind: CommandFailed, Message: err.Error()}
	}
	return d
}

// shellName is the shell of lines with !: bash, whose language most of those
// who write them mean, where there is one.
func shellName() string {
	if _, err := exec.LookPath("bash"); err == nil {
		return "bash"
	}
	return "sh"
}

// killAfter is how long a command may take to end when it is interrupted.
const killAfter = 400 * time.Millisecond

// shell runs a command with our output. When ctx ends, all that the command has
// started and waits for is interrupted, as by Ctrl-C, and soon killed. What it
// leaves in the background stays in our process group, and ends with it.
func shell(ctx context.Context, input string, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
		cmd.WaitDelay = killAfter // for who reads it in the background
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command[0], err)
	}
	err := wait(ctx, cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return fmt.Errorf("the command was ended by a signal: %v", status.Signal())
		}
		return fmt.Errorf("the command failed: %w", err)
	}
	return err
}

// wait waits for a command that runs. When ctx ends, the command and all that
// it has started are interrupted, and soon killed.
func wait(ctx context.Context, cmd *exec.Cmd) error {
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		family := freeze(cmd.Process.Pid)
		signalAll(family, syscall.SIGINT)
		signalAll(family, syscall.SIGCONT)
		select {
		case <-ended:
		case <-time.After(killAfter):
		}
		signalAll(freeze(family...), syscall.SIGKILL)
	}()
	err := cmd.Wait()
	close(ended)
	<-stopped
	return err
}

// freeze stops the processes given and what they have started, and returns them
// all: none can start another, and leave it behind, while they are listed.
func freeze(pids ...int) []int {
	for stopped := 0; stopped < len(pids); pids = descendants(pids...) {
		signalAll(pids[stopped:], syscall.SIGSTOP)
		stopped = len(pids)
	}
	return pids
}

// descendants lists the processes given and what they have started.
func descendants(pids ...int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (command) state ppid ...; a command may hold parentheses.
		var state string
		var pid, parent int
		fmt.Sscan(string(data), &pid)
		fmt.Sscan(string(data[bytes.LastIndexByte(data, ')')+1:]), &state, &parent)
		children[parent] = append(children[parent], pid)
	}
	list := slices.Clone(pids)
	for i := 0; i < len(list); i++ {
		for _, c := range children[list[i]] {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// signalAll sends a signal to those of the processes that are in our group: the
// number of one that has ended may be another's.
func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		if group, err := syscall.Getpgid(pid); err == nil && group == syscall.Getpgrp() {
			syscall.Kill(pid, sig)
		}
	}
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

// wholeLines ends the last line of a text.
func wholeLines(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// writeFile is %%writefile.
func writeFile(args, body string) error {
	message, err := addFile(args, wholeLines(body))
	if err != nil {
		return err
	}
	fmt.Println(message)
	return nil
}

// saveFile writes a new file; with -f it may be there.
func saveFile(args, body string) error {
	rest, replaces := strings.CutPrefix(args, "-f ")
	name := path(rest)
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replaces {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	err := put(name, flags, body)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already: %%save -f %s replaces it", name, rest)
	}
	if err == nil {
		fmt.Printf("Wrote %s (%d bytes)\n", name, len(body))
	}
	return err
}

func put(name string, flags int, text string) error {
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// addFile writes a file, or adds to it: args are "[-a] FILE".
func addFile(args, body string) (message string, err error) {
	rest, appends := strings.CutPrefix(args, "-a ")
	if rest, ok := strings.CutSuffix(args, " -a"); ok && !appends {
		return "", fmt.Errorf("write it before the file: -a %s", rest)
	}
	name := path(rest)
	if name == "" || name == "-a" {
		return "", errors.New("which file? Its name follows: [-a] FILE")
	}
	flags, verb := os.O_WRONLY|os.O_CREATE|os.O_TRUNC, "Wrote"
	if appends {
		flags, verb = os.O_WRONLY|os.O_CREATE|os.O_APPEND, "Added to"
	}
	if err := put(name, flags, body); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s (%d bytes)", verb, name, len(body)), nil
}

// one takes the quotes off an argument that is the only one.
func one(arg string) string {
	arg = strings.TrimSpace(arg)
	if n := len(arg); n >= 2 && (arg[0] == '"' || arg[0] == '\'') && arg[n-1] == arg[0] {
		return arg[1 : n-1]
	}
	return arg
}

// path is the file that an argument names, in which ~ and $NAME stand for what
// they do in a shell.
func path(arg string) string {
	arg = one(arg)
	if arg == "~" || strings.HasPrefix(arg, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			arg = home + arg[1:]
		}
	}
	return os.ExpandEnv(arg)
}

// words cuts a line at its spaces, but for those in quotes.
func words(line string) []string {
	var list []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if begun {
				list = append(list, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		list = append(list, word.String())
	}
	return list
}
