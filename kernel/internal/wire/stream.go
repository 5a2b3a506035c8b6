package wire

// Stream is the content of a stream message ("Streams").
type Stream struct {
	Name string `json:"name"` // "stdout" or "stderr"
	Text string `json:"text"`
}
