package vm

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// The sorting functions of the standard library, compiled, call a cell's
// function without a detour through package reflect. Package sort sorts by the
// same steps as package slices, so equal elements end up in the same order.

// sortOrdered is slices.Sort.
func sortOrdered(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
	var how func(unsafe.Pointer)
	switch t.In(0).Elem().Kind() {
	case reflect.Int:
		how = sortAs[int]
	case reflect.Int8:
		how = sortAs[int8]
	case reflect.Int16:
		how = sortAs[int16]
	case reflect.Int32:
		how = sortAs[int32]
	case reflect.Int64:
		how = sortAs[int64]
	case reflect.Uint:
		how = sortAs[uint]
	case reflect.Uint8:
		how = sortAs[uint8]
	case reflect.Uint16:
		how = sortAs[uint16]
	case reflect.Uint32:
		how = sortAs[uint32]
	case reflect.Uint64:
		how = sortAs[uint64]
	case reflect.Uintptr:
		how = sortAs[uintptr]
	case reflect.Float32:
		how = sortAs[float32]
	case reflect.Float64:
		how = sortAs[float64]
	case reflect.String:
		how = sortAs[string]
	}
	return func(a []reflect.Value) []reflect.Value {
		p := reflect.New(a[0].Type())
		p.Elem().Set(a[0])
		how(p.UnsafePointer())
		return nil
	}
}

func sortAs[E int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr | float32 | float64 | string](s unsafe.Pointer) {
	slices.Sort(*(*[]E)(s))
}

// sortFunc is slices.SortFunc or slices.SortStableFunc, by sort.Slice or
// sort.SliceStable.
func sortFunc(by func(any, func(i, j int) bool)) generic {
	return func(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
		size := t.In(0).Elem().Size()
		return func(a []reflect.Value) []reflect.Value {
			x, data := reflect.ValueOf(a[0].Interface()), a[0].UnsafePointer()
			compare := func(i, j int) bool { return a[1].Call([]reflect.Value{x.Index(i), x.Index(j)})[0].Int() < 0 }
			if f := ours(rtype.FuncPointer(a[1])); f != nil {
				call := f.caller()
				compare = func(i, j int) bool {
					fr := call(unsafe.Add(data, uintptr(i)*size), unsafe.Add(data, uintptr(j)*size))
					return *at[int](fr, f.code.sig.results[0].off) < 0
				}
			}
			by(a[0].Interface(), compare)
			return nil
		}
	}
}

// sortBy is sort.Slice or sort.SliceStable.
func sortBy(by func(any, func(i, j int) bool)) func(any, func(i, j int) bool) {
	return func(x any, less func(i, j int) bool) {
		if less == nil {
			by(x, nil)
			return
		}
		if f := ours(*(*unsafe.Pointer)(unsafe.Pointer(&less))); f != nil {
			call := f.caller()
			less = func(i, j int) bool {
				return *at[bool](call(unsafe.Pointer(&i), unsafe.Pointer(&j)), f.code.sig.results[0].off)
			}
		}
		by(x, less)
	}
}

// caller returns what calls the closure with two arguments. The results are in
// the frame that it returns, until the next call.
func (p *closure) caller() func(x, y unsafe.Pointer) *frame {
	t, c := p.code.e.thread(), p.code
	in := c.sig.params
	x, y := newMove(in[0].off, 0, in[0].typ), newMove(in[1].off, 0, in[1].typ)
	return func(a, b unsafe.Pointer) *frame {
		fr := t.frame(c)
		fr.closure = unsafe.Pointer(p)
		x.do(unsafe.Pointer(fr), a)
		y.do(unsafe.Pointer(fr), b)
		fr.runCallback()
		return fr
	}
}
