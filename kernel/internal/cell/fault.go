package cell

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// brokenBefore reports the fault that a parser finds before offset limit: the
// cause of brackets that do not match from token n on.
func (s *split) brokenBefore(n, limit int) bool {
	whole := &split{src: s.src, toks: s.toks[:n], lines: s.lines}
	whole.cutWhole()
	if whole.chunkFaults(); len(whole.diags) > 0 {
		s.diags = whole.diags
		return true
	}
	first := 0
	if len(whole.chunks) > 0 {
		first = whole.chunks[len(whole.chunks)-1].last + 1
	}
	for s.at(first) == token.SEMICOLON {
		first++
	}
	if first >= len(s.toks) {
		return false
	}
	start, end := s.toks[first].off, len(s.src)
	if n < len(s.toks) {
		end = s.toks[n].end
	}
	decl := s.kind(first, n) != stmtChunk
	at, msg := parseFault(s.src[start:end], decl)
	if !decl && s.at(first) == token.FUNC { // of a method too little may be there to see that
		if o, m := parseFault(s.src[start:end], true); o > at || o < 0 {
			at, msg = o, m
		}
	}
	if at < 0 || start+at >= limit || strings.HasPrefix(msg, "expected 1 expression") && s.at(n-1) == token.COMMA {
		return false
	}
	s.failSyntax(start+at, msg)
	return true
}

// parseFault returns where and what the first fault of a declaration or a
// statement is; the offset is negative if there is none.
func parseFault(text string, decl bool) (off int, msg string) {
	before, after := "package p;func _(){", "\n}"
	if decl {
		before, after = "package p;", "\n"
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", before+text+after, parser.SkipObjectResolution)
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return -1, ""
	}
	return list[0].Pos.Offset - len(before), list[0].Msg
}

// chunkFaults reports the first fault of each chunk. Those behind it in the
// same chunk are seldom more than its consequences.
func (s *split) chunkFaults() {
	told := 0 // up to this line
	for i, c := range s.chunks {
		start := s.toks[c.first].off
		if line, _ := s.position(start); line <= told {
			continue
		}
		if len(s.diags) >= maxDiagnostics {
			return
		}
		end := s.toks[c.last].end
		if i+1 < len(s.chunks) {
			end = s.toks[s.chunks[i+1].last].end // where the block may be that a header needs
		}
		off, msg := parseFault(s.src[start:end], c.kind != stmtChunk)
		if off < 0 || i+1 < len(s.chunks) && s.chunks[i+1].kind != c.kind && start+off >= s.toks[s.chunks[i+1].first].off {
			continue
		}
		s.failSyntax(start+off, msg)
		told, _ = s.position(start + off)
	}
}

// failSyntax reports what the parser reports at off.
func (s *split) failSyntax(off int, msg string) {
	at, words := s.syntaxFault(off, msg)
	s.fail(at, s.syntaxHint(msg, off), "%s", words)
}
