package worker

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a child's cells have started is its family: its process group, and the
// processes that have left that but were started with the child's mark in their
// environment. They end with the child. (A process that was given another
// environment and made itself a group of its own is not found.)

// markVariable names in a child's environment its mark, which no other has.
const markVariable = "BRANCHBOOK_WORKER"

// parentDied is the signal that the system sends to the child when its parent
// dies. It can be handled, so that the child ends its family, too.
const parentDied = syscall.SIGTERM

// farewell is how long the family may take to end when it is asked to.
const farewell = 300 * time.Millisecond

// hungUp reports whether the parent's end of the socket is closed: it has died.
// When it lives and wants the child to end, it closes one direction only. The
// signal of its death comes when one of its threads has ended, the socket's end
// when the last has.
func hungUp(within time.Duration) bool {
	fds := []unix.PollFd{{Fd: socketFD}}
	for {
		_, err := unix.Poll(fds, int(within.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && fds[0].Revents&unix.POLLHUP != 0
		}
	}
}

// endFamily ends what the child's cells have started and left, and takes away
// what the kernel keeps in files for as long as it lives.
func endFamily(parentLives bool) {
	if syscall.Getpgrp() != os.Getpid() { // not as the parent has arranged it
		return
	}
	signal.Ignore(syscall.SIGTERM)
	syscall.Kill(0, syscall.SIGTERM)
	if parentLives {
		return // it will see to the rest
	}
	mark := os.Getenv(markVariable)
	for began := time.Now(); time.Since(began) < farewell && len(marked(mark)) > 0; {
		time.Sleep(10 * time.Millisecond)
	}
	killMarked(mark)
	if dir := os.Getenv(scratchVariable); dir != "" {
		os.RemoveAll(dir)
	}
}

// killMarked kills the processes that have a mark, but this one, and those that
// they start meanwhile.
func killMarked(mark string) {
	for range 10 {
		pids := marked(mark)
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(pids) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// marked lists the living processes that have a mark, but this one.
func marked(mark string) (pids []int) {
	// /proc may be that of other process numbers than ours (pid_namespaces(7)).
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) || mark == "" {
		return nil
	}
	want := []byte(markVariable + "=" + mark)
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil { // another user's, or it has ended; that of a zombie is empty
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		for v := range bytes.SplitSeq(data, []byte{0}) {
			if bytes.Equal(v, want) && pid != os.Getpid() {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
