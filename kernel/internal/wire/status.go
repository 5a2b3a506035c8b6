package wire

// Status is the content of a status message ("Kernel status").
type Status struct {
	ExecutionState string `json:"execution_state"` // "starting", "busy", "idle"
}
