package wire

// Channel is one of a kernel's sockets ("Introduction"), the heartbeat left
// out, which carries no messages.
type Channel int

const (
	Control Channel = iota
	Shell
	Stdin
	IOPub
)

func (c Channel) String() string {
	return [...]string{"control", "shell", "stdin", "iopub"}[c]
}
