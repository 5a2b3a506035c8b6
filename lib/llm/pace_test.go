package llm

import (
	"testing"
	"time"
)

// simulate runs decodes of one size for so long on a machine where speed
// gives the time of a decode by number of threads and by the time passed. It
// counts the decodes, and returns the time of the slowest with what went
// before it in vain.
func simulate(p *pace, long time.Duration, speed func(threads int, at time.Duration) time.Duration) (n int, slowest time.Duration) {
	const tokens = 8
	start := time.Unix(0, 0)
	idle := func() int { return 4 }
	for at := time.Duration(0); at < long; n++ {
		c := p.choose(tokens, start.Add(at), idle)
		d := speed(c.threads, at)
		took := d
		if c.limit > 0 && d > c.limit {
			p.learn(c.threads, tokens, c.limit, 0.5, start.Add(at+c.limit))
			c.threads = 1
			d = speed(1, at+c.limit)
			took = c.limit + d
		}
		at += took
		p.learn(c.threads, tokens, d, 1, start.Add(at))
		slowest = max(slowest, took)
	}
	return n, slowest
}

func TestPaceFollowsTheMachine(t *testing.T) {
	const ms = time.Millisecond
	const long = 60 * time.Second
	free := map[int]time.Duration{1: 16 * ms, 2: 8 * ms, 4: 5 * ms}
	busy := map[int]time.Duration{1: 20 * ms, 2: 2 * time.Second, 4: 4 * time.Second}
	changing := func(n int, at time.Duration) time.Duration {
		if at > long/3 && at < 2*long/3 {
			return busy[n]
		}
		return free[n]
	}
	for _, c := range []struct {
		name    string
		speed   func(int, time.Duration) time.Duration
		best    time.Duration // of one decode, if each choice was the best, or less
		slowest time.Duration // what one decode may take; the first has no limit
	}{
		{"free cores", func(n int, _ time.Duration) time.Duration { return free[n] }, 5 * ms, 30 * ms},
		{"busy cores", func(n int, _ time.Duration) time.Duration { return busy[n] }, 20 * ms, 4 * time.Second},
		{"a model so small that threads only wait", func(n int, _ time.Duration) time.Duration { return time.Duration(n) * ms }, ms, 4 * ms},
		{"busy for a while", changing, 8 * ms, 100 * ms},
	} {
		p := adaptivePace(4)
		n, slowest := simulate(&p, long, c.speed)
		if least := int(long / c.best * 3 / 4); n < least || slowest > c.slowest {
			t.Errorf("%s: %d decodes, the slowest %v; want at least %d, at most %v", c.name, n, slowest, least, c.slowest)
		}
	}
}

func TestPaceStartsWithFreeCores(t *testing.T) {
	for idle, want := range map[int]int{-3: 1, 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 64: 4} {
		p := adaptivePace(4)
		if c := p.choose(1, time.Unix(0, 0), func() int { return idle }); c.threads != want || c.limit != 0 {
			t.Errorf("with %d idle cores the first choice is %+v, want %d threads", idle, c, want)
		}
	}
}

func TestPaceKeepsWhatWasSet(t *testing.T) {
	p := fixedPace(3)
	for range 100 {
		c := p.choose(1, time.Unix(0, 0), func() int { return 0 })
		if c != (choice{threads: 3}) {
			t.Fatalf("%+v was chosen", c)
		}
		p.learn(3, 1, time.Second, 0.1, time.Unix(0, 0))
	}
}
