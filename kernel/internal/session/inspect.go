package session

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// Inspect describes the name at the cursor, which counts runes: what it is, its
// type, its value and its doc comment, and where whole is set the source of
// what a cell declares. After an opening parenthesis that is the function's
// name.
func (nb *Notebook) Inspect(source string, cursor int, whole bool) (text string, found bool) {
	runes := []rune(source)
	cursor = min(cursor, len(runes))
	for cursor > 0 && (runes[cursor-1] == '(' || runes[cursor-1] == '?') {
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
	_, scope, _ := nb.current()
	var d cell.Description
	if err := protect(func() { d, found = scope.Describe(source, end) }); err != nil {
		nb.opts.Log.Error("session: inspect", "err", err, "source", source)
		return "", false
	}
	if !found {
		return "", false
	}
	return nb.tell(d, whole), true
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// tell writes what a name is, a paragraph for each thing to say.
func (nb *Notebook) tell(d cell.Description, whole bool) string {
	parts := []string{declaration(d)}
	if d.Value {
		if value := nb.peek(d.Text); value != "" {
			parts[0] += "\n= " + value
		}
	}
	doc := d.Doc
	if doc == "" && d.Path != "" && d.Path != "main" && nb.opts.Doc != nil {
		doc = strings.TrimSpace(nb.opts.Doc(d.Path, d.Symbol))
	}
	if doc != "" {
		parts = append(parts, doc)
	}
	const shown = 40 // of a type with hundreds of methods
	if n := len(d.Methods); n > shown && !whole {
		d.Methods = append(d.Methods[:shown:shown], fmt.Sprintf("… %d more", n-shown))
	}
	if len(d.Methods) > 0 {
		parts = append(parts, strings.Join(d.Methods, "\n"))
	}
	switch n := nb.owner(d.Cell); {
	case d.Cell == 0 || d.Cell > hiddenBase && n == d.Cell:
	case whole && d.Source != "":
		parts = append(parts, fmt.Sprintf("// In[%d]\n%s", n, d.Source))
	default:
		parts = append(parts, fmt.Sprintf("Declared in In[%d].", n))
	}
	return strings.Join(parts, "\n\n")
}

// declaration writes a name as a declaration of it would stand in Go.
func declaration(d cell.Description) string {
	switch d.Kind {
	case "function":
		if rest, ok := strings.CutPrefix(d.Detail, "func"); ok {
			return "func " + d.Text + rest
		}
		return "func " + d.Text
	case "class":
		text := "type " + d.Text + " " + d.Detail
		if len(d.Fields) > 0 {
			text += " {\n\t" + strings.Join(d.Fields, "\n\t") + "\n}"
		}
		return text
	case "module":
		return fmt.Sprintf("package %s // import %q", d.Text, d.Detail)
	case "keyword":
		return d.Text + " (keyword)"
	}
	return d.Text + " " + d.Detail
}

const (
	// peekTime is how long a look at a value may take.
	peekTime = 500 * time.Millisecond
	// peekText is how much of a value's text is shown.
	peekText = 400
)

// peek returns the text of a variable's value; it is empty while a cell runs.
func (nb *Notebook) peek(name string) string {
	if !nb.executing.TryLock() {
		return ""
	}
	defer nb.executing.Unlock()
	process, _, closed := nb.current()
	if closed {
		return ""
	}
	select {
	case <-process.Gone():
		return ""
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), peekTime)
	defer cancel()
	nb.emitMu.Lock()
	last := nb.emit
	nb.emitMu.Unlock()
	var value string
	nb.evaluate(ctx, name, func(o Output) {
		switch o.Type {
		case ExecuteResult:
			value, _ = o.Data["text/plain"].(string)
		case Error: // of the look
		default: // of goroutines that go on
			last(o)
		}
	})
	if r := []rune(value); len(r) > peekText {
		value = string(r[:peekText]) + "…"
	}
	return value
}
