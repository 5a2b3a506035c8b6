package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// magic carries out a step that is not Go for its own sake. Where that is
// done, cell.Magics says: what asks about names, here; what touches files,
// environment or other programs, in the worker, where cells do.
func (t *turn) magic(step cell.Step) error {
	m, ok := cell.MagicOf(step.Magic)
	if !ok {
		return fmt.Errorf("session: run magic %q: unknown", step.Magic)
	}
	switch m.Runs {
	case cell.InFront:
		return t.front(step)
	case cell.InWorker:
		return t.command(step)
	case cell.AroundGo:
		switch step.Magic {
		case "exec":
			return t.exec(step)
		case "test":
			return t.test(step)
		}
		return t.timeit(step)
	case cell.Refused:
		t.failMagic(step, "MagicError", "%"+m.Name+" is "+m.Help)
	case cell.Ignored:
		t.note("%" + m.Name + " is " + m.Help)
	}
	return nil
}

// failMagic ends the cell at a magic.
func (t *turn) failMagic(step cell.Step, name, value string, more ...string) {
	f := plainFailure(name, value)
	f.traceback = append(f.traceback, place(t.n, step.Line, ""))
	f.traceback = append(f.traceback, excerpt(t.source, step.Line, step.Col)...)
	f.traceback = append(f.traceback, more...)
	t.end(f)
}

// negation is a hint where the shell does not know what is a name of Go's.
func (t *turn) negation(step cell.Step, message string) []string {
	word := step.Args
	if i := strings.IndexAny(word, " .([&|=!"); i >= 0 {
		word = word[:i]
	}
	named := slices.ContainsFunc(t.scope.Names(), func(n cell.Name) bool { return n.Name == word })
	if step.Magic != cell.Shell || !named || !strings.HasSuffix(message, "exit status 127") {
		return nil
	}
	return []string{"hint: a line that begins with ! is a shell command; Go's negation is (!" + word + ")"}
}

func (t *turn) print(text string) { t.send(Output{Type: Stream, Name: "stdout", Text: text}) }

func (t *turn) note(text string) { t.send(Output{Type: Stream, Name: "stderr", Text: text + "\n"}) }

func (t *turn) printWall(d time.Duration) {
	t.print("Wall time: " + fourDigits(d).String() + "\n")
}

// fourDigits rounds a duration to what is worth reading.
func fourDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}

// front carries out a magic that asks about the notebook's names.
func (t *turn) front(step cell.Step) error {
	switch {
	case step.Magic == "help":
		t.print(helpText())
	case step.Magic == "with_inputs":
		t.reads = "shown"
	case step.Magic == "with_password":
		t.reads = "unseen"
	case step.Magic == "rm":
		return t.forget(step)
	case step.Magic == "save":
		return t.save(step)
	case step.Magic == "capture":
		return t.capture(step)
	case step.Magic == "engine":
		return t.chooseEngine(step)
	case step.Magic == "who" || step.Magic == "ls":
		names := t.scope.Names()
		for i := range names {
			names[i].Cell = t.owner(names[i].Cell)
		}
		t.print(whoText(names))
	case step.Args != "" && step.Args != "-f": // IPython's, which does not ask then
		t.failMagic(step, "MagicError", "%reset forgets all names, and takes none")
	default:
		t.process.Close()
		t.mu.Lock()
		t.decls, t.needed, t.ran, t.ranBytes, t.ranGone = nil, 0, nil, 0, 0
		t.mu.Unlock()
		if err := t.start(); err != nil {
			return err
		}
		t.process, t.scope, _ = t.current()
		t.print("All names are forgotten, and a new process runs the cells from here on.\nThe working directory, the modules of %get and what %env, %args and %limit set are kept.\n")
	}
	return nil
}

func helpText() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range cell.Magics {
		fmt.Fprintf(w, "%s\t%s\n", m.Usage(), m.Help)
	}
	w.Flush()
	return b.String()
}

// whoText lists what cells declared.
func whoText(names []cell.Name) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, n := range names {
		switch {
		case n.Kind == "package":
			fmt.Fprintf(w, "%s\tpackage\t%s\n", n.Name, strconv.Quote(n.Type))
		case n.Cell > hiddenBase:
			fmt.Fprintf(w, "%s\t%s\t%s\n", n.Name, n.Kind, n.Type)
		case n.Cell > 0: // what is in cell 0 is ours
			fmt.Fprintf(w, "%s\t%s\t%s\tIn[%d]\n", n.Name, n.Kind, n.Type, n.Cell)
		}
	}
	w.Flush()
	if b.Len() == 0 {
		return "No names are declared yet.\n"
	}
	return b.String()
}

// command has the worker carry out a magic.
func (t *turn) command(step cell.Step) error {
	if rest, ok := strings.CutPrefix(step.Args, "*go "); ok && step.Magic == cell.Shell {
		t.note("!*go " + shorten(rest) + " is ignored: cells are in no module of the go command's; %get fetches modules")
		return nil
	}
	command := &worker.Command{Name: step.Magic, Args: step.Args, Body: step.Body}
	if slices.Contains(shells, step.Magic) {
		command.Reads, t.reads = t.reads, ""
	}
	done, err := t.do(worker.Job{N: t.n, Command: command})
	if err != nil || t.ended {
		return err
	}
	t.settle(done.Settings)
	switch f := done.Failure; {
	case f == nil:
		t.res.NextInput = done.Text
	case f.Kind != worker.CommandFailed:
		t.end(t.runFailure(*f))
	case slices.Contains(shells, step.Magic):
		t.failMagic(step, "ShellError", f.Message, t.negation(step, f.Message)...)
	default:
		t.failMagic(step, "MagicError", f.Message)
	}
	return nil
}

// shells are the magics that run a command of the user's.
var shells = []string{cell.Shell, "sh", "bash", "script"}

func shorten(text string) string {
	if line, _, more := strings.Cut(text, "\n"); more {
		return line + "…"
	}
	return text
}

// timeit runs a step's Go in a loop, which the prelude's cell__timeit times.
func (t *turn) timeit(step cell.Step) error {
	loops, runs, ok := timeitOptions(step.Args)
	if !ok || step.Go == "" {
		t.failMagic(step, "MagicError", "usage: %timeit [-n LOOPS] [-r RUNS] STATEMENT")
		return nil
	}
	n := t.part(t.n)
	once, err := check(t.scope, n, step.Go)
	if err != nil {
		t.refuse(err)
		return nil
	}
	source := once.Loop(fmt.Sprintf("cell__timeit(%d, %d, func(cell__n int) { for range cell__n { ", loops, runs), "\n}})")
	if _, err := check(t.scope, n, source); err != nil {
		t.refuse(err)
		return nil
	}
	done, err := t.do(worker.Job{N: n, Source: source})
	if err != nil || t.ended || done.Failure == nil {
		return err
	}
	for i := range done.Failure.Frames {
		if done.Failure.Frames[i].Cell == n {
			done.Failure.Frames[i].Col = 0 // of the source with the loop
		}
	}
	t.end(t.runFailure(*done.Failure))
	return nil
}

// timeitOptions reads "-n 10 -r3". What is not given is 0 loops, for as many
// as it takes, and 7 runs, as in IPython.
func timeitOptions(args string) (loops, runs int, ok bool) {
	runs = 7
	args = strings.NewReplacer("-n", " -n ", "-r", " -r ", "=", " ").Replace(args)
	fields := strings.Fields(args)
	if len(fields)%2 != 0 {
		return 0, 0, false
	}
	for i := 0; i < len(fields); i += 2 {
		v, err := strconv.Atoi(fields[i+1])
		switch {
		case err != nil || v < 1:
			return 0, 0, false
		case fields[i] == "-n":
			loops = v
		case fields[i] == "-r":
			runs = v
		default:
			return 0, 0, false
		}
	}
	return loops, runs, true
}
