package kernel_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/branchbook/branchbook/kernel"
	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// The test binary is the kernel that the tests start, and its worker.
func TestMain(m *testing.M) {
	var err error
	tallyOnSignal()
	switch {
	case len(os.Args) == 3 && os.Args[1] == "kernel":
		err = kernel.Serve(context.Background(), os.Args[2], kernel.Options{
			Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),

			Version: "test", Engine: engineName(), Models: func() []string { return []string{"tiny-model", "other-model"} },
		})
	case len(os.Args) == 3 && os.Args[1] == "worker":
		err = kernel.ServeWorker(strings.TrimPrefix(os.Args[2], "--engine="))
	case len(os.Args) == 3 && (os.Args[1] == "server" || os.Args[1] == "reaper"):
		err = serveAsParent(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveAsParent starts the kernel, as a server, or a server that starts it, as
// what inherits orphans (PR_SET_CHILD_SUBREAPER), and waits.
func serveAsParent(role, connectionFile string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "kernel", connectionFile)
	if role == "reaper" {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return err
		}
		cmd = exec.Command(self, "server", connectionFile)
	}
	cmd.Env = append(os.Environ(), "JPY_PARENT_PID="+sprint(os.Getpid()))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	select {}
}

// engineName is the engine that the tests' cells run on.
func engineName() string { return cmp.Or(os.Getenv("BRANCHBOOK_ENGINE"), kernel.Engines()[0]) }

func start(tb testing.TB, env ...string) *kerneltest.Kernel {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return kerneltest.Start(tb, []string{self, "kernel"}, env...)
}

// run expects a cell that prints and shows nothing.
func run(k *kerneltest.Kernel, count int, code string) {
	r := k.Execute(code)
	r.Busy()
	r.Input(count)
	r.ReplyOK(count)
	r.Idle()
}

func TestStreamsAndResult(t *testing.T) {
	k := start(t)
	r := k.Execute("fmt.Println(\"out\")\nfmt.Fprintln(os.Stderr, \"err\")\nx := 20\nx + 1")
	r.Busy()
	r.Input(1)
	r.Stream("stdout", "out\n")
	r.Stream("stderr", "err\n")
	r.Result("21")
	r.ReplyOK(1)
	r.Idle()
	r = k.Execute("x * 2")
	r.Busy()
	r.Input(2)
	r.Result("40")
	r.ReplyOK(2)
	r.Idle()
}
