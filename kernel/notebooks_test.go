package kernel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/notebook"
)

// A listed notebook is one of testdata/notebooks.txt, which says how to read
// it there.
type listed struct {
	class, kernel string
	repo, commit  string
	path          string
	cells         map[int]exception // by the place of the cell in the notebook, from 0
}

// An exception is a cell that does not run as it did where it was saved.
type exception struct {
	verb, text string // "fails" with the text, "stops", "differs", "varies", "skip"
	reason     string
}

func readList(t *testing.T) (list []listed) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "notebooks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || line[0] == '#':
		case line[0] != '\t' && len(fields) >= 5:
			list = append(list, listed{fields[0], fields[1], fields[2], fields[3], strings.Join(fields[4:], " "), map[int]exception{}})
		default:
			first, last, x, err := readException(strings.TrimSpace(line))
			if err != nil || len(list) == 0 {
				t.Fatalf("testdata/notebooks.txt:%d: %q is no exception: %v", n, line, err)
			}
			for i := first; i <= last; i++ {
				list[len(list)-1].cells[i] = x
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// readException reads `3-4 fails "text": reason`.
func readException(line string) (first, last int, x exception, err error) {
	where, rest, _ := strings.Cut(line, " ")
	from, to, ranged := strings.Cut(where, "-")
	if first, err = strconv.Atoi(from); err != nil {
		return
	}
	if last = first; ranged {
		if last, err = strconv.Atoi(to); err != nil {
			return
		}
	}
	if rest, ok := strings.CutPrefix(rest, "fails "); ok {
		x.verb = "fails"
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return 0, 0, x, err
		}
		x.text, _ = strconv.Unquote(quoted)
		x.reason = strings.TrimPrefix(rest[len(quoted):], ": ")
		return first, last, x, nil
	}
	x.verb, x.reason, _ = strings.Cut(rest, ": ")
	if !slices.Contains([]string{"stops", "differs", "varies", "skip"}, x.verb) || x.reason == "" {
		err = fmt.Errorf("what is %q?", x.verb)
	}
	return first, last, x, err
}

// TestNotebooksOfOtherKernels runs notebooks that people wrote for other Go
// kernels, each in a new one. They are not ours to keep here:
// BRANCHBOOK_NOTEBOOKS names a folder that holds them as OWNER/REPOSITORY/PATH.
func TestNotebooksOfOtherKernels(t *testing.T) {
	list := readList(t)
	folder := os.Getenv("BRANCHBOOK_NOTEBOOKS")
	if folder == "" {
		t.Skip("BRANCHBOOK_NOTEBOOKS names no folder of notebooks")
	}
	web := httptest.NewServer(http.HandlerFunc(answer))
	defer web.Close()
	for _, nb := range list {
		t.Run(nb.repo+"/"+nb.path, func(t *testing.T) { runListed(t, folder, web.URL, nb) })
	}
}

// answer is the web of notebooks that load something: pictures, and the data of
// a service of betting odds.
func answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, ".png"):
		png.Encode(w, image.NewGray(image.Rect(0, 0, 3, 2)))
	case strings.HasSuffix(r.URL.Path, ".jpg"):
		jpeg.Encode(w, image.NewGray(image.Rect(0, 0, 3, 2)), nil)
	case strings.HasSuffix(r.URL.Path, ".svg"):
		io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg"/>`)
	case strings.HasSuffix(r.URL.Path, "/sports"):
		io.WriteString(w, `{"success": true, "data": [{"key": "soccer_epl", "active": true, "group": "Soccer", "details": "English Premier League"}]}`)
	case strings.HasSuffix(r.URL.Path, "/odds"):
		io.WriteString(w, `{"success": true, "data": [{"sport_key": "soccer_epl", "sites": [{"site_key": "a", "odds": {"h2h": [2.5, 3]}}]}]}`)
	case strings.HasSuffix(r.URL.Path, "/slow"):
		<-r.Context().Done()
	default:
		io.WriteString(w, "<!DOCTYPE html><title>a page</title>")
	}
}

// redirect is a cell that sends requests for other hosts to ours.
const redirect = `type toTest struct{ base http.RoundTripper }
func (t toTest) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() != "localhost" {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", %q
	}
	return t.base.RoundTrip(r)
}
http.DefaultTransport = toTest{http.DefaultTransport}`

// cellLimit is how long a cell may run before it is interrupted.
const cellLimit = 40 * time.Second

func runListed(t *testing.T, folder, web string, listed listed) {
	name := filepath.Join(folder, listed.repo, listed.path)
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s is not there", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := kernel.NewRunner(kernel.RunnerOptions{Engine: engineName(), Dir: t.TempDir(), Env: append(os.Environ(), "TEST_DIR="+t.TempDir()+"/")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if listed.class == "A-net" {
		cell := fmt.Sprintf(redirect, strings.TrimPrefix(web, "http://"))
		if res, err := r.Execute(context.Background(), cell, func(kernel.Output) {}); err != nil || res.Status != kernel.OK {
			t.Fatal(err, res)
		}
	}
	ran, failed := 0, 0
	for i, c := range nb.Cells {
		if c.Kind != notebook.Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		want, excepted := listed.cells[i]
		if want.verb == "skip" {
			t.Logf("cell %d: skipped: %s", i, want.reason)
			continue
		}
		limit := cellLimit
		if want.verb == "stops" {
			limit = 2 * time.Second
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		var out outputs
		res, err := r.Execute(ctx, c.Source, out.add)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		failure := withoutColour(strings.Join(res.Traceback, "\n"))
		got, saved := normal(out.text()), normal(savedText(c.Outputs))
		switch {
		case want.verb == "fails" && res.Status == kernel.OK:
			t.Errorf("cell %d: runs, but must fail with %q: %s", i, want.text, want.reason)
		case want.verb == "fails" && !strings.Contains(failure, want.text):
			t.Errorf("cell %d: fails otherwise than with %q:\n%s", i, want.text, failure)
		case want.verb == "stops" && strings.Contains(failure, "all goroutines are asleep"):
			t.Logf("cell %d: waits for ever, which the engine has seen", i)
		case want.verb == "stops" && res.EName != "Interrupted":
			t.Errorf("cell %d: ends by itself: %s %s", i, res.Status, failure)
		case want.verb != "fails" && want.verb != "stops" && res.Status != kernel.OK:
			t.Errorf("cell %d: fails:\n%s", i, failure)
		case !excepted && got != saved && saved != "":
			t.Errorf("cell %d: prints\n%s\nwhere the notebook has\n%s", i, got, saved)
		default:
			t.Logf("cell %d: %s\n%s", i, res.Status, got)
		}
		if ran++; res.Status != kernel.OK && want.verb != "stops" {
			failed++
		}
		if want.verb == "differs" && got == saved {
			t.Errorf("cell %d: prints what the notebook has, and is listed as one that does not", i)
		}
	}
	t.Logf("%s %s: %d cells, %d of them fail", listed.class, listed.kernel, ran, failed)
}

// outputs is what a reader sees of a cell's outputs, but for errors.
type outputs []struct{ id, text string }

func (out *outputs) add(o kernel.Output) {
	switch o.Type {
	case kernel.Stream:
		*out = append(*out, struct{ id, text string }{"", o.Text})
	case kernel.Display, kernel.ExecuteResult:
		*out = append(*out, struct{ id, text string }{o.DisplayID, bundleText(o.Data)})
	case kernel.Update:
		for i := range *out {
			if (*out)[i].id == o.DisplayID {
				(*out)[i].text = bundleText(o.Data)
			}
		}
	}
}

func (out outputs) text() string {
	var b strings.Builder
	for _, o := range out {
		b.WriteString(o.text)
	}
	return b.String()
}

// savedText is the same of a notebook's outputs.
func savedText(outputs []*notebook.Output) string {
	var b strings.Builder
	for _, o := range outputs {
		switch o.Kind {
		case notebook.Stream:
			b.WriteString(o.Text)
		case notebook.Display, notebook.Result:
			b.WriteString(bundleText(o.Data))
		}
	}
	return b.String()
}

// bundleText names what is shown, and how if not as text.
func bundleText(data map[string]any) string {
	for _, mime := range []string{"image/png", "image/jpeg", "image/svg+xml", "text/html", "text/markdown", "text/latex"} {
		if _, ok := data[mime]; ok {
			return "[" + mime + "]\n"
		}
	}
	return fmt.Sprintln(data["text/plain"])
}

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

func withoutColour(s string) string { return colour.ReplaceAllString(s, "") }

// counted is what kernels show of fmt.Println's results: "12 <nil>".
var counted = regexp.MustCompile(`(?m)^\d+ ?\n?(<nil>|nil)$`)

// normal is a cell's text without what no two kernels do alike.
func normal(s string) string {
	s = counted.ReplaceAllString(withoutColour(s), "")
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
