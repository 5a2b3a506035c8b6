package wire

// CompleteRequest is the content of a complete_request ("Completion").
// CursorPos counts Unicode code points since protocol 5.2.
type CompleteRequest struct {
	Code      string `json:"code"`
	CursorPos *int   `json:"cursor_pos"` // nil means the end; 0 is the start
}

// CompleteReply is the content of a complete_reply; the cursor positions
// count code points.
type CompleteReply struct {
	Status      string         `json:"status"`
	Matches     []string       `json:"matches"`
	CursorStart int            `json:"cursor_start"`
	CursorEnd   int            `json:"cursor_end"`
	Metadata    map[string]any `json:"metadata"`
}

// CompletionType is an entry of the metadata _jupyter_types_experimental.
type CompletionType struct {
	Text      string `json:"text"`
	Type      string `json:"type"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Signature string `json:"signature,omitempty"`
}

// ByteOffset returns the byte offset in code of its pos-th code point,
// clamped to code; a nil pos is the end.
func ByteOffset(code string, pos *int) int {
	if pos == nil {
		return len(code)
	}
	n := 0
	for i := range code {
		if n >= *pos {
			return i
		}
		n++
	}
	return len(code)
}

// CodePoints returns how many code points stand before byte offset off.
func CodePoints(code string, off int) int {
	n := 0
	for i := range code {
		if i >= off {
			break
		}
		n++
	}
	return n
}
