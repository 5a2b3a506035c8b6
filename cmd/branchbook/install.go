package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

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

It also teaches papermill in that environment to write parameters in Go, by a
module with an entry point beside the other Python packages.

A kernel of this program by the same name is replaced; another program's never.`,
		Example: `  branchbook install                       # into the active environment
  branchbook install --user                # for you, in every environment
  branchbook install --prefix /opt/jupyter # into that environment`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Version = version()
			if revision() != "" {
				opts.Version += " " + revision()
			}
			dir, err := kernel.Install(opts)
			if err != nil {
				return installAdvice(cmd, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "Installed", dir)
			dirs, err := kernel.InstallPapermill(opts)
			if err != nil { // the kernel works without
				fmt.Fprintf(cmd.ErrOrStderr(), "branchbook: papermill cannot write parameters in Go: %v\n", err)
			}
			for _, dir := range dirs {
				fmt.Fprintln(cmd.OutOrStdout(), "Installed papermill's plug-in in", dir)
			}
			return nil
		},
	}
	installFlags(cmd, &opts)
	cmd.Flags().StringVar(&opts.DisplayName, "display-name", "", "kernel's `name` in Jupyter's launcher")
	return cmd
}

func uninstallCommand() *cobra.Command {
	var opts kernel.InstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Undo what install did",
		Long: `Removes the kernelspec that "branchbook install" wrote with the same flags, and
papermill's plug-in with the last one. Models stay: see "branchbook models".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			removed, err := kernel.Uninstall(opts)
			for _, path := range removed {
				fmt.Fprintln(cmd.OutOrStdout(), "Removed", path)
			}
			if err != nil {
				return installAdvice(cmd, err)
			}
			return nil
		},
	}
	installFlags(cmd, &opts)
	return cmd
}

// installFlags are the flags that say which kernel, and where.
func installFlags(cmd *cobra.Command, opts *kernel.InstallOptions) {
	cmd.Flags().StringVar(&opts.Name, "name", "branchbook", "kernel's `name`, for Jupyter's --kernel")
	cmd.Flags().BoolVar(&opts.User, "user", false, "for this user, in every environment")
	cmd.Flags().StringVar(&opts.Prefix, "prefix", "", "in the environment in this `directory`")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if opts.User && opts.Prefix != "" {
			return &usageError{cmd.CommandPath(), errors.New("--user and --prefix exclude each other")}
		}
		return nil
	}
}

// installAdvice adds to an error of install or uninstall what to do.
func installAdvice(cmd *cobra.Command, err error) error {
	do := cmd.CommandPath()
	switch {
	case errors.Is(err, kernel.ErrNoEnvironment):
		return fmt.Errorf("%w. Either\n  activate one and run this again, or\n  %s --user          for you, in every environment, or\n  %s --prefix DIR    for the environment in DIR", err, do, do)
	case errors.Is(err, kernel.ErrNoPrefix):
		return fmt.Errorf("%w. Either\n  make it (python3 -m venv DIR), or activate another one, and run this again, or\n  %s --user          for you, in every environment", err, do)
	case errors.Is(err, kernel.ErrForeign):
		return fmt.Errorf("%w\nThis program's has another name: %s --name NAME", err, do)
	case errors.Is(err, kernel.ErrNotInstalled):
		return fmt.Errorf("%w\nWhere there are some: jupyter kernelspec list", err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w\nIt is not yours to write. Either\n  run this as its owner, or\n  %s --user          for you, in every environment", err, do)
	}
	return err
}
