package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxFile is how long the file may be: some ten thousand cells, which are
	// read in some ten milliseconds. A longer one is cut to its newer half.
	maxFile = 4 << 20
	// maxInput is how long a cell may be to be kept.
	maxInput = 256 << 10
)

// begin adds a session to the file, and returns its number.
func begin(name string) (session int, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return 0, fmt.Errorf("history: begin a session: %w", err)
	}
	err = locked(name, func(f *os.File) error {
		entries, err := readAll(f)
		if err != nil {
			return err
		}
		for _, e := range entries {
			session = max(session, e.Session)
		}
		session++
		return appendTo(f, []Entry{{Session: session, Began: time.Now().UTC().Format(time.RFC3339)}})
	})
	if err != nil {
		return 0, fmt.Errorf("history: begin a session: %w", err)
	}
	return session, nil
}

// add adds entries to the file.
func add(name string, entries []Entry) error {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return len(e.Input) > maxInput })
	err := locked(name, func(f *os.File) error {
		if err := appendTo(f, entries); err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil || info.Size() <= maxFile {
			return err
		}
		return shorten(f, name)
	})
	if err != nil {
		return fmt.Errorf("history: add: %w", err)
	}
	return nil
}

// read returns what is in the file, by session and line. A file that is not
// there is empty.
func read(name string) ([]Entry, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("history: read: %w", err)
	}
	defer f.Close()
	entries, err := readAll(f)
	if err != nil {
		return nil, fmt.Errorf("history: read: %w", err)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Session - b.Session })
	return entries, nil
}

// locked opens the file and calls do while no other kernel changes it.
func locked(name string, do func(*os.File) error) error {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EOPNOTSUPP) {
			f.Close()
			return os.NewSyscallError("flock", err)
		}
		mine, err := f.Stat()
		there, err2 := os.Stat(name)
		if err == nil && err2 == nil && os.SameFile(mine, there) {
			err = do(f)
			return errors.Join(err, f.Close()) // which unlocks it
		}
		f.Close() // another kernel has put a shorter one in its place
		if err := errors.Join(err, err2); err != nil && !errors.Is(err2, os.ErrNotExist) {
			return err
		}
	}
}

// readAll reads the entries of the file. What is none, a line that was cut off
// or is another program's, is left out.
func readAll(f io.Reader) ([]Entry, error) {
	data, err := io.ReadAll(io.LimitReader(f, 4*maxFile))
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Session > 0 && e.Line >= 0 {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// appendTo adds lines to the file, on a line of their own.
func appendTo(f *os.File, entries []Entry) error {
	var text bytes.Buffer
	last := []byte{'\n'}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' {
		text.WriteByte('\n')
	}
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	_, err := f.Write(text.Bytes())
	return err
}

// shorten puts a file with the newer half of the lines in the place of f.
func shorten(f *os.File, name string) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	entries, err := readAll(f)
	if err != nil {
		return err
	}
	size, from := 0, len(entries)
	for ; from > 0 && size < maxFile/2; from-- {
		size += len(entries[from-1].Input) + 50
	}
	shorter, err := os.CreateTemp(filepath.Dir(name), ".history-*") // mode 0600
	if err != nil {
		return err
	}
	err = errors.Join(appendTo(shorter, entries[from:]), shorter.Close())
	if err == nil {
		err = os.Rename(shorter.Name(), name)
	}
	if err != nil {
		os.Remove(shorter.Name())
	}
	return err
}
