package kernel_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel"
)

// environmentOf makes an environment with these Pythons.
func environmentOf(t *testing.T, pythons ...string) (prefix string, sites []string) {
	t.Helper()
	prefix = filepath.Join(t.TempDir(), "an [env]*") // nothing that a pattern matches
	if err := os.Mkdir(prefix, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, python := range pythons {
		site := filepath.Join(prefix, "lib", python)
		if err := os.MkdirAll(site, 0o755); err != nil {
			t.Fatal(err)
		}
		sites = append(sites, site)
	}
	return prefix, sites
}

// below lists the files below a folder.
func below(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var pluginFiles = []string{
	"branchbook_papermill-1.dist-info/INSTALLER",
	"branchbook_papermill-1.dist-info/METADATA",
	"branchbook_papermill-1.dist-info/RECORD",
	"branchbook_papermill-1.dist-info/entry_points.txt",
	"branchbook_papermill.py",
}

func TestInstallPapermill(t *testing.T) {
	prefix, sites := environmentOf(t, "python3.11/site-packages", "python3.13/site-packages")
	opts := kernel.InstallOptions{Prefix: prefix}
	old := filepath.Join(sites[0], "branchbook_papermill-0.dist-info")
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "INSTALLER"), []byte("branchbook\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again is no error
		dirs, err := kernel.InstallPapermill(opts)
		if err != nil || !slices.Equal(dirs, sites) {
			t.Fatalf("%q, %v; want %q", dirs, err, sites)
		}
	}
	for _, site := range sites {
		if got := below(t, site); !slices.Equal(got, pluginFiles) {
			t.Errorf("in %s there is %q, want %q", site, got, pluginFiles)
		}
	}
	if _, err := kernel.Install(opts); err != nil {
		t.Fatal(err)
	}
	if removed, err := kernel.Uninstall(opts); err != nil || len(removed) != 3 {
		t.Errorf("removed %q, %v", removed, err)
	}
	if left := below(t, prefix); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func TestInstallPapermillFindsNoPython(t *testing.T) {
	prefix, _ := environmentOf(t)
	if dirs, err := kernel.InstallPapermill(kernel.InstallOptions{Prefix: prefix}); err != nil || dirs != nil {
		t.Errorf("%q, %v", dirs, err)
	}
}

// What pip installed is pip's: from a wheel, or from kernel/papermill.
func TestInstallPapermillLeavesPipAlone(t *testing.T) {
	prefix, sites := environmentOf(t, "python3.12/dist-packages")
	info := filepath.Join(sites[0], "branchbook_papermill-7.dist-info")
	if err := os.Mkdir(info, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{info + "/INSTALLER": "pip\n", sites[0] + "/branchbook_papermill.py": "# pip's"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := below(t, prefix)
	opts := kernel.InstallOptions{Prefix: prefix}
	if dirs, err := kernel.InstallPapermill(opts); err != nil || !slices.Equal(dirs, sites) {
		t.Errorf("%q, %v", dirs, err)
	}
	if _, err := kernel.Install(opts); err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.Uninstall(opts); err != nil {
		t.Fatal(err)
	}
	if after := below(t, prefix); !slices.Equal(after, before) {
		t.Errorf("there is %q, want %q", after, before)
	}
}

func TestUninstall(t *testing.T) {
	prefix, sites := environmentOf(t, "python3.11/site-packages")
	one, two := kernel.InstallOptions{Prefix: prefix}, kernel.InstallOptions{Prefix: prefix, Name: "two"}
	if _, err := kernel.Uninstall(one); !errors.Is(err, kernel.ErrNotInstalled) {
		t.Errorf("before: %v, want ErrNotInstalled", err)
	}
	for _, opts := range []kernel.InstallOptions{one, two} {
		if _, err := kernel.Install(opts); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kernel.InstallPapermill(one); err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.Uninstall(one); err != nil {
		t.Fatal(err)
	}
	if got := below(t, sites[0]); !slices.Equal(got, pluginFiles) {
		t.Errorf("with a kernel left there is %q", got)
	}
	foreign := filepath.Join(prefix, "share/jupyter/kernels/branchbook/kernel.json")
	if err := os.MkdirAll(filepath.Dir(foreign), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte(`{"argv": ["gonb"]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.Uninstall(one); !errors.Is(err, kernel.ErrForeign) {
		t.Errorf("another program's: %v, want ErrForeign", err)
	}
	if _, err := kernel.Uninstall(two); err != nil {
		t.Fatal(err)
	}
	if got := below(t, prefix); len(got) != 1 || !strings.HasSuffix(foreign, got[0]) {
		t.Errorf("left behind: %q", got)
	}
}

// pip install kernel/papermill brings what Install writes.
func TestPapermillIsOneVersion(t *testing.T) {
	project, err := os.ReadFile("papermill/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nversion = \"1\"\n", "\nname = \"branchbook-papermill\"\n", `py-modules = ["branchbook_papermill"]`} {
		if !strings.Contains(string(project), want) {
			t.Errorf("pyproject.toml does not say %q", want)
		}
	}
}
