package worker

import (
	"fmt"
	"os"
	"path/filepath"
)

const (
	// maxFile is how much of a cell's output goes into a file when the notebook
	// takes no more, and maxFiles how many such files a kernel keeps.
	maxFile  = 128 << 20
	maxFiles = 4
)

// Overflow keeps in files what cells print and notebooks do not show. The files
// lie in the kernel's scratch directory and go with it. The nil Overflow keeps
// nothing.
type Overflow struct {
	dir     string
	n       int // of files so far
	file    *os.File
	kept    int // bytes in file
	dropped int // bytes that are nowhere
}

// NewOverflow returns one whose files lie in dir, which is made when the first
// is needed.
func NewOverflow(dir string) *Overflow { return &Overflow{dir: dir} }

// open begins a new file, and says where the bytes to come are.
func (o *Overflow) open() string {
	if o == nil || o.dir == "" {
		return "not kept"
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return fmt.Sprintf("not kept (%v)", err)
	}
	name := func(n int) string { return filepath.Join(o.dir, fmt.Sprintf("output-%d.txt", n)) }
	o.n++
	os.Remove(name(o.n - maxFiles))
	f, err := os.OpenFile(name(o.n), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Sprintf("not kept (%v)", err)
	}
	o.file = f
	return fmt.Sprintf("in %s, up to %d MB, until the kernel ends", f.Name(), maxFile>>20)
}

func (o *Overflow) add(data []byte) {
	if o == nil {
		return
	}
	room := min(len(data), maxFile-o.kept)
	if o.file == nil {
		room = 0
	}
	if room > 0 {
		n, err := o.file.Write(data[:room])
		o.kept += n
		if err != nil { // a full disk, say: what came so far stays
			o.file.Close()
			o.file, room = nil, n
		}
	}
	o.dropped += len(data) - room
}

// close ends the file, and tells how much is in it and how much is nowhere.
func (o *Overflow) close() (told string) {
	if o == nil {
		return ""
	}
	if o.kept > 0 {
		told = fmt.Sprintf("%d bytes more are in %s", o.kept, filepath.Join(o.dir, fmt.Sprintf("output-%d.txt", o.n)))
	}
	if o.dropped > 0 {
		if told != "" {
			told += ", "
		}
		told += fmt.Sprintf("%d bytes more were not kept", o.dropped)
	}
	if o.file != nil {
		o.file.Close()
	}
	o.file, o.kept, o.dropped = nil, 0, 0
	return told
}
