// Package nb is what a cell says to its notebook: show this, replace that,
// clear, draw a progress bar, ask the user, talk with the page. Cells have it
// preloaded.
//
//	nb.Markdown("# Results")
//	nb.Display(figure)
//	bar := nb.Progress("sampling")
//	for i := range 100 {
//		bar.Step(i+1, 100)
//	}
//
// The package works in any program: where no notebook listens, it prints plain
// text to standard output.
package nb
