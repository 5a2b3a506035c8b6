package wire

import "unicode/utf8"

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
	Signature string `json:"signature,omitempty"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
}

// Cursor returns the position in code that pos stands for, in code points: nil
// is the end, and what lies outside is moved inside.
func Cursor(code string, pos *int) int {
	end := utf8.RuneCountInString(code)
	if pos == nil {
		return end
	}
	return min(max(*pos, 0), end)
}
