package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

func TestHistoryFinds(t *testing.T) {
	var h history
	for i, input := range []string{"a", "b\nc", "a", "x.*y"} {
		h.add(i+1, input)
	}
	stop := func(n int) *int { return &n }
	for _, test := range []struct {
		name string
		req  wire.HistoryRequest
		want string // the numbers
	}{
		{"the tail", wire.HistoryRequest{HistAccessType: "tail", N: 2}, "3 4"},
		{"all", wire.HistoryRequest{HistAccessType: "tail"}, "1 2 3 4"},
		{"a range, its end left out", wire.HistoryRequest{HistAccessType: "range", Start: 2, Stop: stop(4)}, "2 3"},
		{"a range to the end", wire.HistoryRequest{HistAccessType: "range", Start: 3}, "3 4"},
		{"of another session", wire.HistoryRequest{HistAccessType: "range", Session: 1}, ""},
		{"a pattern is of the whole cell", wire.HistoryRequest{HistAccessType: "search", Pattern: "a"}, "1 3"},
		{"a star stands for lines", wire.HistoryRequest{HistAccessType: "search", Pattern: "b*c"}, "2"},
		{"a question mark is one character", wire.HistoryRequest{HistAccessType: "search", Pattern: "?"}, "1 3"},
		{"others stand for themselves", wire.HistoryRequest{HistAccessType: "search", Pattern: "x.*y"}, "4"},
		{"no pattern is any", wire.HistoryRequest{HistAccessType: "search", N: 3}, "2 3 4"},
		{"each once, where last", wire.HistoryRequest{HistAccessType: "search", Pattern: "*", Unique: true}, "2 3 4"},
		{"an unknown way", wire.HistoryRequest{HistAccessType: "guess"}, ""},
	} {
		var got []string
		for _, l := range h.find(test.req) {
			got = append(got, fmt.Sprint(l.n))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
	}
}
