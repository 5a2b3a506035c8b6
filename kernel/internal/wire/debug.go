package wire

// DebugRequest is the content of a debug_request: one of the Debug Adapter
// Protocol's.
type DebugRequest struct {
	Seq     int    `json:"seq"`
	Command string `json:"command"`
}

// DebugReply is the content of a debug_reply: a Response of that protocol.
type DebugReply struct {
	Type       string `json:"type"` // "response"
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
}
