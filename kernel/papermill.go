package kernel

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// papermill, which runs notebooks with parameters, knows no Go. A module with
// an entry point teaches it: it is written into an environment as pip would
// write it (Python Packaging User Guide, "Recording installed projects"), so
// that pip lists it and can remove it.
var (
	//go:embed papermill/branchbook_papermill.py
	papermillModule []byte
	//go:embed papermill/entry_points.txt
	papermillEntryPoints []byte
)

const (
	papermillFile    = "branchbook_papermill.py"
	papermillVersion = "1" // as pyproject.toml has it
	papermillInfo    = "branchbook_papermill-" + papermillVersion + ".dist-info"
	papermillInfos   = "branchbook_papermill-*.dist-info" // of every version
)

// InstallPapermill writes the plug-in that lets papermill write parameters in
// Go into every Python of the environment that [Install] chooses for opts, and
// returns the folders that have it now: none where there is no Python. Without
// papermill the plug-in does nothing. One that pip installed is left alone.
func InstallPapermill(opts InstallOptions) (dirs []string, err error) {
	dirs, err = sitePackages(opts)
	if err != nil {
		return nil, fmt.Errorf("kernel: install for papermill: %w", err)
	}
	for _, dir := range dirs {
		if byPip, err := papermillByPip(dir); err != nil || byPip {
			if err != nil {
				return nil, fmt.Errorf("kernel: install for papermill: %w", err)
			}
			continue
		}
		if err := writePapermill(dir); err != nil {
			return nil, fmt.Errorf("kernel: install for papermill: %w", err)
		}
	}
	return dirs, nil
}

// sitePackages returns the folders in which the Pythons of an environment look
// for modules; Debian calls those of /usr/local dist-packages.
func sitePackages(opts InstallOptions) (dirs []string, err error) {
	prefix := os.Getenv("PYTHONUSERBASE")
	if !opts.User {
		prefix, err = environmentPrefix(opts)
	} else if prefix == "" {
		var home string
		home, err = os.UserHomeDir()
		prefix = filepath.Join(home, ".local")
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"site-packages", "dist-packages"} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(prefix), "lib", "python3.*", name))
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, found...)
	}
	return dirs, nil
}

// escapeGlob returns the pattern of filepath.Glob that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// papermillByPip reports whether the plug-in in dir is pip's to change.
func papermillByPip(dir string) (bool, error) {
	infos, err := filepath.Glob(filepath.Join(escapeGlob(dir), papermillInfos))
	if err != nil {
		return false, err
	}
	for _, info := range infos {
		installer, err := os.ReadFile(filepath.Join(info, "INSTALLER"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if strings.TrimSpace(string(installer)) != "branchbook" {
			return true, nil
		}
	}
	return false, nil
}

// writePapermill writes the entry point last: nobody sees one without a module.
func writePapermill(dir string) error {
	if err := removePapermill(dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, papermillFile), papermillModule, 0o644); err != nil {
		return err
	}
	metadata := "Metadata-Version: 2.1\nName: branchbook-papermill\nVersion: " + papermillVersion +
		"\nSummary: Parameters in Go syntax for papermill\nLicense: Apache-2.0\n"
	files := map[string][]byte{
		papermillFile:                       papermillModule,
		papermillInfo + "/METADATA":         []byte(metadata),
		papermillInfo + "/INSTALLER":        []byte("branchbook\n"),
		papermillInfo + "/entry_points.txt": papermillEntryPoints,
	}
	var record []string
	for name, data := range files {
		sum := sha256.Sum256(data)
		record = append(record, fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data)))
	}
	slices.Sort(record)
	files[papermillInfo+"/RECORD"] = []byte(strings.Join(record, "") + papermillInfo + "/RECORD,,\n")
	delete(files, papermillFile)
	temp, err := os.MkdirTemp(dir, ".branchbook-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(temp, filepath.Base(name)), data, 0o644); err != nil {
			return err
		}
	}
	return os.Rename(temp, filepath.Join(dir, papermillInfo))
}

// removePapermill removes a plug-in that writePapermill wrote, of any version.
func removePapermill(dir string) error {
	infos, err := filepath.Glob(filepath.Join(escapeGlob(dir), papermillInfos))
	if err != nil {
		return err
	}
	for _, info := range infos {
		if err := os.RemoveAll(info); err != nil {
			return err
		}
	}
	// What Python compiled of it is in __pycache__.
	compiled, err := filepath.Glob(filepath.Join(escapeGlob(dir), "__pycache__", "branchbook_papermill.*.pyc"))
	if err != nil {
		return err
	}
	for _, file := range append(compiled, filepath.Join(dir, papermillFile)) {
		if err := ignoreNotExist(os.Remove(file)); err != nil {
			return err
		}
	}
	return nil
}
