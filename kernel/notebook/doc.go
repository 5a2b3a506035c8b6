// Package notebook reads and writes Jupyter notebooks of format 4, and keeps
// the outputs of a notebook that runs.
//
//	nb, err := notebook.Decode(data)
//	out := nb.Record(i) // i is a code cell
//	out.Stream("stdout", "hello\n")
//	data, err = nb.Encode()
//
// What Encode writes is what Jupyter's own writer would: keys sorted, one
// space of indent, text in lists of lines. Decoding and encoding a valid
// notebook loses nothing, so that a difference between two versions of a file
// shows what changed.
//
// Start at [Decode] and [Notebook.Record]. The package runs nothing and
// touches no file.
//
// The format is described under "The Notebook file format" in nbformat's
// documentation.
package notebook
