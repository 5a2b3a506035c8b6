package wire

// InterruptReply is the content of an interrupt_reply ("Kernel interrupt").
type InterruptReply struct {
	Status string `json:"status"`
}
