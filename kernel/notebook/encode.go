package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encode writes the notebook as Jupyter's own writer does.
func (nb *Notebook) Encode() ([]byte, error) {
	cells := make([]map[string]any, len(nb.Cells))
	for i := range nb.Cells {
		cells[i] = nb.encodeCell(&nb.Cells[i])
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(map[string]any{
		"cells":          cells,
		"metadata":       nb.Metadata,
		"nbformat":       4,
		"nbformat_minor": nb.Minor,
	})
	if err != nil {
		return nil, fmt.Errorf("notebook: encode: %w", err)
	}
	return b.Bytes(), nil
}

func (nb *Notebook) encodeCell(c *Cell) map[string]any {
	m := map[string]any{
		"cell_type": c.Kind,
		"metadata":  orEmpty(c.Metadata),
		"source":    lines(c.Source),
	}
	if nb.Minor >= 5 { // before, the format had no place for it
		m["id"] = c.ID
	}
	if c.Attachments != nil {
		m["attachments"] = c.Attachments
	}
	if c.Kind == Code {
		m["execution_count"] = count(c.ExecutionCount)
		outputs := make([]map[string]any, len(c.Outputs))
		for i, o := range c.Outputs {
			outputs[i] = o.encode()
		}
		m["outputs"] = outputs
	}
	return m
}

func (o *Output) encode() map[string]any {
	m := map[string]any{"output_type": o.Kind}
	switch o.Kind {
	case Stream:
		m["name"], m["text"] = o.Name, lines(o.Text)
	case Display, Result:
		data := make(map[string]any, len(o.Data))
		for mime, value := range o.Data {
			if text, ok := value.(string); ok && inLines(mime) {
				data[mime] = lines(text)
			} else {
				data[mime] = value
			}
		}
		m["data"], m["metadata"] = data, orEmpty(o.Metadata)
		if o.Kind == Result {
			m["execution_count"] = count(o.ExecutionCount)
		}
	case Failure:
		m["ename"], m["evalue"] = o.Ename, o.Evalue
		m["traceback"] = append([]string{}, o.Traceback...)
	}
	return m
}

// inLines reports whether Jupyter writes data of this MIME type as a list of
// lines.
func inLines(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml"
}

// lines cuts text where Python's str.splitlines does, which cut it in the
// files that Jupyter wrote. Nothing is lost: the ends stay on their lines.
func lines(text string) []string {
	out := []string{}
	for text != "" {
		n := strings.IndexFunc(text, endsLine)
		if n < 0 {
			return append(out, text)
		}
		_, size := utf8.DecodeRuneInString(text[n:])
		if strings.HasPrefix(text[n:], "\r\n") {
			size = 2
		}
		out = append(out, text[:n+size])
		text = text[n+size:]
	}
	return out
}

func endsLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
