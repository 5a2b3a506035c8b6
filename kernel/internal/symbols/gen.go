//go:build ignore

// gen writes the tables of package symbols.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	files, skipped, err := extract.Files(".", nil)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		fmt.Fprintln(os.Stderr, "no table for", s)
	}
	old, err := filepath.Glob("table*.go")
	if err != nil {
		return err
	}
	for _, name := range old {
		if files[name] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
