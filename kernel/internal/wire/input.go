package wire

// InputRequest is the content of an input_request ("Messages on the stdin
// channel").
type InputRequest struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
}

// InputReply is the content of an input_reply.
type InputReply struct {
	Status string `json:"status"` // most clients send none
	Value  string `json:"value"`
}

// EndOfInput is the value of an input_reply from a user who ended the input:
// terminals' Ctrl-D, as Jupyter's clients for terminals send it.
const EndOfInput = "\x04"
