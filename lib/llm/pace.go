package llm

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"time"
)

// idlePoll is how long ggml's threads spin for the next graph before they
// sleep, on its scale of 0 to 100. Spinning would take the core from the
// reductions and the sampler that run between decodes; waking a sleeping
// thread costs tens of microseconds, a decode milliseconds.
const idlePoll = 0

// pace chooses the number of threads for each decode.
//
// ggml's threads meet at a spinning barrier after every operation, hundreds
// of times a decode. When another process wants one of the cores, the thread
// that is there waits for its turn at each barrier while the others spin, and
// two threads can be a hundred times slower than one. Whether that is so can
// only be measured, and changes: pace times decodes with max, max/2, ... 1
// threads, uses what is fastest now, and gives each decode with several
// threads a limit, after which it is stopped and done with one. The results
// are the same bit for bit.
type pace struct {
	fixed   int // threads, where the user set them
	max     int
	alone   bool    // the last decode had its core for itself
	worst   float64 // seconds per token, the most of any class's best
	classes map[int]*[]arm
}

// An arm is what is known of one number of threads, for decodes of a similar
// number of tokens.
type arm struct {
	threads int
	perTok  float64   // seconds, a moving average; 0 before the first use
	retry   time.Time // when to try it again while it is not the best
}

// A choice is a number of threads for one decode. The decode is to be stopped
// after limit, if that is not 0, and done again with one thread.
type choice struct {
	threads int
	limit   time.Duration
}

const (
	// A neighbour of the best choice is tried again when the time that its
	// last trial lost is 1/probeCost of what has passed.
	probeCost = 25
	minRetry  = 50 * time.Millisecond
	maxRetry  = 30 * time.Second
	// A decode may take patience times what was seen, in a class of sizes
	// that was not seen newPatience times the most of the others, and
	// minLimit in any case.
	patience    = 3
	newPatience = 10
	minLimit    = 20 * time.Millisecond
)

// fixedPace always takes n threads.
func fixedPace(n int) pace { return pace{fixed: n, max: n} }

// adaptivePace takes up to n.
func adaptivePace(n int) pace {
	if n < 2 {
		return fixedPace(n)
	}
	return pace{max: n, alone: true, classes: make(map[int]*[]arm)}
}

// class groups batches of about the same size, which one number of threads
// suits. Prompts and rollouts differ by more than that.
func (p *pace) class(tokens int) []arm {
	k := bits.Len(uint(tokens))
	arms := p.classes[k]
	if arms == nil {
		arms = new([]arm)
		for n := p.max; n > 0; n /= 2 {
			*arms = append(*arms, arm{threads: n})
		}
		p.classes[k] = arms
	}
	return *arms
}

// choose says how to decode so many tokens. idle counts the cores that nobody
// uses, for the first decode of a class.
func (p *pace) choose(tokens int, now time.Time, idle func() int) choice {
	if p.fixed > 0 {
		return choice{threads: p.fixed}
	}
	arms := p.class(tokens)
	best := fastest(arms)
	if arms[best].perTok == 0 {
		free := idle()
		for best < len(arms)-1 && arms[best].threads > free {
			best++
		}
		return p.limited(arms[best].threads, newPatience*p.worst, tokens)
	}
	expect := patience * arms[best].perTok
	for _, i := range [2]int{best - 1, best + 1} {
		if i < 0 || i >= len(arms) || now.Before(arms[i].retry) || (i < best && !p.alone) {
			continue
		}
		return p.limited(arms[i].threads, expect, tokens)
	}
	return p.limited(arms[best].threads, expect, tokens)
}

func (p *pace) limited(threads int, perTok float64, tokens int) choice {
	c := choice{threads: threads}
	if threads > 1 && perTok > 0 {
		c.limit = max(minLimit, time.Duration(perTok*float64(tokens)*float64(time.Second)))
	}
	return c
}

// learn takes note that a decode of so many tokens took d, or was stopped
// after it. share is the part of d that the calling thread had a core for.
func (p *pace) learn(threads, tokens int, d time.Duration, share float64, now time.Time) {
	if p.fixed > 0 {
		return
	}
	p.alone = share > 0.9
	arms := p.class(tokens)
	for i := range arms {
		a := &arms[i]
		if a.threads != threads {
			continue
		}
		perTok := d.Seconds() / float64(tokens)
		if a.perTok == 0 || perTok < a.perTok {
			a.perTok = perTok // good news at once: a busy moment may just have passed
		} else {
			a.perTok += (perTok - a.perTok) / 4
		}
		best := arms[fastest(arms)].perTok
		p.worst = max(p.worst, best)
		lost := max(0, perTok-best) * float64(tokens)
		wait := time.Duration(lost * probeCost * float64(time.Second))
		a.retry = now.Add(min(max(wait, minRetry), maxRetry))
	}
}

// fastest is the arm with the least time of those that were used; the first,
// of most threads, if none was.
func fastest(arms []arm) int {
	best := 0
	for i, a := range arms {
		if a.perTok > 0 && (arms[best].perTok == 0 || a.perTok < arms[best].perTok) {
			best = i
		}
	}
	return best
}

// idleCores is the machine's cores less the threads that want one now, this
// one left out: from the fourth field of Linux's /proc/loadavg, "3/512". All
// cores are idle where there is no such file.
func idleCores() int {
	var runnable int
	b, _ := os.ReadFile("/proc/loadavg")
	if f := bytes.Fields(b); len(f) > 3 {
		fmt.Sscanf(string(f[3]), "%d/", &runnable)
	}
	return runtime.NumCPU() - max(0, runnable-1)
}
