package kerneltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a test waits for one message before it fails.
const Patience = 30 * time.Second

// Connection is what a kernel's connection file says.
type Connection struct {
	Transport       string `json:"transport"`
	IP              string `json:"ip"`
	ShellPort       int    `json:"shell_port"`
	ControlPort     int    `json:"control_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	HBPort          int    `json:"hb_port"`
	Key             string `json:"key"`
	SignatureScheme string `json:"signature_scheme"`
}

// Kernel is a running kernel process and a client connected to it.
type Kernel struct {
	*Client
	Connection Connection
	Process    *os.Process

	tb     testing.TB
	exited chan struct{} // closed when the process has been waited for
	err    error         // of Wait, once exited
	stderr *lockedBuffer
}

// Start starts a kernel, command and the connection file's name, and waits
// until it has welcomed a client. The test's end shuts it down. env is added
// to this process's environment.
func Start(tb testing.TB, command []string, env ...string) *Kernel {
	tb.Helper()
	k := &Kernel{tb: tb, exited: make(chan struct{}), stderr: &lockedBuffer{}}
	k.Connection = Connection{
		Transport: "tcp", IP: "127.0.0.1", Key: "a key that only this test knows", SignatureScheme: "hmac-sha256",
	}
	ports := freePorts(tb, 5)
	for i, p := range []*int{&k.Connection.ShellPort, &k.Connection.ControlPort, &k.Connection.IOPubPort, &k.Connection.StdinPort, &k.Connection.HBPort} {
		*p = ports[i]
	}
	file := filepath.Join(tb.TempDir(), "connection.json")
	data, err := json.Marshal(k.Connection)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:len(command):len(command)], file)...)
	cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+tb.TempDir()), env...) // not the history of who tests
	cmd.Stderr = k.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	k.Process = cmd.Process
	go func() {
		k.err = cmd.Wait()
		close(k.exited)
	}()
	tb.Cleanup(k.close)
	k.Client = Connect(tb, k.Connection)
	return k
}

// freePorts asks the system for ports that nobody listens on.
func freePorts(tb testing.TB, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		defer l.Close() // all at the end, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (k *Kernel) close() {
	if k.Client != nil {
		k.Client.close()
	}
	select {
	case <-k.exited:
	default:
		k.Process.Kill()
		<-k.exited
	}
	if k.tb.Failed() && k.stderr.String() != "" {
		k.tb.Logf("the kernel's own stderr:\n%s", k.stderr)
	}
}

// Stderr is what the kernel process has written to its standard error.
func (k *Kernel) Stderr() string { return k.stderr.String() }

// Interrupt sends the kernel process SIGINT.
func (k *Kernel) Interrupt() {
	k.tb.Helper()
	if err := k.Process.Signal(os.Interrupt); err != nil {
		k.tb.Fatal(err)
	}
}

// Exited fails the test unless the kernel process ends with status 0.
func (k *Kernel) Exited() {
	k.tb.Helper()
	select {
	case <-k.exited:
		if k.err != nil {
			k.tb.Fatalf("the kernel ended with %v:\n%s", k.err, k.stderr)
		}
	case <-time.After(Patience):
		k.tb.Fatal("the kernel did not end")
	}
}

// Children returns the ids of the living processes that the kernel started,
// theirs included.
func (k *Kernel) Children() []int {
	k.tb.Helper()
	return descendants(k.Process.Pid)
}

func descendants(pid int) (all []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, name := range stats {
		child, parent, state, err := readStat(name)
		if err == nil && parent == pid && state != "Z" {
			all = append(append(all, child), descendants(child)...)
		}
	}
	return all
}

// readStat reads proc(5)'s /proc/PID/stat of a process whose name has no ")".
func readStat(name string) (pid, parent int, state string, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, "", err
	}
	for i, b := range data {
		if b == ')' {
			if _, err := fmt.Sscanf(string(data[i+1:]), " %1s %d", &state, &parent); err != nil {
				return 0, 0, "", err
			}
			_, err = fmt.Sscan(string(data), &pid)
			return pid, parent, state, err
		}
	}
	return 0, 0, "", errors.New("no command")
}

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	data []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.data)
}
