package notebook

import "maps"

// Recorder keeps what a running code cell puts out, by the rules by which a
// front end shows it (messaging, "Messages on the IOPub channel").
type Recorder struct {
	nb    *Notebook
	cell  *Cell
	clear bool // the next output replaces all
}

// Record empties code cell i and returns the recorder of its next run.
func (nb *Notebook) Record(i int) *Recorder {
	c := &nb.Cells[i]
	for _, o := range c.Outputs {
		nb.forget(o)
	}
	c.Outputs, c.ExecutionCount = nil, 0
	return &Recorder{nb: nb, cell: c}
}

// Stream appends text to what the stream called name has last put out, or
// begins a new output when something else came between.
func (r *Recorder) Stream(name, text string) {
	r.cleared()
	if n := len(r.cell.Outputs); n > 0 {
		if last := r.cell.Outputs[n-1]; last.Kind == Stream && last.Name == name {
			last.Text += text
			return
		}
	}
	r.add(&Output{Kind: Stream, Name: name, Text: text})
}

// Display appends a MIME bundle. A displayID that is not empty lets Update
// change it, from any cell.
func (r *Recorder) Display(data, metadata map[string]any, displayID string) {
	r.cleared()
	o := &Output{Kind: Display, Data: maps.Clone(data), Metadata: maps.Clone(metadata)}
	r.add(o)
	if displayID != "" {
		if r.nb.displays == nil {
			r.nb.displays = map[string][]*Output{}
		}
		r.nb.displays[displayID] = append(r.nb.displays[displayID], o)
	}
}

// Update changes every output displayed with displayID.
func (r *Recorder) Update(data, metadata map[string]any, displayID string) {
	for _, o := range r.nb.displays[displayID] {
		o.Data, o.Metadata = maps.Clone(data), maps.Clone(metadata)
	}
}

// Result appends the cell's value.
func (r *Recorder) Result(n int, data, metadata map[string]any) {
	r.cleared()
	r.add(&Output{Kind: Result, ExecutionCount: n, Data: maps.Clone(data), Metadata: maps.Clone(metadata)})
}

// Failure appends an error.
func (r *Recorder) Failure(ename, evalue string, traceback []string) {
	r.cleared()
	r.add(&Output{Kind: Failure, Ename: ename, Evalue: evalue, Traceback: traceback})
}

// Clear removes the cell's outputs: at once, or with wait when the next one
// comes.
func (r *Recorder) Clear(wait bool) {
	r.clear = true
	if !wait {
		r.cleared()
	}
}

// Ran sets the cell's execution count.
func (r *Recorder) Ran(n int) { r.cell.ExecutionCount = n }

func (r *Recorder) add(o *Output) { r.cell.Outputs = append(r.cell.Outputs, o) }

func (r *Recorder) cleared() {
	if !r.clear {
		return
	}
	r.clear = false
	for _, o := range r.cell.Outputs {
		r.nb.forget(o)
	}
	r.cell.Outputs = nil
}

// forget drops an output that is shown no more from those that updates reach.
func (nb *Notebook) forget(gone *Output) {
	for id, shown := range nb.displays {
		for i, o := range shown {
			if o == gone {
				nb.displays[id] = append(shown[:i:i], shown[i+1:]...)
				break
			}
		}
	}
}
