package llm

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// cores is the number of cores that the process may use: Go's own count,
// which knows of CPU affinity and container limits, and at most the machine's
// cores, since two threads of one core only wait for each other's arithmetic.
func cores() int {
	n := runtime.GOMAXPROCS(0)
	lists, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
	seen := make(map[string]bool)
	for _, path := range lists {
		if b, err := os.ReadFile(path); err == nil {
			seen[strings.TrimSpace(string(b))] = true
		}
	}
	if len(seen) > 0 {
		n = min(n, len(seen))
	}
	return max(n, 1)
}
