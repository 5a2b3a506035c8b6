package enginetest

import "fmt"

// concurrent draws goroutines whose result does not depend on their order.
func (g *grammar) concurrent() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$i", g.of(intType, 1), "$n", fmt.Sprint(g.between(1, 3)), "$b", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	return fill(one(g,
		`{ ctx, cancel := context.WithCancel(context.Background()); c := make(chan int, $b); done := make(chan error); go func() { for k := 0; ; k++ { select { case c <- k * $n: 
case <-ctx.Done(): done <- ctx.Err(); return } } }(); s := 0; for range 4 { s += <-c }; cancel(); $p, s, <-done, ctx.Err(), context.Cause(ctx)) }`,
		`{ ctx := context.WithValue(context.Background(), text("k"), $x); c2, cancel := context.WithCancelCause(ctx); cancel(failure{$n, bad1}); <-c2.Done(); v, ok := c2.Value(text("k")).($t); $p, v, ok, c2.Err(), context.Cause(c2), errors.Is(context.Cause(c2), bad1), ctx.Value("k")) }`,
		`{ jobs, results := make(chan int, 9), make(chan int, $b); var wg sync.WaitGroup; for w := range $n { wg.Add(1); go func(id int) { defer wg.Done(); for j := range jobs { results <- j*j + 0*id } }(w) }; for k := range 9 { jobs <- k }; close(jobs); go func() { wg.Wait(); close(results) }(); s := 0; for r := range results { s += r }; $p, s) }`,
		`{ var mu sync.RWMutex; var n atomic.Int32; m := map[int]int{}; var wg sync.WaitGroup; for k := range 6 { wg.Go(func() { mu.Lock(); m[k%$n]++; mu.Unlock(); mu.RLock(); _ = m[0]; mu.RUnlock(); n.Add(int32(k)) }) }; wg.Wait(); $p, m, n.Load()) }`,
		`{ a, b := make(chan int), make(chan int); go func() { for k := range 3 { a <- k }; close(a) }(); go func() { for k := range 3 { b <- k * 10 }; close(b) }(); s := 0; for a != nil || b != nil { select { case v, ok := <-a: if !ok { a = nil; continue }; s += v
case v, ok := <-b: if !ok { b = nil; break }; s += v } }; $p, s) }`,
		`{ src := func(n int) <-chan int { c := make(chan int); go func() { defer close(c); for k := 2; k < n; k++ { c <- k } }(); return c }; c := src(20); var primes []int; for { k := <-c; primes = append(primes, k); d := make(chan int); go func(in <-chan int, k int) { defer close(d); for x := range in { if x%k != 0 { d <- x } } }(c, k); c = d; if len(primes) == $n { break } }; go func() { for range c { } }(); $p, primes) }`,
		`{ var mu sync.Mutex; cond := sync.NewCond(&mu); ready := 0; done := make(chan bool); for range $n { go func() { mu.Lock(); for ready == 0 { cond.Wait() }; ready++; mu.Unlock(); done <- true }() }; mu.Lock(); ready = 1; mu.Unlock(); cond.Broadcast(); for range $n { cond.Broadcast(); <-done }; $p, ready) }`,
		`{ c := make(chan func() $t); done := make(chan struct{}); go func() { defer close(done); for f := range c { $p, f()) } }(); x := $x; for range $n { c <- func() $t { return x } }; close(c); <-done }`,
		`{ errs := make(chan error, 3); for k := range 3 { go func() { defer func() { if r := recover(); r != nil { errs <- fmt.Errorf("job %d: %v", k, r) } else { errs <- nil } }(); if k == $b { panic("no") } }() }; var all []string; for range 3 { if err := <-errs; err != nil { all = append(all, err.Error()) } }; $p, all) }`,
		`{ sem := make(chan struct{}, 2); var out [5]int; var wg sync.WaitGroup; for k := range out { sem <- struct{}{}; wg.Add(1); go func(p *int) { defer func() { <-sem; wg.Done() }(); *p = k * $i }(&out[k]) }; wg.Wait(); $p, out, len(sem)) }`,
		`{ tick := make(chan int); stop := make(chan chan int); go func() { n := 0; for { select { case k := <-tick: n += k
case r := <-stop: r <- n; return } } }(); for k := range 4 { tick <- k * $n }; r := make(chan int); stop <- r; $p, <-r) }`,
		`{ select { case <-time.After(time.Millisecond): $p, "time")
case <-make(chan int): }; t := time.NewTimer(time.Hour); $p, t.Stop(), t.Stop()); var nilc chan int; select { case nilc <- 1: 
case <-nilc: 
default: $p, "nil channels") } }`,
		`{ f := sync.OnceValues(func() ($t, error) { return $x, failure{$n, nil} }); v, err := f(); w, _ := f(); var m sync.Map; m.Store("a", v); x, ok := m.Load("a"); _, no := m.LoadOrStore("b", 1); $p, v == w, err, x == any(v), ok, no); var p sync.Pool; p.New = func() any { return $i }; $p, p.Get()) }`,
		`{ c := make(chan int); go func() { defer close(c); for k := range 3 { c <- k } }(); for { v, ok := <-c; if !ok { break }; $p, v) }; d := make(chan [2]$t, 1); d <- [2]$t{$x}; e := <-d; e[1] = $x; $p, e, cap(d)) }`,
		`func() { defer func() { $p, recover()) }(); c := make(chan int, 1); close(c); v, ok := <-c; $p, v, ok); if $n == 1 { close(c) } else if $n == 2 { c <- 1 } else { var d chan int; close(d) } }()`,
		`{ next, stop := iter.Pull(func(yield func($t) bool) { defer $p, "ended"); for range 3 { if !yield($x) { return } } }); v, ok := next(); $p, v, ok); if $b > 1 { next(); next() }; stop(); _, ok = next(); $p, ok) }`,
	), in...)
}
