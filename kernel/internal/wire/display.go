package wire

// DisplayData is the content of display_data and update_display_data
// ("Display data").
type DisplayData struct {
	Data      map[string]any `json:"data"`
	Metadata  map[string]any `json:"metadata"`
	Transient Transient      `json:"transient"`
}

// Transient is what a notebook does not save of a display.
type Transient struct {
	DisplayID string `json:"display_id,omitempty"`
}

// ClearOutput is the content of a clear_output ("Clear output").
type ClearOutput struct {
	Wait bool `json:"wait"`
}
