package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// InstallOptions says where [Install] puts the kernel. Its zero value means
// the Python environment that is active, name "branchbook".
type InstallOptions struct {
	Name        string // of the kernel; default: "branchbook"
	DisplayName string // in Jupyter's launcher; default: "Go (Branchbook)"
	User        bool   // for this user, whatever the environment
	Prefix      string // of an environment: into PREFIX/share/jupyter/kernels

	Executable string // default: this one
	Version    string // of Branchbook
}

// Errors of [Install] that a caller can give advice on.
var (
	// ErrNoEnvironment: no Python environment is active and none holds the
	// jupyter command; User or Prefix says where to.
	ErrNoEnvironment = errors.New("no Python environment is active")
	// ErrForeign: another program's kernel has this name; another Name helps.
	ErrForeign = errors.New("another program's kernel has this name")
	// ErrNoPrefix: the environment's folder does not exist.
	ErrNoPrefix = errors.New("no such environment")
)

// kernelSpec is a kernel.json ("Kernel specs").
type kernelSpec struct {
	Argv            []string     `json:"argv"`
	DisplayName     string       `json:"display_name"`
	Language        string       `json:"language"`
	ProtocolVersion string       `json:"kernel_protocol_version"`
	InterruptMode   string       `json:"interrupt_mode"`
	Metadata        specMetadata `json:"metadata"`
}

type specMetadata struct {
	Debugger bool `json:"debugger"`
	// Branchbook is the version that wrote the file, and marks it as ours.
	Branchbook string `json:"branchbook,omitempty"`
}

// kernelName is what Jupyter accepts as a kernel's name.
var kernelName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Install makes the kernel known to Jupyter and returns the folder that it
// wrote. A kernel of ours with the same name is replaced, in one step; that
// of another program is left alone, with ErrForeign.
func Install(opts InstallOptions) (dir string, err error) {
	if opts.Executable == "" {
		if opts.Executable, err = os.Executable(); err != nil {
			return "", fmt.Errorf("kernel: install: %w", err)
		}
	}
	if opts.Executable, err = filepath.Abs(opts.Executable); err != nil {
		return "", fmt.Errorf("kernel: install: %w", err)
	}
	if dir, err = specDir(&opts); err != nil {
		return "", fmt.Errorf("kernel: install: %w", err)
	}
	if err := ours(dir); err != nil {
		return "", fmt.Errorf("kernel: install: %w", err)
	}
	if err := writeSpec(filepath.Dir(dir), dir, opts); err != nil {
		return "", fmt.Errorf("kernel: install: %w", err)
	}
	return dir, nil
}

// specDir is the folder of the kernel, whose name it completes in opts.
func specDir(opts *InstallOptions) (string, error) {
	if opts.Name == "" {
		opts.Name = "branchbook"
	}
	if !kernelName.MatchString(opts.Name) {
		return "", fmt.Errorf("%q: a kernel's name is made of letters, digits, '.', '_' and '-'", opts.Name)
	}
	kernels, err := kernelsDir(*opts)
	return filepath.Join(kernels, opts.Name), err
}

// kernelsDir finds the folder of kernels ("Kernel specs" lists those that
// Jupyter searches).
func kernelsDir(opts InstallOptions) (string, error) {
	switch {
	case opts.User && opts.Prefix != "":
		return "", errors.New("both a prefix and the user's own folder are asked for")
	case opts.User:
		data, err := userData()
		return filepath.Join(data, "kernels"), err
	}
	prefix, err := environmentPrefix(opts)
	return filepath.Join(prefix, "share", "jupyter", "kernels"), err
}

// environmentPrefix is the folder of the environment that opts means. A folder
// that is not there is a typing error, or an environment that was removed.
func environmentPrefix(opts InstallOptions) (prefix string, err error) {
	if prefix = opts.Prefix; prefix == "" {
		if prefix = environment(); prefix == "" {
			return "", ErrNoEnvironment
		}
	}
	if prefix, err = filepath.Abs(prefix); err != nil {
		return "", err
	}
	if info, err := os.Stat(prefix); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory", ErrNoPrefix, prefix)
	}
	return prefix, nil
}

// environment returns the prefix of the Python environment that is active,
// or of the one whose jupyter command the shell would run: that may be a link
// into an environment (pipx), and where it is no environment's (a shim of
// pyenv's) nobody can tell.
func environment() string {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := os.Getenv(name); prefix != "" {
			return prefix
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		command, err := filepath.EvalSymlinks(filepath.Join(dir, "jupyter"))
		if err != nil {
			continue
		}
		if info, err := os.Stat(command); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if bin := filepath.Dir(command); filepath.Base(bin) == "bin" {
			return filepath.Dir(bin)
		}
		return ""
	}
	return ""
}

// userData is Jupyter's data folder of this user, as jupyter_core finds it.
func userData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" && runtime.GOOS != "darwin" {
		return filepath.Join(dir, "jupyter"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// ours returns nil if dir is free or holds a kernel that Install wrote.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	if !isOurs(dir) {
		return fmt.Errorf("%w: %s", ErrForeign, dir)
	}
	return nil
}

// isOurs reports whether Install wrote the kernel in dir.
func isOurs(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	var spec kernelSpec
	return err == nil && json.Unmarshal(data, &spec) == nil && spec.Metadata.Branchbook != ""
}

// writeSpec writes the kernel's folder beside dir and moves it there.
func writeSpec(kernels, dir string, opts InstallOptions) (err error) {
	if err := os.MkdirAll(kernels, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(kernels, ".branchbook-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	fresh, old := filepath.Join(temp, "new"), filepath.Join(temp, "old")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return err
	}
	files, err := specFiles(opts)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return errors.Join(err, ignoreNotExist(os.Rename(old, dir)))
	}
	return nil
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func specFiles(opts InstallOptions) (map[string][]byte, error) {
	display := opts.DisplayName
	switch {
	case display != "":
	case opts.Name == "branchbook":
		display = "Go (Branchbook)"
	default:
		display = "Go (Branchbook, " + opts.Name + ")"
	}
	version := opts.Version
	if version == "" {
		version = "devel"
	}
	spec, err := json.MarshalIndent(kernelSpec{
		Argv:        []string{opts.Executable, "kernel", "{connection_file}"},
		DisplayName: display, Language: "go",
		ProtocolVersion: wire.Version, InterruptMode: "message",
		Metadata: specMetadata{Branchbook: version},
	}, "", " ")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"kernel.json": append(spec, '\n'), "logo-svg.svg": logoSVG()}
	for _, size := range []int{32, 64} {
		picture, err := logoPNG(size)
		if err != nil {
			return nil, err
		}
		files[fmt.Sprintf("logo-%dx%d.png", size, size)] = picture
	}
	return files, nil
}
