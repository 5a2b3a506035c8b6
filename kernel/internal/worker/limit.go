package worker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// limit is %limit: it bounds what each of the next cells may use, and says what
// the bounds are.
func limit(eng engine.Engine, args []string) (*Settings, error) {
	limiter, ok := eng.(engine.Limiter)
	if !ok {
		return nil, fmt.Errorf("this engine bounds nothing; see %%engine")
	}
	l := limiter.Limits()
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		field := map[string]*int64{"steps": &l.Steps, "memory": &l.Memory, "goroutines": &l.Goroutines}[name]
		if field == nil {
			return nil, fmt.Errorf("usage: %%limit [steps=N] [memory=N[kB|MB|GB]] [goroutines=N]; N may be none, or default")
		}
		n, err := amount(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		*field = n
	}
	limiter.Limit(l)
	text := func(n int64) string {
		switch {
		case n < 0:
			return "none"
		case n == 0:
			return "default"
		}
		return strconv.FormatInt(n, 10)
	}
	fmt.Printf("steps=%s memory=%s goroutines=%s\n", text(l.Steps), text(l.Memory), text(l.Goroutines))
	return &Settings{Limits: &l}, nil
}

// amount reads a number with a unit of memory, "none" as -1, or "default" as 0.
func amount(s string) (int64, error) {
	switch s {
	case "none":
		return -1, nil
	case "default":
		return 0, nil
	}
	unit := int64(1)
	for i, suffix := range []string{"kB", "MB", "GB"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 1) || n*float64(unit) > 1<<60 {
		return 0, fmt.Errorf("%q is no number from 1 to 2^60, none or default", s)
	}
	return int64(n * float64(unit)), nil
}
