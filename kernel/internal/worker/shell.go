package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// shellName is the shell of lines with !: bash, whose language most of those
// who write them mean, where there is one.
func shellName() string {
	if _, err := exec.LookPath("bash"); err == nil {
		return "bash"
	}
	return "sh"
}

// killAfter is how long a command may take to end when it is interrupted.
const killAfter = 400 * time.Millisecond

// shell runs a command with our output. When ctx ends, all that the command has
// started and waits for is interrupted, as by Ctrl-C, and soon killed. What it
// leaves in the background stays in our process group, and ends with it.
func shell(ctx context.Context, input io.Reader, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if input != nil {
		cmd.Stdin = input
		cmd.WaitDelay = killAfter // for who reads it in the background
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command[0], err)
	}
	err := wait(ctx, cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return fmt.Errorf("the command was ended by a signal: %v", status.Signal())
		}
		return fmt.Errorf("the command failed: %w", err)
	}
	return err
}

// wait waits for a command that runs. When ctx ends, the command and all that
// it has started are interrupted, and soon killed.
func wait(ctx context.Context, cmd *exec.Cmd) error {
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		family := freeze(cmd.Process.Pid)
		signalAll(family, syscall.SIGINT)
		signalAll(family, syscall.SIGCONT)
		select {
		case <-ended:
		case <-time.After(killAfter):
		}
		signalAll(freeze(family...), syscall.SIGKILL)
	}()
	err := cmd.Wait()
	close(ended)
	<-stopped
	return err
}

// freeze stops the processes given and what they have started, and returns them
// all: none can start another, and leave it behind, while they are listed.
func freeze(pids ...int) []int {
	for stopped := 0; stopped < len(pids); pids = descendants(pids...) {
		signalAll(pids[stopped:], syscall.SIGSTOP)
		stopped = len(pids)
	}
	return pids
}

// descendants lists the processes given and what they have started.
func descendants(pids ...int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (command) state ppid ...; a command may hold parentheses.
		var state string
		var pid, parent int
		fmt.Sscan(string(data), &pid)
		fmt.Sscan(string(data[bytes.LastIndexByte(data, ')')+1:]), &state, &parent)
		children[parent] = append(children[parent], pid)
	}
	list := slices.Clone(pids)
	for i := 0; i < len(list); i++ {
		for _, c := range children[list[i]] {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// signalAll sends a signal to those of the processes that are in our group: the
// number of one that has ended may be another's.
func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		if group, err := syscall.Getpgid(pid); err == nil && group == syscall.Getpgrp() {
			syscall.Kill(pid, sig)
		}
	}
}
