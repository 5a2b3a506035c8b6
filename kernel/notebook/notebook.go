package notebook

import "slices"

// Notebook is a notebook of format 4.
type Notebook struct {
	Cells    []Cell
	Metadata map[string]any
	Minor    int // of the format: 4.Minor

	// displays finds the outputs that an update with their display id changes.
	displays map[string][]*Output
}

// Kind is what a cell holds.
type Kind string

// The kinds of cells.
const (
	Code     Kind = "code"
	Markdown Kind = "markdown"
	Raw      Kind = "raw"
)

// Cell is one cell. Outputs and ExecutionCount are a code cell's.
type Cell struct {
	Kind        Kind
	ID          string // from format 4.5 on; empty before
	Source      string
	Metadata    map[string]any
	Attachments map[string]any // of markdown and raw cells; nil where there are none

	ExecutionCount int // 0 where the cell has not run
	Outputs        []*Output
}

// OutputKind says which fields of an Output are in use.
type OutputKind string

// The kinds of outputs.
const (
	Stream  OutputKind = "stream"         // Name, Text
	Display OutputKind = "display_data"   // Data, Metadata
	Result  OutputKind = "execute_result" // Data, Metadata, ExecutionCount
	Failure OutputKind = "error"          // Ename, Evalue, Traceback
)

// Output is one output of a code cell.
type Output struct {
	Kind OutputKind

	Name, Text string // of a stream: stdout or stderr, and what was written

	// Data is a MIME bundle: a JSON value for a MIME type of JSON, a string
	// for every other.
	Data           map[string]any
	Metadata       map[string]any
	ExecutionCount int

	Ename, Evalue string
	Traceback     []string
}

// Language is the programming language of the notebook's kernel, in lower
// case as the kernel reports it, or "" where the notebook does not say.
func (nb *Notebook) Language() string {
	for _, place := range []string{"language_info", "kernelspec"} {
		m, _ := nb.Metadata[place].(map[string]any)
		for _, key := range []string{"name", "language"} {
			// A kernelspec's name is the kernel's, not the language's.
			if place == "kernelspec" && key == "name" {
				continue
			}
			if s, _ := m[key].(string); s != "" {
				return s
			}
		}
	}
	return ""
}

// Tagged reports whether the cell's metadata has the tag.
func (c *Cell) Tagged(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	return slices.Contains(tags, any(tag))
}
