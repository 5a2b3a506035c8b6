// Command branchbook is a Jupyter kernel for Go with a laboratory for
// language models, and the tools around it: it installs the kernel, runs
// notebooks and Go files without Jupyter, and keeps models.
//
// Its exit status is 0 when all went well, 1 when something failed, 2 when
// it was called wrongly, and 130 when it was interrupted. A Go file that is run
// has its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// The exit statuses.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusPanic       = 2   // a Go program's
	statusInterrupted = 130 // 128 + SIGINT, as a shell reports it
)

// run is the whole command. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return 0
	}
	var usage *usageError
	var exit exitError
	switch {
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(stderr, "branchbook:", err)
		return statusInterrupted
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "branchbook: %v\nSee: %s --help\n", err, usage.command)
		return statusUsage
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "branchbook:", err)
	}
	return statusFailed
}

var (
	// errReported ends the command with a failure that the user has seen.
	errReported = errors.New("failed")
	// errInterrupted ends the command as SIGINT or SIGTERM asked.
	errInterrupted = errors.New("interrupted")
)

// exitError ends the command with this status; the user has seen why.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a command line that cannot be meant.
type usageError struct {
	command string // whose help says more
	cause   error
}

func (e *usageError) Error() string { return e.cause.Error() }
func (e *usageError) Unwrap() error { return e.cause }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "branchbook",
		Short: "A Jupyter kernel for Go with a laboratory for language models",
		Long: `Branchbook is a Jupyter kernel for Go. Every cell has a laboratory for language
models preloaded: open a GGUF model, branch its continuations, draw from its
power distribution, plot what happened.

Make Jupyter offer it:      branchbook install
Run a notebook without it:  branchbook run NOTEBOOK.ipynb`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          onlyCommands,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(installCommand(), uninstallCommand(), kernelCommand(), workerCommand(), runCommand(), modelsCommand(), versionCommand())
	wrapUsage(root)
	return root
}

// onlyCommands is the cobra.PositionalArgs of a command that only holds
// others.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q: did you mean %q?", args[0], near[0])
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// oneArg is the cobra.PositionalArgs of a command that takes one argument,
// called what in its usage line.
func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("found %d arguments, want one: %s", len(args), what)
		}
		return nil
	}
}

// wrapUsage marks what cobra finds wrong with a command line as a usageError,
// in cmd and below.
func wrapUsage(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{cmd.CommandPath(), err}
	})
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{cmd.CommandPath(), err}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		wrapUsage(sub)
	}
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels; a
// second one ends the process as usual. The kernel and its worker do not use
// it: there, an interrupt is meant for a cell.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}
