package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Decode reads a notebook. An older format than 4 is refused: Jupyter's
// `jupyter nbconvert --to notebook` brings it up to date.
func Decode(data []byte) (*Notebook, error) {
	var file struct {
		Format   *int             `json:"nbformat"`
		Minor    int              `json:"nbformat_minor"`
		Metadata map[string]any   `json:"metadata"`
		Cells    []map[string]any `json:"cells"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // a number is written again as it was read
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("notebook: decode: not a notebook: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("notebook: decode: more follows the notebook's end")
	}
	if file.Format == nil {
		return nil, errors.New("notebook: decode: not a notebook: no nbformat field")
	}
	if *file.Format != 4 {
		return nil, fmt.Errorf("notebook: decode: format %d, want 4 (convert it with jupyter nbconvert --to notebook)", *file.Format)
	}
	nb := &Notebook{Metadata: file.Metadata, Minor: file.Minor, Cells: make([]Cell, len(file.Cells))}
	if nb.Metadata == nil {
		nb.Metadata = map[string]any{}
	}
	for i, raw := range file.Cells {
		if err := decodeCell(&nb.Cells[i], raw); err != nil {
			return nil, fmt.Errorf("notebook: decode: cell %d: %w", i+1, err)
		}
	}
	return nb, nil
}

func decodeCell(c *Cell, raw map[string]any) error {
	f := fields{raw: raw}
	c.Kind = Kind(f.text("cell_type"))
	c.ID = f.text("id")
	c.Source = f.text("source")
	c.Metadata = f.object("metadata")
	if raw["attachments"] != nil {
		c.Attachments = f.object("attachments")
	}
	switch c.Kind {
	case Markdown, Raw:
		return f.err
	case Code:
	default:
		return fmt.Errorf("cell_type is %q, want code, markdown or raw", c.Kind)
	}
	c.ExecutionCount = f.number("execution_count")
	for i, o := range f.list("outputs") {
		raw, ok := o.(map[string]any)
		if !ok {
			return fmt.Errorf("output %d is no object", i+1)
		}
		out, err := decodeOutput(raw)
		if err != nil {
			return fmt.Errorf("output %d: %w", i+1, err)
		}
		c.Outputs = append(c.Outputs, out)
	}
	return f.err
}

func decodeOutput(raw map[string]any) (*Output, error) {
	f := fields{raw: raw}
	o := &Output{Kind: OutputKind(f.text("output_type"))}
	switch o.Kind {
	case Stream:
		o.Name, o.Text = f.text("name"), f.text("text")
	case Display, Result:
		o.Data, o.Metadata = f.object("data"), f.object("metadata")
		for mime, value := range o.Data {
			if isJSON(mime) {
				continue
			}
			text, err := join(value)
			if err != nil {
				return nil, fmt.Errorf("data of %s: %w", mime, err)
			}
			o.Data[mime] = text
		}
		o.ExecutionCount = f.number("execution_count")
	case Failure:
		o.Ename, o.Evalue = f.text("ename"), f.text("evalue")
		for _, line := range f.list("traceback") {
			text, err := join(line)
			if err != nil {
				return nil, fmt.Errorf("traceback: %w", err)
			}
			o.Traceback = append(o.Traceback, text)
		}
	default:
		return nil, fmt.Errorf("output_type is %q, want stream, display_data, execute_result or error", o.Kind)
	}
	return o, f.err
}

// fields reads a JSON object's members and keeps the first error. An absent
// or null member is a zero value.
type fields struct {
	raw map[string]any
	err error
}

func (f *fields) fail(name string, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s is no %s", name, want)
	}
}

func (f *fields) text(name string) string {
	text, err := join(f.raw[name])
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: %w", name, err)
	}
	return text
}

func (f *fields) object(name string) map[string]any {
	m, ok := f.raw[name].(map[string]any)
	if !ok && f.raw[name] != nil {
		f.fail(name, "object")
	}
	if m == nil {
		m = map[string]any{}
	}
	return m
}

func (f *fields) list(name string) []any {
	l, ok := f.raw[name].([]any)
	if !ok && f.raw[name] != nil {
		f.fail(name, "list")
	}
	return l
}

func (f *fields) number(name string) int {
	if f.raw[name] == nil {
		return 0
	}
	n, _ := f.raw[name].(json.Number)
	i, err := n.Int64()
	if err != nil {
		f.fail(name, "whole number")
	}
	return int(i)
}

// join returns text that the format holds as a string or as a list of its
// lines.
func join(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, ok := line.(string)
			if !ok {
				return "", errors.New("neither text nor a list of lines")
			}
			b.WriteString(s)
		}
		return b.String(), nil
	}
	return "", errors.New("neither text nor a list of lines")
}

func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasSuffix(mime, "+json")
}
