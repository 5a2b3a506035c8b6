package history

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// Find returns the entries that a request asks for, oldest first, by session:
// this one's, which is last, have its number, but 0 where the request asks for
// session 0. The meanings are IPython's.
func (l *Log) Find(req wire.HistoryRequest) []Entry {
	<-l.opened
	l.mu.Lock()
	session, own := l.session, append([]Entry(nil), l.own...)
	l.mu.Unlock()
	for i := range own {
		own[i].Session = session
	}
	switch req.HistAccessType {
	case "tail":
		return last(append(l.earlier(session), own...), req.N)
	case "range":
		return l.between(req, session, own)
	case "search":
		match := glob(req.Pattern)
		var found []Entry
		for _, e := range append(l.earlier(session), own...) {
			if match(e.Input) {
				found = append(found, e)
			}
		}
		if req.Unique {
			found = latest(found)
		}
		return last(found, req.N)
	}
	return nil
}

// earlier returns what other sessions ran.
func (l *Log) earlier(session int) (entries []Entry) {
	if l.name == "" {
		return nil
	}
	all, err := read(l.name)
	if err != nil {
		l.log.Warn("history: earlier sessions are not known", "err", err)
	}
	for _, e := range all {
		if e.Session != session && e.Line > 0 {
			entries = append(entries, e)
		}
	}
	return entries
}

// between returns lines of one session: of this one, for 0 or its number; of
// one so many before, for a negative number. A negative start or stop counts
// from behind.
func (l *Log) between(req wire.HistoryRequest, session int, own []Entry) (found []Entry) {
	lines := own
	if n := req.Session; n != 0 && n != session {
		if n < 0 {
			n += session
		}
		lines = nil
		for _, e := range l.earlier(session) {
			if e.Session == n {
				lines = append(lines, e)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	end := lines[len(lines)-1].Line + 1
	start, stop := req.Start, end
	if start < 0 {
		start += end
	}
	if req.Stop != nil {
		if stop = *req.Stop; stop < 0 {
			stop += end
		}
	}
	for _, e := range lines {
		if start <= e.Line && e.Line < stop {
			if req.Session == 0 {
				e.Session = 0
			}
			found = append(found, e)
		}
	}
	return found
}

// last returns the last n entries; all for 0.
func last(entries []Entry, n int) []Entry {
	if n > 0 && len(entries) > n {
		return entries[len(entries)-n:]
	}
	return entries
}

// latest keeps of entries that are equal the last.
func latest(entries []Entry) (kept []Entry) {
	last := map[string]int{}
	for i, e := range entries {
		last[e.Input] = i
	}
	for i, e := range entries {
		if last[e.Input] == i {
			kept = append(kept, e)
		}
	}
	return kept
}

// glob returns a matcher of whole texts for a pattern of SQLite's GLOB, which
// IPython has: * stands for any text, ? for one character, [a-z] for one of a
// set and [^a-z] for one of no other. The empty pattern matches all.
func glob(pattern string) func(string) bool {
	if pattern == "" {
		pattern = "*"
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for rest := pattern; rest != ""; {
		if set, n := class(rest); n > 0 {
			re.WriteString(set)
			rest = rest[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		switch r {
		case '*':
			re.WriteString(".*")
		case '?':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
		rest = rest[n:]
	}
	re.WriteString(`\z`)
	compiled, err := regexp.Compile(re.String())
	if err != nil { // a set like [z-a]
		return func(string) bool { return false }
	}
	return compiled.MatchString
}

// class returns the set that text begins with, as a regular expression, and
// its length; 0 if it begins with none.
func class(text string) (set string, n int) {
	if text[0] != '[' {
		return "", 0
	}
	from := 1
	if strings.HasPrefix(text[from:], "^") {
		from++
	}
	end := strings.IndexByte(text[min(from+1, len(text)):], ']') // one that comes first is in the set
	if end < 0 {
		return "", 0
	}
	end += from + 1
	inside := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(text[from:end])
	return text[:from] + inside + "]", end + 1
}
