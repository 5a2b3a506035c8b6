package wire

// IsCompleteRequest is the content of an is_complete_request ("Code
// completeness").
type IsCompleteRequest struct {
	Code string `json:"code"`
}

// IsCompleteReply is the content of an is_complete_reply. Status is
// "complete", "incomplete", "invalid" or "unknown"; Indent goes with
// "incomplete".
type IsCompleteReply struct {
	Status string `json:"status"`
	Indent string `json:"indent,omitempty"`
}
