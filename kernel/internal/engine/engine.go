// Package engine is the seam between a checked cell and what runs it.
package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// Engine runs checked cells of one notebook, one at a time.
type Engine interface {
	// Run runs c to its end, or until ctx is cancelled. What the cell's code
	// prints goes to file descriptors 1 and 2. After a panic or an interrupt
	// the names that c defines exist, with the values they had then.
	Run(ctx context.Context, c *cell.Cell) Outcome
	Close() error
}

// Limits bound what a cell may use. A zero means what the engine does by
// itself, a negative number no limit.
type Limits struct {
	Steps      int64 // calls and turns of loops
	Memory     int64 // bytes of the heap, what earlier cells left included
	Goroutines int64 // that run at a time, those of earlier cells included
}

// Limiter is an engine that can bound cells.
type Limiter interface {
	Limits() Limits
	Limit(l Limits) // from the next cell on
}

// Symbols are the compiled packages that cells can import.
type Symbols interface {
	// Table maps exported names of the package at path to its values: functions,
	// variables that can be set, nil pointers to types; package extract says
	// more. It is nil where there is no such package.
	Table(path string) map[string]reflect.Value
	Paths() []string // that have a table
}

// Outcome is how a cell ended.
type Outcome struct {
	Values  []Value  // of Cell.Show; empty when nothing is shown
	Failure *Failure // nil when the cell ran to its end
}

// Value is one shown value.
type Value struct {
	Any  any    // as compiled code sees it; nil for a nil interface
	Type string // static type as Go source in the notebook: "[]T", "error"
	// Dynamic is the type of a value of an interface type, where it is the
	// notebook's own and the engine can tell; else empty.
	Dynamic string

	// The methods that a display looks for, bound to the value, where its
	// static or dynamic type has them; interpreted types' included.
	MIMEBundle func() map[string]any
	String     func() string
	Error      func() string

	// Method finds a method that the value has by its static or dynamic type,
	// where that type is the notebook's own and compiled code does not see its
	// methods, as a function bound to the value. It is invalid where there is
	// none. Method may be nil.
	Method func(name string) reflect.Value

	// Reveal returns what an interface value found inside Any is, where the
	// engine has a representation of its own for it; ok is false where x is
	// what it seems. It may be nil.
	Reveal func(x any) (v Value, ok bool)
}

// Format prints a value where no display does.
func (v Value) Format(f fmt.State, verb rune) {
	x := v.Any
	switch {
	case v.Error != nil:
		x = v.Error()
	case v.String != nil:
		x = v.String()
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), x)
}

// Failure is an error that the cell's own code made.
type Failure struct {
	Kind    Kind
	Message string  // "runtime error: index out of range [5] with length 3"
	Frames  []Frame // user code, innermost first; may be empty
}

// Late is what is written of a failure of a goroutine when no cell runs that
// it could be the failure of.
func (f *Failure) Late() string {
	var b strings.Builder
	fmt.Fprintln(&b, "panic: "+f.Message)
	for _, at := range f.Frames {
		fmt.Fprintf(&b, "\tIn[%d], line %d\n", at.Cell, at.Line)
	}
	return b.String()
}

// Kind classifies failures.
type Kind string

const (
	Panic       Kind = "panic"
	Interrupt   Kind = "interrupt"
	Unsupported Kind = "unsupported" // the engine cannot run this; nothing ran
	Exit        Kind = "exit"        // os.Exit, runtime.Goexit
	// Stuck is an interrupt that could not end the cell: compiled code that it
	// called does not return. Its goroutine goes on, and until it ends every
	// Run fails with Stuck at once. The process has to go.
	Stuck Kind = "stuck"
)

// Frame is a place in a cell, or in the source of a module's package.
type Frame struct {
	Cell      int    // execution count
	File      string // of a module, as "github.com/google/uuid/hash.go"; Cell is 0 then
	Line, Col int    // in the cell's source, from 1; Col 0 where unknown
	Func      string
}
