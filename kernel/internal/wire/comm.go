package wire

// CommOpen is the content of a comm_open ("Custom Messages").
type CommOpen struct {
	CommID     string         `json:"comm_id"`
	TargetName string         `json:"target_name"`
	Data       map[string]any `json:"data"`
}

// CommMsg is the content of a comm_msg and of a comm_close.
type CommMsg struct {
	CommID string         `json:"comm_id"`
	Data   map[string]any `json:"data"`
}

// CommInfoRequest is the content of a comm_info_request. Without a name it asks
// for all comms.
type CommInfoRequest struct {
	TargetName string `json:"target_name"`
}

// CommInfoReply is the content of a comm_info_reply: open comms by id.
type CommInfoReply struct {
	Status string              `json:"status"`
	Comms  map[string]CommInfo `json:"comms"`
}

// CommInfo is what a CommInfoReply says of a comm.
type CommInfo struct {
	TargetName string `json:"target_name"`
}
