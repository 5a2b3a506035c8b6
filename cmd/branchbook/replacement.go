package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replacement is a file that will take another's place in one step: whoever
// reads the path sees all of the old file or all of the new one.
type replacement struct {
	path string
	temp *os.File
}

// newReplacement makes sure that path can be written, and changes nothing
// there yet. A symbolic link stays; what it names is replaced.
func newReplacement(path string) (*replacement, error) {
	mode := fs.FileMode(0o666)
	switch real, err := filepath.EvalSymlinks(path); {
	case err == nil:
		path = real
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("write %s: not a regular file", path)
		}
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	name := fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid())
	temp, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &replacement{path: path, temp: temp}, nil
}

// commit writes data in the place of path.
func (r *replacement) commit(data []byte) error {
	_, err := r.temp.Write(data)
	// On disk before it gets its name, or a power cut could leave neither.
	err = errors.Join(err, r.temp.Sync(), r.temp.Close())
	if err == nil {
		err = os.Rename(r.temp.Name(), r.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", r.path, err)
	}
	return nil
}

// discard gives up, unless commit was called.
func (r *replacement) discard() {
	r.temp.Close()
	os.Remove(r.temp.Name())
}
