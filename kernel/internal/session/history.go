package session

import (
	"regexp"
	"strings"
	"sync"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// history is what was run, in order. It lives as long as the session.
type history struct {
	mu    sync.Mutex
	lines []historyLine
}

type historyLine struct {
	n     int
	input string
}

func (h *history) add(n int, input string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, historyLine{n, input})
}

func (s *Session) recall(ch wire.Channel, m *wire.Message) {
	var req wire.HistoryRequest
	if !s.decode(ch, m, "history_reply", &req) {
		return
	}
	reply := wire.HistoryReply{Status: "ok", History: [][3]any{}}
	for _, l := range s.history.find(req) {
		var entry any = l.input
		if req.Output {
			entry = [2]any{l.input, nil} // outputs are not kept
		}
		reply.History = append(reply.History, [3]any{0, l.n, entry}) // 0 is this session
	}
	s.reply(ch, m, "history_reply", reply)
}

// find returns the lines that a request asks for, oldest first.
func (h *history) find(req wire.HistoryRequest) []historyLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []historyLine
	switch req.HistAccessType {
	case "tail":
		found = h.lines
	case "range":
		for _, l := range h.lines {
			if req.Session == 0 && l.n >= req.Start && (req.Stop == nil || l.n < *req.Stop) {
				found = append(found, l)
			}
		}
		return found
	case "search":
		match := glob(req.Pattern)
		for _, l := range h.lines {
			if match(l.input) {
				found = append(found, l)
			}
		}
		if req.Unique {
			found = latest(found)
		}
	}
	if req.N > 0 && len(found) > req.N {
		found = found[len(found)-req.N:]
	}
	return found
}

// latest keeps of lines that are equal the last.
func latest(lines []historyLine) []historyLine {
	last := map[string]int{}
	for i, l := range lines {
		last[l.input] = i
	}
	var kept []historyLine
	for i, l := range lines {
		if last[l.input] == i {
			kept = append(kept, l)
		}
	}
	return kept
}

// glob returns a matcher of whole texts for a pattern where * stands for any
// text and ? for one character; the empty pattern matches all.
func glob(pattern string) func(string) bool {
	if pattern == "" {
		pattern = "*"
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for _, r := range pattern {
		switch r {
		case '*':
			re.WriteString(".*")
		case '?':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	re.WriteString(`\z`)
	return regexp.MustCompile(re.String()).MatchString // every rune is quoted: it compiles
}
