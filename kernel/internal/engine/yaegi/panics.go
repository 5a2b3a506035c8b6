package yaegi

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// raised is the value of a panic with an interpreted message, or of a type that
// only the interpreter's wrapper knows.
type raised struct {
	value   any
	message func() string // or nil
}

func (r *raised) String() string { return panicMessage(r) }

// raise is the value to panic with for the only element of holds.
func (e *Engine) raise(holds []any, message func() string) any {
	x := holds[0]
	if k, ok := e.key(holds).(keyed); ok && message == nil {
		if reflect.ValueOf(k.IValue).Kind() <= reflect.String {
			message = func() string {
				if v := reflect.ValueOf(k.IValue); v.Kind() == reflect.String {
					return fmt.Sprintf(`%s("%s")`, e.goName(x), v)
				}
				return fmt.Sprintf("%s(%v)", e.goName(x), k.IValue)
			}
		}
	} else if message == nil {
		return bare(x)
	}
	return &raised{x, message}
}

// runtimeError is a panic of the interpreter's that would have been a
// runtime.Error in compiled code.
type runtimeError string

func (e runtimeError) Error() string { return string(e) }
func (runtimeError) RuntimeError()   {}

const nilDereference = runtimeError("runtime error: invalid memory address or nil pointer dereference")

// mend turns the panics of yaegi and reflect into what Go's would be.
func mend(x any) any {
	if r, ok := bare(x).(*raised); ok {
		return r.value
	}
	x = bare(x)
	var ve *reflect.ValueError
	if err, ok := x.(error); ok {
		if errors.As(err, &ve) && ve.Kind == reflect.Invalid {
			return nilDereference
		}
		if rest, ok := strings.CutPrefix(err.Error(), "hash of unhashable type: "); ok {
			return runtimeError("runtime error: hash of unhashable type " + rest)
		}
		if s := err.Error(); !errors.As(err, new(runtime.Error)) && strings.Contains(s, "interface conversion: ") {
			return runtimeError(cleanNames(s[strings.Index(s, "interface conversion: "):]))
		}
	}
	if s, ok := x.(string); ok {
		switch {
		case s == "reflect: slice index out of range" || s == "reflect: array index out of range" || s == "reflect: string index out of range":
			return runtimeError("runtime error: index out of range")
		case strings.HasPrefix(s, "reflect.Value.Slice"):
			return runtimeError("runtime error: slice bounds out of range")
		case strings.Contains(s, "call of nil function") || strings.Contains(s, "indirection through nil pointer to embedded struct") || s == "reflect: Method on nil interface value":
			return nilDereference
		case strings.HasPrefix(s, "reflect: cannot convert slice with length "):
			return runtimeError("runtime error: " + strings.Replace(strings.TrimPrefix(s, "reflect: "), " to array with ", " to array or pointer to array with ", 1))
		case s == "reflect.MakeSlice: negative len":
			return runtimeError("runtime error: makeslice: len out of range")
		case s == "reflect.MakeSlice: negative cap" || s == "reflect.MakeSlice: len > cap":
			return runtimeError("runtime error: makeslice: cap out of range")
		case s == "reflect.MakeChan: negative buffer size":
			return runtimeError("makechan: size out of range")
		}
	}
	return x
}

// panicMessage is what Go prints of a panic's value.
func panicMessage(x any) string {
	if r, ok := bare(x).(*raised); ok {
		if r.message == nil {
			return panicMessage(r.value)
		}
		return r.message()
	}
	switch x := mend(x).(type) {
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	case string:
		return x
	case nil:
		return "panic called with nil argument"
	}
	return fmt.Sprintf("%v", x)
}
