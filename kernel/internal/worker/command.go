package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// Command is a magic that the child carries out: it has the cells' working
// directory, environment and output.
type Command struct {
	Name string `json:"name"` // as in cell.Magics
	Args string `json:"args,omitempty"`
	Body string `json:"body,omitempty"`
	// Reads says that a shell command reads the standard input: "shown" or
	// "unseen", which is how the user types.
	Reads string `json:"reads,omitempty"`
}

// CommandFailed is the kind of failure of a Command, beside engine's.
const CommandFailed = "command"

// command carries out the command of a job.
func command(ctx context.Context, cells Cells, j Job) Done {
	d := Done{N: j.N}
	c := *j.Command
	var err error
	switch c.Name {
	case "!":
		err = shell(ctx, c.input(""), shellName(), "-c", strings.TrimPrefix(c.Args, "*"))
	case "sh", "bash":
		if c.Args != "" {
			err = fmt.Errorf("%%%%%s takes no arguments, not %q", c.Name, c.Args)
			break
		}
		err = shell(ctx, c.input(""), c.Name, "-c", c.Body)
	case "script":
		command := words(c.Args)
		if len(command) == 0 {
			err = errors.New("which command? %%script COMMAND [ARG...]")
			break
		}
		err = shell(ctx, c.input(wholeLines(c.Body)), command...)
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
		d.Settings, err = get(ctx, cells.Modules, words(c.Args))
	case "limit":
		d.Settings, err = limit(cells.Engine, strings.Fields(c.Args))
	case "args":
		d.Settings = args(c.Args)
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

// input is what a shell command reads: the text, or what the user types.
func (c Command) input(text string) io.Reader {
	switch {
	case c.Reads != "":
		return os.Stdin
	case text != "":
		return strings.NewReader(text)
	}
	return nil
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
