package session

import (
	"fmt"
	"unicode"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// Complete lists what may stand at the cursor, which counts runes.
func (nb *Notebook) Complete(source string, cursor int) (c cell.Completion) {
	_, scope, _ := nb.current()
	if err := protect(func() { c = scope.Complete(source, cursor) }); err != nil {
		nb.opts.Log.Error("session: complete", "err", err, "source", source)
		c = cell.Completion{Start: cursor, End: cursor}
	}
	return c
}

// IsComplete says whether a cell could be run as it is: "complete",
// "incomplete" with the indent of the next line, "invalid", or "unknown".
func (nb *Notebook) IsComplete(source string) (status, indent string) {
	if err := protect(func() { status, indent = cell.Status(source) }); err != nil {
		nb.opts.Log.Error("session: is complete", "err", err, "source", source)
		return "unknown", ""
	}
	return status, indent
}

// Inspect describes the name at the cursor, which counts runes: what it is and
// its type. After an opening parenthesis that is the function's name.
func (nb *Notebook) Inspect(source string, cursor int) (text string, found bool) {
	runes := []rune(source)
	for cursor > 0 && cursor <= len(runes) && (runes[cursor-1] == '(' || runes[cursor-1] == '?') {
		cursor--
	}
	start, end := cursor, cursor
	for end < len(runes) && inName(runes[end]) {
		end++
	}
	for start > 0 && inName(runes[start-1]) {
		start--
	}
	if start == end {
		return "", false
	}
	name := string(runes[start:end])
	for _, m := range nb.Complete(source, end).Matches {
		if m.Text == name {
			return describe(m), true
		}
	}
	return "", false
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// describe writes a name as a declaration of it would stand in Go.
func describe(m cell.Match) string {
	switch m.Kind {
	case "function":
		if len(m.Detail) > len("func") && m.Detail[:len("func")] == "func" {
			return "func " + m.Text + m.Detail[len("func"):]
		}
		return "func " + m.Text
	case "class":
		return "type " + m.Text + " " + m.Detail
	case "module":
		return fmt.Sprintf("package %s // import %q", m.Text, m.Detail)
	case "keyword":
		return m.Text + " (keyword)"
	}
	return m.Text + " " + m.Detail
}

// check checks a cell, and turns a bug of the checker into a cell's error: the
// notebook goes on.
func check(scope *cell.Scope, n int, source string) (c *cell.Cell, err error) {
	if bug := protect(func() { c, err = scope.Check(n, source) }); bug != nil {
		return nil, bug
	}
	return c, err
}

func protect(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("session: a bug in Branchbook: %v", r)
		}
	}()
	f()
	return nil
}
