package wire

// InspectRequest is the content of an inspect_request ("Introspection").
type InspectRequest struct {
	Code        string `json:"code"`
	CursorPos   *int   `json:"cursor_pos"` // code points; nil means the end
	DetailLevel int    `json:"detail_level"`
}

// InspectReply is the content of an inspect_reply.
type InspectReply struct {
	Status   string         `json:"status"`
	Found    bool           `json:"found"`
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata"`
}
