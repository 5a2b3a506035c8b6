package modules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// lines takes what the go command says: progress goes to each, the rest is
// kept.
type lines struct {
	each func(line string)
	part string
	text strings.Builder
}

func (w *lines) Write(b []byte) (int, error) {
	w.part += string(b)
	for {
		line, rest, ok := strings.Cut(w.part, "\n")
		if !ok {
			return len(b), nil
		}
		w.part = rest
		if what, ok := strings.CutPrefix(line, "go: downloading "); ok {
			if w.each != nil {
				w.each("downloading " + what)
			}
			continue
		}
		w.text.WriteString(line + "\n")
	}
}

// maxWords bounds what is told of an error of the go command, in bytes.
const maxWords = 600

var (
	address = regexp.MustCompile(`(reading |Get ")?(https?|file)://\S+ ?`)
	report  = regexp.MustCompile(`^go: (added|upgraded|downgraded|removed|finding|trying|found|toolchain) `)
)

// shorten leaves of the go command's words what matters to who asked: no
// addresses of proxies, no advice about commands that the user cannot give.
func shorten(words string) string {
	var kept []string
	for line := range strings.Lines(words) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		switch {
		case text == "" || report.MatchString(line):
			continue
		case strings.HasPrefix(text, "go get ") || strings.HasPrefix(text, "go mod ") || strings.Contains(text, "to add it:"):
			text, _, _ = strings.Cut(text, "; to add it:")
			if strings.HasPrefix(text, "go ") {
				continue
			}
		}
		text = address.ReplaceAllString(strings.TrimPrefix(text, "go: "), "")
		kept = append(kept, strings.TrimPrefix(text, "server response: "))
	}
	s := strings.Join(kept, "; ")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// refuseArgument says what is wrong with an argument of Get.
func refuseArgument(path, version string) error {
	switch {
	case path == "" || strings.HasPrefix(path, "-") || strings.HasPrefix(version, "-") || strings.ContainsAny(path+version, "@ \t\"'`"):
		return fmt.Errorf("%q is no module: write it as github.com/samber/lo or github.com/samber/lo@v1.49.1", path)
	case strings.HasPrefix(path, ".") || strings.HasPrefix(path, "/"):
		return fmt.Errorf("%q is a directory; %%get fetches modules by their path", path)
	case cell.OldPath(path) != "":
		return fmt.Errorf("%s is the path of years ago: it is %s now", path, cell.OldPath(path))
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return fmt.Errorf("%s is no module that can be fetched; a package of the standard library needs no %%get", path)
	}
	return nil
}
