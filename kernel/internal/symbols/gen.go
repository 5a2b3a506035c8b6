//go:build ignore

// gen writes the tables of packages symbols and lab.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

func main() {
	for _, p := range []struct{ name, dir string }{{"symbols", "."}, {"lab", "lab"}} {
		if err := write(p.name, p.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(name, dir string) error {
	files, skipped, err := extract.Files(name, func(string) bool { return true })
	if err != nil {
		return err
	}
	for _, s := range skipped {
		fmt.Fprintln(os.Stderr, "no table for", s)
	}
	old, err := filepath.Glob(filepath.Join(dir, "table*.go"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if files[filepath.Base(file)] == nil {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
