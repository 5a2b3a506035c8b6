package notebook

import (
	"fmt"
	"strings"
	"testing"
)

// sketch writes outputs in a line, for tables.
func sketch(outputs []*Output) string {
	var parts []string
	for _, o := range outputs {
		switch o.Kind {
		case Stream:
			parts = append(parts, fmt.Sprintf("%s:%q", o.Name, o.Text))
		case Failure:
			parts = append(parts, o.Ename+":"+o.Evalue)
		default:
			parts = append(parts, fmt.Sprintf("%s:%v", o.Kind, o.Data["text/plain"]))
		}
	}
	return strings.Join(parts, " ")
}

func text(s string) map[string]any { return map[string]any{"text/plain": s} }

func TestRecorder(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(r *Recorder)
		want string
	}{
		{"one stream is one output", func(r *Recorder) {
			r.Stream("stdout", "a\n")
			r.Stream("stdout", "b")
		}, `stdout:"a\nb"`},
		{"two streams keep their order", func(r *Recorder) {
			r.Stream("stdout", "a")
			r.Stream("stderr", "b")
			r.Stream("stdout", "c")
		}, `stdout:"a" stderr:"b" stdout:"c"`},
		{"a display splits a stream", func(r *Recorder) {
			r.Stream("stdout", "a")
			r.Display(text("d"), nil, "")
			r.Stream("stdout", "b")
			r.Result(1, text("r"), nil)
		}, `stdout:"a" display_data:d stdout:"b" execute_result:r`},
		{"an update changes its display in place", func(r *Recorder) {
			r.Display(text("0 %"), nil, "bar")
			r.Stream("stdout", "a")
			r.Update(text("100 %"), nil, "bar")
		}, `display_data:100 % stdout:"a"`},
		{"an update changes every display of its id", func(r *Recorder) {
			r.Display(text("1"), nil, "x")
			r.Display(text("1"), nil, "x")
			r.Update(text("2"), nil, "x")
		}, `display_data:2 display_data:2`},
		{"an update of nothing shows nothing", func(r *Recorder) {
			r.Update(text("2"), nil, "x")
		}, ``},
		{"clear empties at once", func(r *Recorder) {
			r.Stream("stdout", "a")
			r.Clear(false)
		}, ``},
		{"clear that waits keeps until the next output", func(r *Recorder) {
			r.Stream("stdout", "a")
			r.Clear(true)
		}, `stdout:"a"`},
		{"clear that waits empties before the next output", func(r *Recorder) {
			r.Stream("stdout", "a")
			r.Clear(true)
			r.Stream("stdout", "b")
			r.Stream("stdout", "c")
		}, `stdout:"bc"`},
		{"an update does not end the wait", func(r *Recorder) {
			r.Display(text("1"), nil, "x")
			r.Clear(true)
			r.Update(text("2"), nil, "x")
		}, `display_data:2`},
		{"an error comes last", func(r *Recorder) {
			r.Stream("stdout", "a")
			r.Failure("panic", "boom", []string{"t"})
		}, `stdout:"a" panic:boom`},
	} {
		t.Run(test.name, func(t *testing.T) {
			nb := &Notebook{Cells: []Cell{{Kind: Code, ExecutionCount: 9, Outputs: []*Output{{Kind: Stream, Text: "old"}}}}}
			r := nb.Record(0)
			test.run(r)
			if got := sketch(nb.Cells[0].Outputs); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			if got := nb.Cells[0].ExecutionCount; got != 0 {
				t.Errorf("execution count %d of an earlier run", got)
			}
		})
	}
}

func TestUpdateReachesEarlierCells(t *testing.T) {
	nb := &Notebook{Cells: []Cell{{Kind: Code}, {Kind: Code}}}
	nb.Record(0).Display(text("waiting"), nil, "x")
	nb.Record(1).Update(text("done"), nil, "x")
	if got, want := sketch(nb.Cells[0].Outputs), "display_data:done"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// What a second run has replaced is reached no more.
	gone := nb.Cells[0].Outputs[0]
	nb.Record(0)
	nb.Record(1).Update(text("late"), nil, "x")
	if got := gone.Data["text/plain"]; got != "done" {
		t.Errorf("an output that is gone became %q", got)
	}
}
