package vm

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// defaultGoroutines is how many goroutines cells may have at a time: a few
// gigabytes of them.
const defaultGoroutines = 250_000

// Limit changes what cells may use, from the next one on.
func (e *Engine) Limit(l engine.Limits) { e.limits.Store(&l) }

// Limits are what cells may use.
func (e *Engine) Limits() engine.Limits { return *e.limits.Load() }

// exceeded ends the cell with an error that says what was too much.
func (r *run) exceeded(frames []engine.Frame, format string, args ...any) {
	f := &engine.Failure{Kind: engine.Panic, Message: fmt.Sprintf(format, args...), Frames: frames}
	r.fail(f)
	if frames == nil {
		r.mu.Lock()
		r.unplaced = f
		r.mu.Unlock()
	}
	r.halt()
}

// placeFailure says where the cell's own goroutine was, which t is, when
// another one found that it must end.
func (r *run) placeFailure(t *thread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unplaced != nil {
		r.unplaced.Frames = places(t.stops())
	}
}

// A goroutine that runs keeps its processor for 10 ms. Where many want one, so
// that an interrupt would have to wait for its turn, they yield theirs.
const yieldEvery = 256 // looks

// crowd is how many goroutines of a cell are many.
func crowd() int64 { return int64(runtime.GOMAXPROCS(0)) }

// begins and ends count the goroutines of a cell, beside its own.
func (r *run) begins() {
	if n := r.started.Add(1); n == crowd() {
		r.attend.Store(true)
	}
}

func (r *run) ends() {
	if r.started.Add(-1) != crowd()/2 || r.limits.Steps > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopping.Load() {
		r.attend.Store(false)
	}
}

// step is where a thread looks up when its run asks for it: the run ends,
// counts its steps, or has many threads.
func (t *thread) step() {
	r := t.run
	if r.stopping.Load() {
		t.halt()
	}
	if t.looks++; t.looks%yieldEvery == 0 {
		runtime.Gosched()
	}
	if r.limits.Steps > 0 && r.steps.Add(1) == r.limits.Steps {
		r.exceeded(places(t.stops()), "the cell made %d calls and turns of loops, which is the limit", r.limits.Steps)
		t.halt()
	}
}

// large is from how many bytes on an allocation is looked at before it is made.
const large = 16 << 20

// room ends the cell if there is no memory for n bytes more.
func (t *thread) room(n uintptr) {
	limit := t.run.memory()
	if used := heapBytes(); limit > 0 && (n > uintptr(limit) || used+int64(n) > limit) {
		t.run.exceeded(places(t.stops()), "out of memory: the cell asks for %s, and %s of %s are in use", bytesText(int64(n)), bytesText(used), bytesText(limit))
		t.halt()
	}
}

// watchMemory ends the cell if the heap has grown too large.
func (r *run) watchMemory() {
	limit := r.memory()
	if limit <= 0 || heapBytes() < limit {
		return
	}
	runtime.GC() // part of it may be garbage
	if used := heapBytes(); used >= limit {
		r.exceeded(nil, "out of memory: %s are in use, the limit is %s", bytesText(used), bytesText(limit))
	}
}

// memory is how large the heap may become; 0 for no limit. If nobody has said
// it, it is three quarters of what there was when it is first asked for.
func (r *run) memory() int64 {
	if r.limits.Memory != 0 {
		return max(r.limits.Memory, 0)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most == 0 {
		r.most = -1
		if free := freeMemory(); free > 0 {
			r.most = heapBytes() + free/4*3
		}
	}
	return max(r.most, 0)
}

// heapBytes is what objects take, those that are garbage and not yet found to
// be included, and the stacks.
func heapBytes() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() + s[1].Value.Uint64())
}

// freeMemory is what this process could still get, of the machine and of its
// control group; 0 where that is unknown.
func freeMemory() int64 {
	free := int64(0)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				free = kb << 10
			}
		}
	}
	number := func(name string) int64 {
		text, _ := os.ReadFile(name)
		n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return n
	}
	const group = "/sys/fs/cgroup/memory."
	if most, used := number(group+"max"), number(group+"current"); most > 0 && (free == 0 || most-used < free) {
		free = max(most-used, 1)
	}
	return free
}

func bytesText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
