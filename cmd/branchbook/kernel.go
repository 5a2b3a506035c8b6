package main

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/lib/llm/catalog"
)

func kernelCommand() *cobra.Command {
	var verbose bool
	var engine string
	cmd := &cobra.Command{
		Use:   "kernel CONNECTION_FILE",
		Short: "Serve as the kernel of a notebook: Jupyter starts this",
		Long: `Serves the kernel that a Jupyter connection file describes, until a front end
shuts it down. Jupyter starts this; "branchbook install" tells it how.

What is run is kept in $XDG_STATE_HOME/branchbook/history.jsonl, without that in
~/.local/state, or in the file that $BRANCHBOOK_HISTORY names; "off" keeps none.`,
		Args: oneArg("CONNECTION_FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			level := slog.LevelWarn
			if verbose {
				level = slog.LevelDebug
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
			return kernel.Serve(context.Background(), args[0], kernel.Options{Version: version(), Log: log, Engine: engine, Models: modelNames})
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log every message to standard error")
	engineFlag(cmd, &engine)
	return cmd
}

// modelNames lists what llm.Open knows by name.
func modelNames() (names []string) {
	for _, e := range catalog.List() {
		names = append(names, e.Name)
	}
	return names
}

// workerCommand is what a kernel runs cells in. It is no command of a user's.
func workerCommand() *cobra.Command {
	var engine string
	cmd := &cobra.Command{
		Use:    "worker",
		Short:  "Run the cells of a kernel, which starts this",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return kernel.ServeWorker(engine) },
	}
	engineFlag(cmd, &engine)
	return cmd
}

// engineVariable names the engine where no flag does.
const engineVariable = "BRANCHBOOK_ENGINE"

// engineFlag is the flag of every command that runs cells.
func engineFlag(cmd *cobra.Command, engine *string) {
	all := kernel.Engines()
	cmd.Flags().StringVar(engine, "engine", os.Getenv(engineVariable),
		"run cells on this engine: `"+strings.Join(all, "|")+"`; without it, on that of $"+engineVariable+", or "+all[0])
	cmd.Flags().Lookup("engine").DefValue = "" // which is said above
}
