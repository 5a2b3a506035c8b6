package wire

// HistoryRequest is the content of a history_request ("History").
type HistoryRequest struct {
	Output         bool   `json:"output"`
	Raw            bool   `json:"raw"`
	HistAccessType string `json:"hist_access_type"` // "range", "tail" or "search"
	Session        int    `json:"session"`
	Start          int    `json:"start"`
	Stop           *int   `json:"stop"`
	N              int    `json:"n"`
	Pattern        string `json:"pattern"`
	Unique         bool   `json:"unique"`
}

// HistoryReply is the content of a history_reply. An entry of History is
// [session, line, input], or [session, line, [input, output]] when output was
// asked for.
type HistoryReply struct {
	Status  string   `json:"status"`
	History [][3]any `json:"history"`
}
