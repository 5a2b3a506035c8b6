package wire

// Shutdown is the content of shutdown_request and shutdown_reply ("Kernel
// shutdown").
type Shutdown struct {
	Status  string `json:"status,omitempty"`
	Restart bool   `json:"restart"`
}
