package wire

// ConnectReply is the content of a connect_reply ("Connect"), which the
// connection file has replaced.
type ConnectReply struct {
	Status      string `json:"status"`
	ShellPort   int    `json:"shell_port"`
	IOPubPort   int    `json:"iopub_port"`
	StdinPort   int    `json:"stdin_port"`
	HBPort      int    `json:"hb_port"`
	ControlPort int    `json:"control_port"`
}

// Connect returns the ports of c.
func (c Connection) Connect() ConnectReply {
	return ConnectReply{"ok", c.ShellPort, c.IOPubPort, c.StdinPort, c.HBPort, c.ControlPort}
}
