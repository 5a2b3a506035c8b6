package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/notebook"
)

func runCommand() *cobra.Command {
	var job notebookJob
	cmd := &cobra.Command{
		Use:   "run FILE.go|NOTEBOOK.ipynb",
		Short: "Run a notebook or a Go file as the kernel would, without Jupyter",
		Long: `Runs every code cell of a notebook, in order, in the notebook's own directory,
and writes the outputs into the notebook, or with --output into another file.
A cell that fails ends the run, and cells that were not reached keep the outputs
they had. A cell tagged raises-exception may fail, one tagged skip-execution
does not run.

A Go file runs as one cell, in the current directory: a program with main, or
statements as in a notebook. Its output is printed, and the exit status is the
program's: 2 after a panic, and what it gives os.Exit. Packages of other modules
are taken from the module that the file lies in, if there is a go.mod, which
stays as it is; a notebook fetches them with %get.

The file is replaced in one step, so a run that is killed leaves it as it was.
Ctrl-C interrupts the cell that runs and keeps what there is.`,
		Example: `  branchbook run notebooks/first-light.ipynb
  branchbook run --output done.ipynb --allow-errors draft.ipynb
  branchbook run sample.go`,
		Args: oneArg("FILE.go or NOTEBOOK.ipynb"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := interruptible(cmd)
			defer cancel()
			if _, why, _ := kernel.ChooseEngine(job.engine); why != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "branchbook:", why)
			}
			switch ext := filepath.Ext(args[0]); {
			case ext == ".ipynb":
				job.path, job.log = args[0], cmd.ErrOrStderr()
				return job.run(ctx)
			case ext == ".go" && (job.output != "" || job.allowErrors):
				return &usageError{cmd.CommandPath(), errors.New("--output and --allow-errors are for notebooks")}
			case ext == ".go":
				return runGoFile(ctx, args[0], job.engine, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return &usageError{cmd.CommandPath(), fmt.Errorf("%s: the name ends neither in .go nor in .ipynb", args[0])}
		},
	}
	cmd.Flags().StringVarP(&job.output, "output", "o", "", "write the notebook with its outputs to this `file`")
	cmd.Flags().BoolVar(&job.allowErrors, "allow-errors", false, "go on after a cell that fails")
	engineFlag(cmd, &job.engine)
	return cmd
}

// runGoFile runs a file as one cell and prints what it puts out.
func runGoFile(ctx context.Context, path, engine string, stdin io.Reader, stdout, stderr io.Writer) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	runner, err := kernel.NewRunner(kernel.RunnerOptions{Engine: engine, File: path, Stdin: stdin})
	if err != nil {
		return err
	}
	defer runner.Close()
	drawn := map[string]bool{} // displays of which a live line was left out
	result, err := runner.Execute(ctx, string(source), func(o kernel.Output) {
		if o.EName == "Exit" {
			return // its status says it
		}
		if live(o) {
			drawn[o.DisplayID] = true
			return
		}
		if o.Type == kernel.Update && drawn[o.DisplayID] {
			o.Type = kernel.Display
		}
		if o.EName == "Panic" {
			o.Traceback[0] = strings.Replace(o.Traceback[0], o.EName, panicWord(o.EValue), 1)
		}
		printOutput(o, stdout, stderr)
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case strings.HasPrefix(result.EValue, "could not import ") && strings.Contains(result.EValue, "is not in the notebook"):
		io.WriteString(stderr, "A Go file gets packages of modules from the go.mod beside it, or by a first line //gonb:%get MODULE.\n")
		return errReported
	case result.Status != kernel.OK:
		return programError(result.EName, result.EValue)
	}
	return nil
}

// programError ends the command as the program would end.
func programError(name, value string) error {
	status := statusFailed
	switch name {
	case "Panic":
		status = statusPanic
	case "Exit":
		if _, err := fmt.Sscanf(value, "exit status %d", &status); err == nil && status == 0 {
			return nil
		}
	}
	return exitError(status)
}

// panicWord is how Go's last words begin.
func panicWord(message string) string {
	for _, fatal := range []string{"all goroutines are asleep", "stack overflow", "out of memory"} {
		if strings.HasPrefix(message, fatal) {
			return "fatal error"
		}
	}
	return "panic"
}

// live reports whether an output is a line of a progress bar that another one
// will replace.
func live(o kernel.Output) bool {
	mark, _ := o.Metadata["branchbook"].(map[string]any)
	return mark["live"] == true
}

// printOutput shows an output where there is nothing but text.
func printOutput(o kernel.Output, stdout, stderr io.Writer) {
	switch o.Type {
	case kernel.Stream:
		w := stdout
		if o.Name == "stderr" {
			w = stderr
		}
		io.WriteString(w, o.Text)
	case kernel.Display, kernel.ExecuteResult:
		if text, ok := o.Data["text/plain"].(string); ok {
			fmt.Fprintln(stdout, strings.TrimSuffix(text, "\n"))
		}
	case kernel.Error:
		printTraceback(stderr, o.Traceback)
	}
}

// printTraceback prints a cell's error, with its colours on a terminal only.
func printTraceback(w io.Writer, traceback []string) {
	text := strings.Join(traceback, "\n")
	if !isTerminal(w) {
		text = withoutColours(text)
	}
	fmt.Fprintln(w, strings.TrimRight(text, "\n"))
}

// withoutColours drops the ANSI sequences that set colours: ESC [ ... m.
func withoutColours(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 || rest[end] != 'm' {
			b.WriteString("\x1b[")
			text = rest
			continue
		}
		text = rest[end+1:]
	}
}

// notebookJob is a run of a notebook.
type notebookJob struct {
	path, output string
	engine       string
	allowErrors  bool
	log          io.Writer // is told how the run stands
}

func (j notebookJob) run(ctx context.Context) error {
	data, err := os.ReadFile(j.path)
	if err != nil {
		return err
	}
	nb, err := notebook.Decode(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", j.path, err)
	}
	if language := nb.Language(); language != "" && !strings.EqualFold(language, "go") {
		return fmt.Errorf("%s is a notebook for %s; branchbook runs Go", j.path, language)
	}
	if j.output == "" {
		j.output = j.path
	}
	out, err := newReplacement(j.output) // before hours of work, not after
	if err != nil {
		return err
	}
	defer out.discard()

	runner, err := kernel.NewRunner(kernel.RunnerOptions{Engine: j.engine, Dir: filepath.Dir(j.path)})
	if err != nil {
		return err
	}
	defer runner.Close()

	start := time.Now()
	ran, failure := j.execute(ctx, runner, nb)
	if nb.Metadata == nil {
		nb.Metadata = map[string]any{}
	}
	nb.Metadata["language_info"] = runner.LanguageInfo() // which those read who colour Go
	if data, err = nb.Encode(); err != nil {
		return err
	}
	if err := out.commit(data); err != nil {
		return err
	}
	fmt.Fprintf(j.log, "Wrote %s: %d cells in %s on %s\n", j.output, ran, seconds(time.Since(start)), runner.Engine())
	return failure
}

// execute runs the cells of nb and returns how many ran.
func (j notebookJob) execute(ctx context.Context, runner *kernel.Runner, nb *notebook.Notebook) (ran int, err error) {
	total := countRunnable(nb)
	for i := range nb.Cells {
		cell := &nb.Cells[i]
		if !runnable(cell) {
			continue
		}
		start := time.Now()
		record := nb.Record(i)
		result, err := runner.Execute(ctx, cell.Source, func(o kernel.Output) { keep(record, o) })
		if err != nil && ctx.Err() == nil {
			return ran, err
		}
		ran++
		record.Ran(result.Count)
		word := "ok"
		if result.Status != kernel.OK {
			word = result.EName
		}
		fmt.Fprintf(j.log, "cell %d of %d: %s, %s\n", ran, total, word, seconds(time.Since(start)))
		switch {
		case ctx.Err() != nil:
			return ran, fmt.Errorf("%w in cell %d of %d", context.Cause(ctx), ran, total)
		case result.Status == kernel.OK || cell.Tagged("raises-exception"):
		default:
			printTraceback(j.log, result.Traceback)
			if !j.allowErrors {
				return ran, errReported
			}
		}
	}
	return ran, nil
}

func countRunnable(nb *notebook.Notebook) (n int) {
	for i := range nb.Cells {
		if runnable(&nb.Cells[i]) {
			n++
		}
	}
	return n
}

func runnable(c *notebook.Cell) bool {
	return c.Kind == notebook.Code && strings.TrimSpace(c.Source) != "" && !c.Tagged("skip-execution")
}

// keep records an output as a front end would.
func keep(r *notebook.Recorder, o kernel.Output) {
	switch o.Type {
	case kernel.Stream:
		r.Stream(o.Name, o.Text)
	case kernel.Display:
		r.Display(o.Data, o.Metadata, o.DisplayID)
	case kernel.Update:
		r.Update(o.Data, o.Metadata, o.DisplayID)
	case kernel.ExecuteResult:
		r.Result(o.Count, o.Data, o.Metadata)
	case kernel.Error:
		r.Failure(o.EName, o.EValue, o.Traceback)
	case kernel.Clear:
		r.Clear(o.Wait)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
