package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotInstalled: there is no kernel of this name where [Uninstall] looked.
var ErrNotInstalled = errors.New("no such kernel")

// Uninstall removes the kernel that [Install] wrote for opts and returns what
// it removed. With the last kernel of ours in an environment papermill's
// plug-in goes too. That of another program is left alone, with ErrForeign.
func Uninstall(opts InstallOptions) (removed []string, err error) {
	dir, err := specDir(&opts)
	if err == nil {
		_, err = os.Stat(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("kernel: uninstall: %w: %s", ErrNotInstalled, dir)
	}
	if err == nil {
		err = ours(dir)
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("kernel: uninstall: %w", err)
	}
	removed = []string{dir}
	if more, err := others(filepath.Dir(dir)); err != nil || more {
		return removed, err
	}
	sites, err := sitePackages(opts)
	if err != nil {
		return removed, fmt.Errorf("kernel: uninstall for papermill: %w", err)
	}
	for _, site := range sites {
		byPip, err := papermillByPip(site)
		if err == nil && !byPip {
			if _, missing := os.Stat(filepath.Join(site, papermillFile)); missing != nil {
				continue
			}
			err = removePapermill(site)
			removed = append(removed, filepath.Join(site, papermillFile))
		}
		if err != nil {
			return removed, fmt.Errorf("kernel: uninstall for papermill: %w", err)
		}
	}
	return removed, nil
}

// others reports whether the folder of kernels holds one more of ours.
func others(kernels string) (bool, error) {
	entries, err := os.ReadDir(kernels)
	if err != nil {
		return false, fmt.Errorf("kernel: uninstall: %w", err)
	}
	for _, e := range entries {
		if isOurs(filepath.Join(kernels, e.Name())) {
			return true, nil
		}
	}
	return false, nil
}
