package nb

import (
	"context"
	"time"
)

// Context returns a context that ends when the running cell is interrupted.
// It stands for whichever cell runs when it is asked, so a package variable
// that holds it stays good; a context derived from it belongs to the cell that
// derived it. Without a notebook it never ends.
func Context() context.Context { return cellContext{} }

type cellContext struct{}

func current() context.Context {
	if h := host.Load(); h != nil {
		return (*h).Context()
	}
	return context.Background()
}

func (cellContext) Deadline() (time.Time, bool) { return current().Deadline() }
func (cellContext) Done() <-chan struct{}       { return current().Done() }
func (cellContext) Err() error                  { return current().Err() }
func (cellContext) Value(key any) any           { return current().Value(key) }
func (cellContext) String() string              { return "context of the running cell" }
