// Package display has the functions and names of gophernotes' package of that
// name, so that notebooks written for it run. New cells say the same with
// package nb, which shows at once:
//
//	display.HTML("<b>x</b>")           // as the last expression: shown
//	Display(display.Markdown("# x"))   // anywhere
//	nb.Markdown("# x")                 // the same
//
// A function returns a [Data], which shows itself. Types of a cell's own may
// have the methods of [HTMLer] and its like.
package display
