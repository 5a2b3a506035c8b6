package session

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// usage is what a usage_request before has seen, to tell what was used since.
// All of it is read from proc(5); what is not there is 0.
type usage struct {
	kernel     uint64 // clock ticks that the kernel's processes have used
	busy, host uint64 // clock ticks of all processors, busy and in all
}

// tell returns what is used now, and since the last call.
func (u *usage) tell() wire.UsageReply {
	name, _ := os.Hostname()
	r := wire.UsageReply{Status: "ok", Hostname: name, PID: os.Getpid(), CPUCount: runtime.NumCPU()}
	last := *u
	u.kernel = 0
	for _, p := range family(os.Getpid()) {
		u.kernel += p.ticks
		r.KernelMemory += p.memory
	}
	u.busy, u.host = hostTicks()
	if past := float64(u.host - last.host); last.host > 0 && past > 0 {
		r.HostCPUPercent = 100 * float64(u.busy-last.busy) / past
		if u.kernel > last.kernel { // a process that has ended takes its ticks along
			r.KernelCPU = 100 * float64(u.kernel-last.kernel) / past * float64(r.CPUCount)
		}
	}
	r.HostVirtualMemory = hostMemory()
	return r
}

type processUse struct {
	pid, parent int
	ticks       uint64
	memory      int64
}

// family is what a process and all that it has started use.
func family(pid int) []processUse {
	children, all := map[int][]processUse{}, []processUse(nil)
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (command) state ppid ...; a command may hold parentheses.
		p, state, skip := processUse{}, "", ""
		var user, system uint64
		var rss int64
		fmt.Sscan(string(data), &p.pid)
		rest := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(rest) < 22 {
			continue
		}
		fmt.Sscan(strings.Join(rest[:2], " "), &state, &p.parent)
		fmt.Sscan(strings.Join(rest[11:13], " "), &user, &system)
		fmt.Sscan(strings.Join(rest[20:22], " "), &skip, &rss)
		p.ticks, p.memory = user+system, rss*int64(os.Getpagesize())
		children[p.parent] = append(children[p.parent], p)
		if p.pid == pid {
			all = append(all, p)
		}
	}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].pid]...)
	}
	return all
}

// hostTicks reads the first line of /proc/stat: user nice system idle iowait...
func hostTicks() (busy, all uint64) {
	data, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(data), "\n")
	for i, field := range strings.Fields(line) {
		var n uint64
		if _, err := fmt.Sscan(field, &n); err != nil || i > 8 { // guests are in user
			continue
		}
		all += n
		if i != 4 && i != 5 {
			busy += n
		}
	}
	return busy, all
}

func hostMemory() (m wire.VirtualMemory) {
	data, _ := os.ReadFile("/proc/meminfo")
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var name string
		var kilobytes int64
		fmt.Sscan(lines.Text(), &name, &kilobytes)
		switch name {
		case "MemTotal:":
			m.Total = kilobytes << 10
		case "MemAvailable:":
			m.Available = kilobytes << 10
		case "MemFree:":
			m.Free = kilobytes << 10
		}
	}
	m.Used = m.Total - m.Available
	if m.Total > 0 {
		m.Percent = 100 * float64(m.Used) / float64(m.Total)
	}
	return m
}
