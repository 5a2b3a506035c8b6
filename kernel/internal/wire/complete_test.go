package wire

import "testing"

func TestCursor(t *testing.T) {
	at := func(n int) *int { return &n }
	for _, test := range []struct {
		name string
		pos  *int
		want int
	}{
		{"none means the end", nil, 4},
		{"0 is the start, not none", at(0), 0},
		{"counted in code points", at(3), 3},
		{"behind the end", at(99), 4},
		{"before the start", at(-1), 0},
	} {
		if got := Cursor("a😀𝐚b", test.pos); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
