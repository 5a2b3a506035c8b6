// Package cell turns what a user writes in a cell into checked Go.
//
// It is pure: it reads no files, runs nothing and knows no engine. The types
// of imported packages come from an importer that its user gives. A [Scope]
// holds the names that live between cells; Check checks a cell against them,
// Commit adds what the cell declared once it ran:
//
//	s := cell.NewScope(exports.Importer(), cell.Prelude{})
//	c, err := s.Check(1, "x := 1\nx + 1") // err is Diagnostics
//	... an engine runs c ...
//	s.Commit(c)
//
// Status says whether a source is complete, Complete what may stand at a
// cursor.
//
// # Magics
//
// What is no Go in a cell, %time and !ls, never reaches Check. ReadScript cuts
// the cell at its magics into steps, whose Go has each token at the line and
// column where the cell has it, so that positions need no map. Who runs a step
// is said by the table [Magics], as data.
//
// # Split
//
// The scanner cuts the source into top-level chunks at the semicolons, its own
// included, outside all brackets. The first token tells a declaration from a
// statement; for func, the second does.
//
// # Check
//
// The chunks are composed to one Go file, and go/types checks that. Line
// directives lead every position back to the source; they are left out here.
//
//	import "os"                        package main
//	b, err := os.ReadFile(name)        import "os"
//	var n int                          func size() int { return len(b) }
//	func size() int { return len(b) }  func cell__3() {
//	size()                             	b, err = os.ReadFile(name)
//	                                   	n = *new(int)
//	                                   	size()
//	                                   }
//
// Variables of top-level statements are the package's: functions see them
// whatever the order, later cells too. What type they have, a second file
// tells, checked beside the first; nothing of it runs:
//
//	package main
//	import "os"
//	var b, err = os.ReadFile(name)
//	var n int
//
// Within the statements the order counts, as in a function: a variable cannot
// be used before the statement that declares it. Before its end, the name
// means what it meant before the cell, and the text calls that by a name of
// its own (here for x of In[1]):
//
//	x := strconv.Itoa(x)               x = strconv.Itoa(cell__1_x)
//
// A cell of declarations alone is composed as it stands, variables included:
// they may come in any order. One that is made from its own earlier value,
// var x = x + 1, is a statement all the same.
//
// # Between cells
//
// Each cell is a package object of its own; all have the path "main", so that
// names and fields that are not exported are theirs in common. The objects
// that a cell mentions are inserted into its package before the check. Struct
// literals without field names get them in the text where the type is of an
// earlier cell, because the type checker compares package objects there.
//
// A name declared again replaces the earlier one. If its type is the same,
// Cell.Replaces says so, and the engine lets both be one: earlier functions
// use the new variable and call the new function. If it is another, what
// refers to the name is declared again in the new cell, from the text that
// declared it first; this is how a type of one cell can be given methods in
// another. What cannot follow, the variables above all, is stale, and its use
// an error that names the cell to run again:
//
//	In[1]  type T struct{ a int }
//	In[2]  v := T{1}
//	In[3]  func twice(t T) int { return 2 * t.a }
//	In[4]  func (t T) String() string { … }   declares T, then twice, again
//	In[5]  twice(T{2})                        uses the new ones
//	In[6]  v                                  v was made by In[2] with an earlier T
//
// A type or constant said again in the same words, as when its cell is run
// once more, remains what it is, and so do its values.
package cell
