package wire

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
)

// Connection is a connection file ("Connection files").
type Connection struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"ip"`
	ShellPort       int    `json:"shell_port"`
	ControlPort     int    `json:"control_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	HBPort          int    `json:"hb_port"`
	Key             string `json:"key"`
	SignatureScheme string `json:"signature_scheme"`
	KernelName      string `json:"kernel_name,omitempty"`

	// Exposed is set if other users can read the file, and so its key.
	Exposed bool `json:"-"`
}

// ReadConnection reads a connection file. The key in it lets its reader run
// code here, so a file that other users can write is refused.
func ReadConnection(name string) (Connection, error) {
	var c Connection
	info, err := os.Stat(name)
	if err != nil {
		return c, fmt.Errorf("wire: read connection file: %w", err)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return c, fmt.Errorf("wire: read connection file %q: %w: mode %v lets others write it", name, fs.ErrPermission, perm)
	}
	c.Exposed = info.Mode().Perm()&0o044 != 0
	data, err := os.ReadFile(name)
	if err != nil {
		return c, fmt.Errorf("wire: read connection file: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("wire: read connection file %q: %w", name, err)
	}
	if c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256" {
		return c, fmt.Errorf("wire: read connection file %q: signature scheme %q, only hmac-sha256 is known", name, c.SignatureScheme)
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return c, fmt.Errorf("wire: read connection file %q: transport %q, only tcp and ipc are known", name, c.Transport)
	}
	for channel, port := range map[string]int{"shell": c.ShellPort, "control": c.ControlPort, "iopub": c.IOPubPort, "stdin": c.StdinPort, "hb": c.HBPort} {
		if port < 0 || port > 65535 && c.Transport == "tcp" {
			return c, fmt.Errorf("wire: read connection file %q: %s_port is %d, which is no port", name, channel, port)
		}
	}
	return c, nil
}

// Endpoint returns the ZeroMQ address of one of c's ports.
func (c Connection) Endpoint(port int) string {
	if c.Transport == "ipc" {
		return "ipc://" + c.IP + "-" + strconv.Itoa(port)
	}
	return "tcp://" + net.JoinHostPort(c.IP, strconv.Itoa(port))
}
