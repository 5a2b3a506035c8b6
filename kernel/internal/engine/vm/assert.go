package vm

import (
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// tables finds the method tables of one interface type.
type tables struct {
	inter reflect.Type
	known sync.Map // *rtype.Type to unsafe.Pointer, nil where it lacks methods
}

// tablesFor returns the tables of an interface type.
func (e *Engine) tablesFor(t reflect.Type) *tables {
	x, _ := e.tables.LoadOrStore(t, &tables{inter: t})
	return x.(*tables)
}

func (ts *tables) get(t *rtype.Type) unsafe.Pointer {
	if ts.inter.NumMethod() == 0 {
		return unsafe.Pointer(t)
	}
	if p, ok := ts.known.Load(t); ok {
		return p.(unsafe.Pointer)
	}
	p := tableOf(ts.inter, t)
	ts.known.Store(t, p)
	return p
}

// assertionError is runtime.TypeAssertionError, whose fields are its own.
type assertionError struct {
	inter, concrete, asserted *rtype.Type
	missing                   string
}

// failAssert panics as a failed assertion does in compiled Go.
//
// Types of one name from two cells are told apart.
func (e *Engine) failAssert(from reflect.Type, have *rtype.Type, want reflect.Type) {
	if have != nil && have.Reflect().String() == want.String() {
		old, now := e.cellOf(have), e.cellOf(rtype.Of(want))
		if old != now && old*now > 0 {
			panic(typesOfCells(fmt.Sprintf("interface conversion: %v is %v of In[%d], not %v of In[%d]", from, want, old, want, now)))
		}
	}
	e.failed(from, have, want)
}

// typesOfCells is the error of an assertion that a type of another cell fails.
type typesOfCells string

func (e typesOfCells) Error() string { return string(e) }
func (typesOfCells) RuntimeError()   {}

func (*Engine) failed(from reflect.Type, have *rtype.Type, want reflect.Type) {
	e := &assertionError{asserted: rtype.Of(want)}
	switch {
	case have == nil && want.Kind() == reflect.Interface:
	case want.Kind() == reflect.Interface:
		e.concrete, e.missing = have, missingMethod(have.Reflect(), want)
	default:
		e.inter, e.concrete = rtype.Of(from), have
	}
	panic((*runtime.TypeAssertionError)(unsafe.Pointer(e)))
}

// cellOf is the number of the cell that declares a named type, or of the one
// that a pointer points to.
func (e *Engine) cellOf(t *rtype.Type) int {
	if r := t.Reflect(); r.Kind() == reflect.Pointer && r.Name() == "" {
		t = rtype.Of(r.Elem())
	}
	pos, ok := e.types.made.Load(t)
	if !ok {
		return 0
	}
	at, _ := e.place(pos.(token.Pos))
	return at.Cell
}

// missingMethod names the first method of an interface that a type lacks.
func missingMethod(t, inter reflect.Type) string {
	for m := range inter.Methods() {
		if x, ok := t.MethodByName(m.Name); !ok || t.Kind() != reflect.Interface && !sameMethod(x.Type, m.Type) {
			return m.Name
		}
	}
	return ""
}

// sameMethod compares a method's type with its receiver and one without.
func sameMethod(x, m reflect.Type) bool {
	if x.NumIn() != m.NumIn()+1 || x.NumOut() != m.NumOut() || x.IsVariadic() != m.IsVariadic() {
		return false
	}
	for i := range m.NumIn() {
		if x.In(i+1) != m.In(i) {
			return false
		}
	}
	for i := range m.NumOut() {
		if x.Out(i) != m.Out(i) {
			return false
		}
	}
	return true
}
