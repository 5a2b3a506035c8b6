package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/lib/llm"
)

// release is this program, as version --json writes it.
type release struct {
	Version  string         `json:"version"`
	Revision string         `json:"revision,omitempty"` // of the sources; ends in -dirty when they had changed
	Go       string         `json:"go"`
	Platform string         `json:"platform"`
	Engine   llm.EngineInfo `json:"engine"`
	Cells    []string       `json:"cells"` // the engines that run cells, the one that runs them here first
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say what this program is made of",
		Long: `Prints the version, the Go and the llama.cpp in the program, and for which
processor llama.cpp was compiled: "native" for the one it was built on, with the
instruction sets that it uses, or "baseline" for every processor of the kind,
which is about ten times slower. "cells" are the engines that
run Go.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cells, err := cellEngines()
			if err != nil {
				return err
			}
			r := release{Version: version(), Revision: revision(), Go: runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH, Engine: llm.Engine(), Cells: cells}
			w := cmd.OutOrStdout()
			if asJSON {
				e := json.NewEncoder(w)
				e.SetIndent("", "  ")
				return e.Encode(r)
			}
			fmt.Fprintf(w, "branchbook  %s\n", strings.TrimSpace(r.Version+" "+r.Revision))
			fmt.Fprintf(w, "go          %s %s\n", r.Go, r.Platform)
			fmt.Fprintf(w, "engine      %s %s\n", r.Engine.Name, r.Engine.Commit)
			fmt.Fprintf(w, "build       %s\n", r.Engine.Build)
			fmt.Fprintf(w, "cpu         %s\n", r.Engine.CPU)
			fmt.Fprintf(w, "threads     %d\n", r.Engine.Threads)
			fmt.Fprintf(w, "cells       %s; or %s, with --engine\n", r.Cells[0], strings.Join(r.Cells[1:], ", "))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// cellEngines are the engines that run cells, first the one that does so where
// no flag names another.
func cellEngines() ([]string, error) {
	first, _, err := kernel.ChooseEngine(os.Getenv(engineVariable))
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(kernel.Engines(), func(name string) bool { return name == first })
	return append([]string{first}, others...), nil
}

// version is the version of the module: a tag, or "devel" when it was built
// from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// revision is the commit of the checkout that the program was built in, or "".
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if len(commit) > 12 {
		commit = commit[:12]
	}
	if settings["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return commit
}
