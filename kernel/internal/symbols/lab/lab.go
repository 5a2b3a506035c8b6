// Package lab holds the tables of our own libraries, lib/, in the form of
// package symbols. It is a package of its own because it links llama.cpp, which
// an engine needs as little as its tests do.
package lab

import (
	"maps"

	"github.com/branchbook/branchbook/kernel/internal/symbols"
)

// All returns the tables of this package and of package symbols: what cells can
// import.
func All() symbols.Tables {
	t := symbols.All()
	maps.Copy(t, tables)
	return t
}
