package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/branchbook/branchbook/kernel"
)

func installCommand() *cobra.Command {
	var opts kernel.InstallOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Make Jupyter offer this kernel",
		Long: `Writes a kernelspec that starts this very file, so that Jupyter offers the
kernel. It goes into the Python environment that is active, or that the jupyter
command in PATH belongs to: there it is found even where home directories are
shared or hidden.

A kernel of this program by the same name is replaced; another program's never.`,
		Example: `  branchbook install                       # into the active environment
  branchbook install --user                # for you, in every environment
  branchbook install --prefix /opt/jupyter # into that environment`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.User && opts.Prefix != "" {
				return &usageError{cmd.CommandPath(), errors.New("--user and --prefix exclude each other")}
			}
			opts.Version = version()
			if revision() != "" {
				opts.Version += " " + revision()
			}
			dir, err := kernel.Install(opts)
			switch {
			case errors.Is(err, kernel.ErrNoEnvironment):
				return fmt.Errorf("%w. Either\n  activate one and run this again, or\n  branchbook install --user          for you, in every environment, or\n  branchbook install --prefix DIR    into the environment in DIR", err)
			case errors.Is(err, kernel.ErrForeign):
				return fmt.Errorf("%w\nInstall this one under another name: branchbook install --name NAME", err)
			case err != nil:
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "Installed", dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&opts.Name, "name", "branchbook", "kernel's `name`, for Jupyter's --kernel")
	cmd.Flags().BoolVar(&opts.User, "user", false, "install for this user, in every environment")
	cmd.Flags().StringVar(&opts.Prefix, "prefix", "", "install into the environment in this `directory`")
	return cmd
}
