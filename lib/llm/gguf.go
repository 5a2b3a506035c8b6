package llm

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// File is what the header of a GGUF file says, read without loading the
// model, and without llama.cpp.
type File struct {
	Path         string
	Bytes        int64
	Version      int // of the format: 2 or 3
	Name         string
	Architecture string
	Quantisation string // as llama.cpp names it, "Q4_K_M"
	Parameters   int64
	Tensors      int
	Metadata     map[string]string // scalar and string values as text
}

// Inspect reads the header of the GGUF file at path, and checks that the file
// is as long as the header says. Its errors are those of Open for a file that
// is missing, of another kind, cut short or broken.
func Inspect(path string) (*File, error) {
	f, err := inspect(path)
	if err != nil {
		return nil, fmt.Errorf("llm: inspect model %q: %w", path, err)
	}
	return f, nil
}

func inspect(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	st, err := r.Stat()
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, ErrDirectory
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%w: not a regular file", ErrNotGGUF)
	}
	f, err := parseGGUF(r, st.Size())
	if err != nil {
		return nil, err
	}
	f.Path = path
	return f, checkParts(f)
}

// partName is the name of one file of a split model, as llama.cpp writes it.
var partName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

// checkParts says which file of a split model to open, and which is missing.
func checkParts(f *File) error {
	count, _ := strconv.Atoi(f.Metadata["split.count"])
	if count < 2 {
		return nil
	}
	m := partName.FindStringSubmatch(f.Path)
	if m == nil {
		return fmt.Errorf("%w: it is one of %d parts, whose names must end in -00001-of-%05d.gguf", ErrSplit, count, count)
	}
	part := func(n int) string { return fmt.Sprintf("%s-%05d-of-%s.gguf", m[1], n, m[3]) }
	if no, _ := strconv.Atoi(f.Metadata["split.no"]); no != 0 {
		return fmt.Errorf("%w: this is part %d of %d; open the first, %q", ErrSplit, no+1, count, part(1))
	}
	for n := 2; n <= count; n++ {
		if _, err := os.Stat(part(n)); err != nil {
			return fmt.Errorf("%w: part %d of %d is missing: %w", ErrSplit, n, count, err)
		}
	}
	return nil
}
