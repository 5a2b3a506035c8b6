package session

import (
	"testing"
	"time"
)

func TestTimeitOptions(t *testing.T) {
	for _, c := range []struct {
		name, args  string
		loops, runs int
		ok          bool
	}{
		{"none", "", 0, 7, true},
		{"loops and runs", "-n 10 -r 3", 10, 3, true},
		{"without spaces", "-n10 -r=3", 10, 3, true},
		{"no number", "-n", 0, 0, false},
		{"no times at all", "-r 0", 0, 0, false},
		{"another option", "-q 1", 0, 0, false},
		{"a huge number", "-n 99999999999999999999", 0, 0, false},
	} {
		if loops, runs, ok := timeitOptions(c.args); loops != c.loops || runs != c.runs || ok != c.ok {
			t.Errorf("%s: %d %d %v", c.name, loops, runs, ok)
		}
	}
}

func TestFourDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		12_345: "12.35µs", 999: "999ns", 1_234_567_890: "1.235s", 0: "0s", 99_999_999: "100ms",
	} {
		if got := fourDigits(d).String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
