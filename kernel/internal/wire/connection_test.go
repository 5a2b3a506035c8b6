package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadConnection(t *testing.T) {
	const good = `{"transport":"tcp","ip":"127.0.0.1","shell_port":1,"control_port":2,"iopub_port":3,"stdin_port":4,"hb_port":5,"key":"k","signature_scheme":"hmac-sha256"}`
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		want       string // part of the error; empty for none
	}{
		{"as Jupyter writes it", good, 0o600, ""},
		{"readable by others", good, 0o644, ""},
		{"writable by others", good, 0o666, "lets others write it"},
		{"cut off", good[:40], 0o600, "unexpected end of JSON input"},
		{"an unknown signature scheme", strings.Replace(good, "sha256", "md5", 1), 0o600, `"hmac-md5"`},
		{"an unknown transport", strings.Replace(good, "tcp", "udp", 1), 0o600, `"udp"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "connection.json")
			if err := os.WriteFile(name, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, test.mode); err != nil {
				t.Fatal(err)
			}
			c, err := ReadConnection(name)
			switch {
			case test.want == "" && err != nil:
				t.Fatal(err)
			case test.want == "" && c.Endpoint(c.ShellPort) != "tcp://127.0.0.1:1":
				t.Errorf("endpoint %q", c.Endpoint(c.ShellPort))
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	for _, test := range []struct{ c, want string }{
		{"tcp 127.0.0.1", "tcp://127.0.0.1:7"},
		{"tcp ::1", "tcp://[::1]:7"},
		{"ipc /run/kernel", "ipc:///run/kernel-7"},
	} {
		transport, ip, _ := strings.Cut(test.c, " ")
		if got := (Connection{Transport: transport, IP: ip}).Endpoint(7); got != test.want {
			t.Errorf("%s: %s, want %s", test.c, got, test.want)
		}
	}
}
