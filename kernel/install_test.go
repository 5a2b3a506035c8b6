package kernel_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/branchbook/branchbook/kernel"
)

// lonely takes all Python environments away from the test, and gives it an
// empty home.
func lonely(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", filepath.Join(home, "bin"))
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX", "JUPYTER_DATA_DIR", "XDG_DATA_HOME"} {
		t.Setenv(name, "")
	}
	return home
}

func TestInstallGoesTo(t *testing.T) {
	for _, test := range []struct {
		name string
		env  string // a variable that is set to a folder
		opts kernel.InstallOptions
		want string // below the home or that folder
	}{
		{"the virtual environment", "VIRTUAL_ENV", kernel.InstallOptions{}, "share/jupyter/kernels/branchbook"},
		{"the conda environment", "CONDA_PREFIX", kernel.InstallOptions{}, "share/jupyter/kernels/branchbook"},
		{"the user", "", kernel.InstallOptions{User: true}, ".local/share/jupyter/kernels/branchbook"},
		{"the user, though an environment is active", "VIRTUAL_ENV", kernel.InstallOptions{User: true}, "../home/.local/share/jupyter/kernels/branchbook"},
		{"the user's own data folder", "JUPYTER_DATA_DIR", kernel.InstallOptions{User: true}, "kernels/branchbook"},
		{"an environment by its folder, though another is active", "VIRTUAL_ENV", kernel.InstallOptions{Prefix: "."}, "share/jupyter/kernels/branchbook"},
		{"another name", "VIRTUAL_ENV", kernel.InstallOptions{Name: "go-dev"}, "share/jupyter/kernels/go-dev"},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := lonely(t)
			if test.env != "" {
				os.Mkdir(filepath.Join(base, "env"), 0o755)
				t.Setenv("HOME", filepath.Join(base, "home"))
				base = filepath.Join(base, "env")
				t.Setenv(test.env, base)
				if test.opts.Prefix != "" {
					t.Chdir(base)
					t.Setenv(test.env, "/elsewhere")
				}
			}
			dir, err := kernel.Install(test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(base, test.want); dir != want {
				t.Errorf("installed to %s, want %s", dir, want)
			}
		})
	}
}

func TestInstallFindsTheEnvironmentOfTheJupyterCommand(t *testing.T) {
	home := lonely(t)
	os.Mkdir(filepath.Join(home, "bin"), 0o755)
	if _, err := kernel.Install(kernel.InstallOptions{}); !errors.Is(err, kernel.ErrNoEnvironment) {
		t.Errorf("without: %v, want ErrNoEnvironment", err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "jupyter"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := kernel.Install(kernel.InstallOptions{})
	if want := filepath.Join(home, "share/jupyter/kernels/branchbook"); err != nil || dir != want {
		t.Errorf("%s, %v; want %s", dir, err, want)
	}
}

// A jupyter command in PATH may be a link into an environment, as pipx makes
// it, or a shim that chooses one, as pyenv's is.
func TestInstallFollowsTheJupyterCommand(t *testing.T) {
	home := lonely(t)
	for _, dir := range []string{"bin", "venvs/jupyter/bin", "shims"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"venvs/jupyter/bin/jupyter", "shims/jupyter"} {
		if err := os.WriteFile(filepath.Join(home, file), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "venvs/jupyter/bin/jupyter"), filepath.Join(home, "bin/jupyter")); err != nil {
		t.Fatal(err)
	}
	dir, err := kernel.Install(kernel.InstallOptions{})
	if want := filepath.Join(home, "venvs/jupyter/share/jupyter/kernels/branchbook"); err != nil || dir != want {
		t.Errorf("%s, %v; want %s", dir, err, want)
	}
	t.Setenv("PATH", filepath.Join(home, "shims"))
	if dir, err := kernel.Install(kernel.InstallOptions{}); !errors.Is(err, kernel.ErrNoEnvironment) {
		t.Errorf("with a shim: %s, %v, want ErrNoEnvironment", dir, err)
	}
}

func TestInstallNeedsTheEnvironment(t *testing.T) {
	home := lonely(t)
	gone, file := filepath.Join(home, "gone"), filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{gone, file} {
		if _, err := kernel.Install(kernel.InstallOptions{Prefix: prefix}); !errors.Is(err, kernel.ErrNoPrefix) {
			t.Errorf("prefix %s: %v, want ErrNoPrefix", prefix, err)
		}
	}
	t.Setenv("VIRTUAL_ENV", gone)
	if _, err := kernel.Install(kernel.InstallOptions{}); !errors.Is(err, kernel.ErrNoPrefix) {
		t.Errorf("an environment that was removed: %v, want ErrNoPrefix", err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the missing folder was made")
	}
}

func TestInstalledSpec(t *testing.T) {
	prefix := t.TempDir()
	dir, err := kernel.Install(kernel.InstallOptions{Prefix: prefix, Executable: "bin/branchbook", Version: "1.2.3", DisplayName: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Argv          []string
		DisplayName   string `json:"display_name"`
		Language      string
		Protocol      string `json:"kernel_protocol_version"`
		InterruptMode string `json:"interrupt_mode"`
		Metadata      map[string]any
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	if len(spec.Argv) != 3 || !filepath.IsAbs(spec.Argv[0]) || spec.Argv[1] != "kernel" || spec.Argv[2] != "{connection_file}" {
		t.Errorf("argv %q", spec.Argv)
	}
	if spec.DisplayName != "Go" || spec.Language != "go" || spec.Protocol != "5.5" || spec.InterruptMode != "message" || spec.Metadata["debugger"] != false {
		t.Errorf("%+v", spec)
	}
	for name, size := range map[string]int{"logo-32x32.png": 32, "logo-64x64.png": 64} {
		picture, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil || img.Bounds().Dx() != size || img.Bounds().Dy() != size {
			t.Errorf("%s: %v", name, err)
		}
	}
	svg, err := os.Open(filepath.Join(dir, "logo-svg.svg"))
	if err != nil {
		t.Fatal(err)
	}
	defer svg.Close()
	for d := xml.NewDecoder(svg); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestInstallAgain(t *testing.T) {
	prefix := t.TempDir()
	for _, version := range []string{"1", "2"} {
		dir, err := kernel.Install(kernel.InstallOptions{Prefix: prefix, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(filepath.Join(dir, "kernel.json"))
		if !bytes.Contains(data, []byte(`"branchbook": "`+version+`"`)) {
			t.Errorf("version %s is not in %s", version, data)
		}
		entries, _ := os.ReadDir(filepath.Dir(dir))
		if len(entries) != 1 {
			t.Errorf("beside the kernel there is %v", entries)
		}
	}
}

func TestInstallLeavesOthersAlone(t *testing.T) {
	for name, text := range map[string]string{
		"another kernel": `{"argv": ["gonb", "--kernel"], "language": "go", "metadata": {}}`, "no JSON": `{`, "no kernel.json": "",
	} {
		t.Run(name, func(t *testing.T) {
			prefix := t.TempDir()
			dir := filepath.Join(prefix, "share/jupyter/kernels/branchbook")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "kernel.json")
			if text == "" {
				file = filepath.Join(dir, "something")
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := kernel.Install(kernel.InstallOptions{Prefix: prefix}); !errors.Is(err, kernel.ErrForeign) {
				t.Errorf("error %v, want ErrForeign", err)
			}
			if got, _ := os.ReadFile(file); string(got) != text {
				t.Errorf("the other's file is now %q", got)
			}
		})
	}
}

func TestInstallRefusesANameThatJupyterDoesNotKnow(t *testing.T) {
	for _, name := range []string{"a b", "../x", "é"} {
		if _, err := kernel.Install(kernel.InstallOptions{Name: name, Prefix: t.TempDir()}); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}
