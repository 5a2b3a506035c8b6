package wire

// ExecuteRequest is the content of an execute_request ("Execute").
type ExecuteRequest struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"` // nil means true, unless silent
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      *bool             `json:"allow_stdin"`   // nil means true
	StopOnError     *bool             `json:"stop_on_error"` // nil means true
}

// Stores reports whether the request counts: a silent one never does.
func (r ExecuteRequest) Stores() bool {
	return !r.Silent && (r.StoreHistory == nil || *r.StoreHistory)
}

// Stops reports whether an error aborts what is queued behind the request.
func (r ExecuteRequest) Stops() bool { return r.StopOnError == nil || *r.StopOnError }

// ExecuteReply is the content of an execute_reply. The error fields are set
// when Status is "error"; when it is "aborted" the request did not run.
type ExecuteReply struct {
	Status          string         `json:"status"`
	ExecutionCount  int            `json:"execution_count"`
	UserExpressions map[string]any `json:"user_expressions,omitempty"`
	Payload         []any          `json:"payload,omitempty"` // of Page and SetNextInput
	ErrorFields
}

// Page is a payload of an ExecuteReply that asks for text in a pager.
type Page struct {
	Source string         `json:"source"` // "page"
	Data   map[string]any `json:"data"`
	Start  int            `json:"start"` // the line to show first
}

// SetNextInput is a payload of an ExecuteReply that puts text into a cell.
type SetNextInput struct {
	Source  string `json:"source"` // "set_next_input"
	Text    string `json:"text"`
	Replace bool   `json:"replace"` // the cell that ran, not a new one
}

// ErrorFields are what error messages and error replies share.
type ErrorFields struct {
	EName     string   `json:"ename,omitempty"`
	EValue    string   `json:"evalue,omitempty"`
	Traceback []string `json:"traceback,omitempty"`
}

// ExecuteInput is the content of an execute_input ("Code inputs").
type ExecuteInput struct {
	Code           string `json:"code"`
	ExecutionCount int    `json:"execution_count"`
}

// ExecuteResult is the content of an execute_result ("Execution results").
type ExecuteResult struct {
	ExecutionCount int            `json:"execution_count"`
	Data           map[string]any `json:"data"`
	Metadata       map[string]any `json:"metadata"`
}

// ErrorReply is the content of any reply whose status is "error".
type ErrorReply struct {
	Status string `json:"status"`
	ErrorFields
}
