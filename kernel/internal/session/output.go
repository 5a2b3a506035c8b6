package session

// Output is one thing that a cell showed, in the shape of the notebook format
// (nbformat 4, "Code cell outputs"). Type says which of the other fields hold.
type Output struct {
	Type OutputType

	Name string // Stream: "stdout" or "stderr"
	Text string // Stream: valid UTF-8

	Data      map[string]any // Display, Update, ExecuteResult: a MIME bundle
	Metadata  map[string]any // Display, Update, ExecuteResult; may be nil
	DisplayID string         // Display, Update: empty when it has none
	Count     int            // ExecuteResult: the execution count

	EName     string   // Error: never empty
	EValue    string   // Error: never empty
	Traceback []string // Error: ANSI-coloured lines, at least one

	Wait bool // Clear: only when the next output comes
}

// OutputType names a kind of output as nbformat and the protocol do.
type OutputType string

const (
	Stream        OutputType = "stream"
	Display       OutputType = "display_data"
	Update        OutputType = "update_display_data"
	Clear         OutputType = "clear_output"
	ExecuteResult OutputType = "execute_result"
	Error         OutputType = "error"
)

// Result is how a cell ended.
type Result struct {
	Status Status
	Count  int // the cell's execution count; that of the last one when silent

	// These repeat the cell's Error output; empty when Status is OK.
	EName     string
	EValue    string
	Traceback []string

	// NextInput is a text that the cell asked to have in its own place (%load);
	// empty for none.
	NextInput string

	// Lost is set when the worker ended with this cell: what earlier cells
	// computed is gone.
	Lost bool
}

// Status is an execute_reply's status.
type Status string

const (
	OK      Status = "ok"
	Failed  Status = "error"
	Aborted Status = "aborted" // did not run
)
