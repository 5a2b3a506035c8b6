package cell

import (
	"strings"
)

// importHint says what to do about a package that could not be imported, of
// which the message tells why.
func importHint(msg string) string {
	path, why, _ := strings.Cut(strings.TrimPrefix(msg, "could not import "), " (")
	switch {
	case why != "package "+path+" is not in the notebook)":
		return "" // the message says it
	case OldPath(path) != "":
		return "it is the path of years ago: import \"" + OldPath(path) + "\""
	case strings.Contains(strings.Split(path, "/")[0], "."):
		return "%get " + modulePath(path) + " fetches it"
	}
	return "the notebook has the standard library, its own packages, and what %get fetches"
}

// modulePath guesses which module holds a package, by the customs of the hosts
// of code. The package's own path will do as well, but is longer.
func modulePath(path string) string {
	parts := strings.Split(path, "/")
	n := len(parts)
	switch parts[0] {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "golang.org", "gonum.org":
		n = 3
	case "gopkg.in":
		n = 2
		if len(parts) > 2 && !strings.Contains(parts[1], ".v") {
			n = 3
		}
	}
	n = min(n, len(parts))
	if n < len(parts) && len(parts[n]) > 1 && parts[n][0] == 'v' && strings.Trim(parts[n][1:], "0123456789") == "" {
		n++ // major version
	}
	return strings.Join(parts[:n], "/")
}

// OldPath returns the path that a package of gonum has had since 2017, given
// that before; "" for all others.
func OldPath(path string) string {
	rest, ok := strings.CutPrefix(path, "github.com/gonum/")
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	switch first {
	case "plot":
		return "gonum.org/v1/" + rest
	case "matrix":
		return strings.TrimSuffix("gonum.org/v1/gonum/mat"+strings.TrimPrefix(strings.TrimPrefix(rest, "matrix"), "/mat64"), "/")
	case "gonum":
		return "gonum.org/v1/" + rest
	}
	return "gonum.org/v1/gonum/" + rest
}
