package wire

import "encoding/json"

// CommOpen is the content of a comm_open ("Custom Messages").
type CommOpen struct {
	CommID     string          `json:"comm_id"`
	TargetName string          `json:"target_name"`
	Data       json.RawMessage `json:"data"`
}

// CommClose is the content of a comm_close.
type CommClose struct {
	CommID string         `json:"comm_id"`
	Data   map[string]any `json:"data"`
}

// CommInfoReply is the content of a comm_info_reply: open comms by id.
type CommInfoReply struct {
	Status string         `json:"status"`
	Comms  map[string]any `json:"comms"`
}
