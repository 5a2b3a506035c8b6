package catalog

import (
	"fmt"
	"strings"
)

// UnknownError is the error of a name that is neither a path nor in the
// catalogue. A caller that lists names elsewhere shows them beside Known.
type UnknownError struct {
	Name    string
	Nearest string // what Name may be a misspelling of, or empty
	Known   []string
}

func (e *UnknownError) Error() string {
	ask := ""
	if e.Nearest != "" {
		ask = fmt.Sprintf(": did you mean %q?", e.Nearest)
	}
	return fmt.Sprintf("catalog: find model %q: no such file and no such name%s (names: %s; or the path of a .gguf file)",
		e.Name, ask, strings.Join(e.Known, ", "))
}

// DigestError is the error of a file whose bytes are not the catalogue's.
// The cure is to delete Path and fetch again.
type DigestError struct {
	Path        string
	Found, Want string // SHA-256, hex
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("%s: SHA-256 is %s, want %s", e.Path, e.Found, e.Want)
}

// nearest returns the name of known that name comes closest to, as a whole or
// as the beginning of it, or "" when more than a third of name's letters would
// have to change.
func nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := min(distance(name, k), distance(name, k[:min(len(name), len(k))])); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is Levenshtein's: how many bytes to insert, delete or replace to
// make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
