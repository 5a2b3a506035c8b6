package wire

// Welcome is the content of an iopub_welcome (JEP 65): the subscription that
// now is in force.
type Welcome struct {
	Subscription string `json:"subscription"`
}
