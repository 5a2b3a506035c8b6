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

// nearest returns the name of known that is closest to name, or "" when none
// is close: more than a third of its letters would have to change.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); d < least {
			best, least = k, d
		}
	}
	// What was typed may be the start of a long name.
	if best == "" && len(name) >= 3 {
		for _, k := range known {
			if strings.HasPrefix(k, strings.ToLower(name)) {
				return k
			}
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
