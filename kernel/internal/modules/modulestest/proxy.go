// Package modulestest serves tiny modules to tests, without a network.
package modulestest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Proxy makes the go command that the test starts take modules from an archive
// only, until the test ends. Its files are named MODULE@VERSION/FILE; a module
// without a go.mod gets one that says nothing. Without a go command the test
// is skipped, or fails where BRANCHBOOK_REQUIRE says so.
func Proxy(t testing.TB, archive *txtar.Archive) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no go command")
		}
		t.Skip("no go command")
	}
	dir := t.TempDir()
	files := map[string]map[string][]byte{} // by module@version
	for _, f := range archive.Files {
		module, version, ok := strings.Cut(f.Name, "@")
		version, name, ok2 := strings.Cut(version, "/")
		if !ok || !ok2 {
			continue
		}
		at := module + "@" + version
		if files[at] == nil {
			files[at] = map[string][]byte{"go.mod": fmt.Appendf(nil, "module %s\n", module)}
		}
		files[at][name] = f.Data
	}
	for at, list := range files {
		if err := write(dir, at, list); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(dir), "GONOSUMDB": "*", "GONOPROXY": "none", "GOPRIVATE": "", "GOSUMDB": "off", "GOVCS": "off",
		"GOFLAGS": "-modcacherw", "GOMODCACHE": filepath.Join(dir, "cache"), "GOWORK": "off", "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
}

// write lays a version out as the proxy protocol wants it (go.dev/ref/mod,
// "GOPROXY protocol").
func write(dir, at string, files map[string][]byte) error {
	module, version, _ := strings.Cut(at, "@")
	v := filepath.Join(dir, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(v, 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.Create(at + "/" + name)
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	list, err := os.OpenFile(filepath.Join(v, "list"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer list.Close()
	if _, err := fmt.Fprintln(list, version); err != nil {
		return err
	}
	for ext, data := range map[string][]byte{
		".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2024-01-01T00:00:00Z"}`, version), ".mod": files["go.mod"], ".zip": b.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(v, version+ext), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
