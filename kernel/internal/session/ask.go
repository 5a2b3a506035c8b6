package session

import (
	"fmt"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// IsComplete says whether a cell could be run as it is: "complete",
// "incomplete" with the indent of the next line, "invalid", or "unknown".
func (nb *Notebook) IsComplete(source string) (status, indent string) {
	if err := protect(func() { status, indent = cell.Status(source) }); err != nil {
		nb.opts.Log.Error("session: is complete", "err", err, "source", source)
		return "unknown", ""
	}
	return status, indent
}

// check checks a cell, and turns a bug of the checker into a cell's error: the
// notebook goes on.
func check(scope *cell.Scope, n int, source string) (c *cell.Cell, err error) {
	if bug := protect(func() { c, err = scope.Check(n, source) }); bug != nil {
		return nil, bug
	}
	return c, err
}

func protect(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("session: a bug in Branchbook: %v", r)
		}
	}()
	f()
	return nil
}
